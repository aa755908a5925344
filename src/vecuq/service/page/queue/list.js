// List: the rows of a deck beside the one on the table, with what was said of each.

import { decimalsOf, fixed } from "../format.js";
import { html, useEffect, useRef } from "../html.js";
import { Middle } from "../ui.js";
import { labelOf, STATUS } from "./words.js";

/** about(row): the latest label of a row, with its status. */
export function List({ deck, about }) {
  const [place, current] = [useRef(), useRef()];
  useEffect(() => intoView(place.current, current.current), [deck.at]);
  const decimals = Math.max(decimalsOf(deck.rows.map(({ uncertainty }) => uncertainty)) - 1, 0); // three digits, below each other
  return html`<nav class="q-list" aria-label="Rows of this queue" ref=${place}>
    <ol>${deck.rows.map((row) => html`<li key=${row.id}><${Line} row=${row} about=${about(row)} skipped=${deck.skipped.has(row.id)}
      current=${row.id === deck.at} decimals=${decimals} place=${current} select=${deck.select} /></li>`)}</ol>
    ${deck.next !== null && html`<button class="plain" disabled=${deck.loading} onClick=${() => deck.load(deck.next)}>
      ${deck.loading ? "Loading …" : "More"}</button>`}
  </nav>`;
}

/** Scroll the list alone, never the page. */
function intoView(list, line) {
  if (!list || !line) return;
  const [outer, inner] = [list.getBoundingClientRect(), line.getBoundingClientRect()];
  if (inner.top < outer.top) list.scrollTop += inner.top - outer.top - 4;
  if (inner.bottom > outer.bottom) list.scrollTop += inner.bottom - outer.bottom + 4;
}

function Line({ row, about, skipped, current, decimals, place, select }) {
  const said = about && labelOf(about.label);
  const note = said ? `${said.word}, ${STATUS[about.status]}` : row.overdue ? "overdue" : skipped ? "skipped" : "";
  return html`<button class="q-line ${said ? "done" : ""}" aria-current=${current ? "true" : undefined} ref=${current ? place : null}
      onClick=${() => select(row.id)}>
    <span class="q-mark ${said?.badge ?? ""}" aria-hidden="true">${said ? said.mark : row.overdue ? "!" : skipped ? "»" : "·"}</span>
    <span class="q-line-text">${row.texts?.question ?? row.texts?.answer ?? html`<${Middle} text=${row.id} />`}</span>
    <span class="number small soft" title="uncertainty">${Number.isFinite(row.uncertainty) ? fixed(row.uncertainty, decimals) : "–"}</span>
    <span class="hidden-visually">${note}</span>
  </button>`;
}
