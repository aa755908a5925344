// Progress: how far the work of today is, and what did not arrive.

import { count } from "../format.js";
import { html } from "../html.js";
import { labelOf } from "./words.js";

/** today: how many labels this tab gave; of the audit also how many rows wait, and how many have waited too long. */
export function Progress({ deck, today }) {
  const { kind, open, next } = deck;
  const more = next === null ? "" : "+";
  const all = today + open.length;
  const overdue = open.filter((row) => row.overdue).length;
  return html`<div class="q-progress">
    <span><strong class="number">${count(today)}</strong> of ${count(all)}${more} labelled today</span>
    <progress max=${Math.max(all, 1)} value=${today} aria-label="Labelled today"></progress>
    ${kind === "audit" && html`<span class="soft small">${count(open.length - overdue)}${more} pending${overdue
      ? html`, <span class="q-overdue">${count(overdue)} overdue</span>` : ""}</span>`}
  </div>`;
}

/** Labels that did not arrive: none is lost, each can be sent again or thrown away. */
export function Unsent({ outbox, show }) {
  const entries = outbox.unsent();
  if (!entries.length) return null;
  return html`<section class="notice error q-unsent" role="alert">
    <div class="grow"><strong>${entries.length === 1 ? "1 label was not sent" : `${count(entries.length)} labels were not sent`}.</strong>
      They are kept in this tab.
      <ul>${entries.map((entry) => html`<li key=${entry.label.id}>
        <button class="q-link" onClick=${() => show(entry.label)}>${entry.label.id}</button> ${labelOf(entry.label)?.word.toLowerCase()}:
        ${" "}${entry.failure?.message} <button class="q-link" aria-label="Discard the label of ${entry.label.id}" onClick=${() => outbox.drop(entry)}>Discard</button></li>`)}</ul></div>
    <button onClick=${() => outbox.retry()}>Send again</button>
  </section>`;
}
