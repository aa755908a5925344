// Labelling: what the keys and buttons of a queue do. One label waits at a time; the next one sends it.

import { useEffect, useReducer, useRef } from "../html.js";
import { toast } from "../ui.js";
import { outbox, UNDO_SECONDS } from "./outbox.js";
import { countToday } from "./today.js";
import { LABELS } from "./words.js";

/** Return {say, undo, draft, drafted}: deck is that on screen; show(label) goes to its row; whenKnown(next) asks who. */
export function useLabelling({ deck, model, active, whenKnown, show }) {
  const drafts = useRef(new Map()); // what was noted of rows without a label: {comment, ood}
  const closeToast = useRef(() => {});
  const redraw = useOutbox();
  useEffect(() => { if (!active) outbox.flush(); }, [active]);
  useEffect(() => () => outbox.flush(), []);

  const drafted = (row) => drafts.current.get(deck.key(row)) ?? {};
  const draft = (row, facts) => { drafts.current.set(deck.key(row), { ...drafted(row), ...facts }); redraw(); };
  const say = (name) => {
    const { row, kind } = deck;
    if (!row) return;
    if (name === "ood" && kind === "audit") draft(row, { ood: !drafted(row).ood }); // the bound needs right or wrong, too
    else if (isFinal(deck)) toast(finalWords(row.id));
    else whenKnown((who) => label(name, who));
  };
  const label = (name, who) => {
    const { row, kind } = deck;
    const { comment = "", ood } = drafted(row);
    const fresh = !outbox.about(deck.key(row));
    outbox.add({
      id: row.id, kind, model, ...LABELS[name].says, ...(ood && { ood }), ...(comment.trim() && { comment: comment.trim() }), ...(who && { who }),
    });
    if (fresh) countToday(kind, model);
    closeToast.current();
    closeToast.current = toast(`${clip(row.id)} marked ${LABELS[name].word.toLowerCase()}`, { undo, seconds: UNDO_SECONDS });
    deck.go();
  };
  const undo = () => {
    closeToast.current();
    const taken = outbox.undo();
    if (!taken) return lookBack(show);
    if (!outbox.about(deck.key(taken))) countToday(taken.kind, model, -1);
    return show(taken);
  };
  return { say, undo, draft, drafted };
}

/** What was sent cannot be taken back: a review can be replaced, an audit label is final. */
function lookBack(show) {
  const last = outbox.entries.at(-1)?.label;
  if (!last) return toast("There is no label to undo.");
  if (last.kind === "audit") return toast(finalWords(last.id));
  show(last);
  return toast(`The label of ${clip(last.id)} was sent. Label it again to replace it.`);
}

const clip = (id) => (id.length > 40 ? `${id.slice(0, 40)}…` : id);
const finalWords = (id) => `The audit label of ${clip(id)} was sent and is final.`;

/** Whether the row on the table has an audit label that can no longer be changed. */
export function isFinal(deck) {
  const about = deck.row && outbox.about(deck.key(deck.row));
  return deck.kind === "audit" && ["sending", "sent"].includes(about?.status);
}

/** Draw again when a label comes, goes or arrives. */
export function useOutbox() {
  const [, redraw] = useReducer((turn) => turn + 1, 0);
  useEffect(() => {
    outbox.watchers.add(redraw);
    return () => outbox.watchers.delete(redraw);
  }, []);
  return redraw;
}
