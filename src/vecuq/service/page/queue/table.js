// Table: the one row on the table, what was noted of it, and the buttons that label it.

import { count } from "../format.js";
import { html, useEffect, useRef } from "../html.js";
import { Badge } from "../ui.js";
import { isFinal } from "./labelling.js";
import { outbox } from "./outbox.js";
import { Row } from "./row.js";
import { labelOf, LABELS, STATUS } from "./words.js";

/** labelling: what useLabelling returns; comment: a ref of the field. */
export function Table({ deck, model, labelling, comment }) {
  const { row, place, rows } = deck;
  const [card, top] = [useRef(), useRef()];
  useEffect(() => {
    top.current.scrollTop = 0;
    if (card.current.getBoundingClientRect().top < 0) card.current.scrollIntoView();
  }, [row.id]);
  return html`<article class="card q-table" aria-label="Row ${row.id}" ref=${card}>
    <header class="bar">
      <h2 class="grow">${row.id}</h2>
      <${Said} about=${outbox.about(deck.key(row))} />
      <span class="soft number">${count(place + 1)} of ${count(rows.length)}${deck.next === null ? "" : "+"}</span>
      <span class="q-steps"><button aria-label="Row before" title="Row before (k)" disabled=${place <= 0} onClick=${() => deck.move(-1)}>‹</button>
        <button aria-label="Next row" title="Next row (j)" disabled=${place + 1 >= rows.length} onClick=${() => deck.move(1)}>›</button></span>
    </header>
    <div class="q-scroll" tabindex="0" role="group" aria-label="What is known of ${row.id}" ref=${top}>
      <${Row} key=${row.id} row=${row} model=${model} blind=${deck.kind === "audit" && !outbox.about(deck.key(row))} />
      <${Comment} row=${row} labelling=${labelling} field=${comment} /></div>
    <${Buttons} deck=${deck} labelling=${labelling} comment=${comment} />
  </article>`;
}

function Said({ about }) {
  const said = about && labelOf(about.label);
  return said && html`<${Badge} kind=${said.badge}>${said.mark} ${said.word.toLowerCase()} · ${STATUS[about.status]}<//>`;
}

/** A comment is sent with the label; Escape or Ctrl+Enter leaves the field for the keys. */
function Comment({ row, labelling, field }) {
  const leave = (event) => {
    if (event.key !== "Escape" && !(event.key === "Enter" && (event.ctrlKey || event.metaKey))) return;
    event.preventDefault();
    event.stopPropagation();
    field.current.blur();
  };
  return html`<label class="field q-comment"><span>Comment <small class="soft">sent with the label</small></span>
    <textarea ref=${field} rows="1" maxlength="2000" value=${labelling.drafted(row).comment ?? ""} onKeyDown=${leave}
      placeholder="Why is it wrong? What would be right?" onInput=${(event) => labelling.draft(row, { comment: event.target.value })}></textarea></label>`;
}

function Buttons({ deck, labelling, comment }) {
  const { ood } = labelling.drafted(deck.row);
  const final = isFinal(deck);
  const audit = deck.kind === "audit";
  return html`<div class="q-bar" role="group" aria-label="Label this row">
    ${Object.entries(LABELS).map(([name, { word, short, key, mark, badge }]) => html`
      <button key=${name} class="q-label ${badge}" disabled=${final} aria-keyshortcuts=${key} onClick=${() => labelling.say(name)}
        aria-pressed=${audit && name === "ood" ? Boolean(ood) : undefined}>
        <span class="q-mark" aria-hidden="true">${mark}</span><span class="q-wide">${word}</span>
        <span class="q-narrow">${short ?? word}</span> <kbd aria-hidden="true">${key}</kbd></button>`)}
    <button class="q-label" aria-keyshortcuts="s" onClick=${() => deck.skip()}>Skip <kbd aria-hidden="true">s</kbd></button>
    <button class="q-label" aria-keyshortcuts="c" onClick=${() => comment.current.focus()}>Comment <kbd aria-hidden="true">c</kbd></button>
    ${audit && ood && html`<p class="small soft q-hint" role="status">Marked as out-of-distribution. Now say right or wrong: the bound needs one of them.</p>`}
  </div>`;
}
