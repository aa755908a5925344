// Queue: rows that wait for a person, one at a time and one key each. Review and audit sample stand side by side.

import { count } from "../format.js";
import { html, useRef, useState } from "../html.js";
import { useDeck } from "../queue/deck.js";
import { useLabeller } from "../queue/labeller.js";
import { useLabelling } from "../queue/labelling.js";
import { List } from "../queue/list.js";
import { NoGate, NoStore, Nothing } from "../queue/nothing.js";
import { keyOf, outbox } from "../queue/outbox.js";
import { Progress, Unsent } from "../queue/progress.js";
import { Table } from "../queue/table.js";
import { labelledToday } from "../queue/today.js";
import { KINDS, LABELS } from "../queue/words.js";
import { Failure, useKeys } from "../ui.js";

export const keys = [
  ["r w", "right, wrong"], ["o", "out-of-distribution"], ["s", "skip"], ["c", "comment (Esc leaves it)"], ["u", "undo the last label"],
  ["j k ↓ ↑", "next row, row before"], ["a", "Review or Audit sample"],
];

/** model: its description; active: whether this view is on screen. */
export function View({ model, active }) {
  const [kind, setKind] = useState("review");
  const comment = useRef();
  const labeller = useLabeller();
  const about = (of, row) => outbox.about(keyOf({ kind: of, model: model.name, id: row.id }));
  const deckOf = (of) => useDeck({ kind: of, model: model.name, active, said: (row) => about(of, row) !== null });
  const decks = { review: deckOf("review"), audit: deckOf("audit") };
  const deck = decks[kind];
  const show = (label) => { setKind(label.kind); decks[label.kind].select(label.id); };
  const labelling = useLabelling({ deck, model: model.name, active, whenKnown: labeller.whenKnown, show });
  useKeys({
    ...Object.fromEntries(Object.entries(LABELS).map(([name, { key }]) => [key, () => labelling.say(name)])),
    u: labelling.undo, s: () => deck.skip(), c: () => comment.current?.focus(), a: () => setKind(other(kind)),
    j: () => deck.move(1), k: () => deck.move(-1), ArrowDown: arrow(deck, 1), ArrowUp: arrow(deck, -1),
  }, active);
  if (deck.failure?.error === "no_store") return html`<${NoStore} />`;
  return html`
    <div class="q-top"><${Kinds} kind=${kind} choose=${setKind} decks=${decks} />
      <${Progress} deck=${deck} today=${labelledToday(kind, model.name)} />
      ${labeller.who !== null && html`<button class="plain small" title="Change the name" onClick=${labeller.change}>as ${labeller.who || "nobody"}</button>`}</div>
    <p class="soft small q-what">${KINDS[kind].what}</p>
    ${deck.row && labeller.form}
    <${Unsent} outbox=${outbox} show=${show} />
    ${deck.failure && html`<${Failure} failure=${deck.failure} retry=${() => deck.load()} />`}
    <div class="queue" id="queue-panel" role="tabpanel" aria-labelledby="queue-${kind}">
      <${Work} deck=${deck} model=${model} about=${(row) => about(kind, row)} labelling=${labelling} comment=${comment} /></div>
    ${labeller.dialog}`;
}

function Work({ deck, model, about, labelling, comment }) {
  if (!deck.loaded) return html`<p class="soft pad">${deck.failure ? "" : "Loading …"}</p>`;
  if (!deck.row) return deck.kind === "audit" && !model.gate ? html`<${NoGate} model=${model} />` : html`<${Nothing} deck=${deck} />`;
  return html`<${List} deck=${deck} about=${about} />
    <div class="q-stack">${!deck.open.length && html`<${Nothing} deck=${deck} labelled />`}
      <${Table} deck=${deck} model=${model} labelling=${labelling} comment=${comment} /></div>`;
}

function Kinds({ kind, choose, decks }) {
  const arrow = (event) => {
    if (!["ArrowLeft", "ArrowRight"].includes(event.key)) return;
    choose(other(kind));
    document.getElementById(`queue-${other(kind)}`).focus();
    event.preventDefault();
  };
  return html`<div class="q-kinds" role="tablist" aria-label="Which queue" onKeyDown=${arrow}>
    ${Object.entries(KINDS).map(([key, { title }]) => html`<button key=${key} id="queue-${key}" role="tab" aria-controls="queue-panel"
      aria-selected=${key === kind} tabindex=${key === kind ? 0 : -1} onClick=${() => choose(key)}>${title}
      ${decks[key].loaded && html` <span class="badge number">${waiting(decks[key])}</span>`}</button>`)}
  </div>`;
}

/** Move with an arrow key, unless it scrolls what is known of the row. */
const arrow = (deck, step) => ({ target }) => {
  const box = target.closest?.(".q-scroll");
  const room = !box ? 0 : step > 0 ? box.scrollHeight - box.clientHeight - box.scrollTop : box.scrollTop;
  return room > 1 ? false : deck.move(step);
};
const waiting = ({ open, next }) => count(open.length) + (next === null ? "" : "+");
const other = (kind) => (kind === "review" ? "audit" : "review");
