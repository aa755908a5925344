// Reason: why a row has its score, in a sentence and as bars; loaded when a row is opened.

import { html } from "../html.js";
import { number } from "../format.js";
import { useLoad } from "../hooks.js";
import { explained } from "./scoring.js";

/** body: the values of the row by column; known: what the table itself says of it already, if it does. */
export function Reason({ model, body, by, known }) {
  const [found, failure] = useLoad(async (signal) => {
    await new Promise((done) => setTimeout(done, 60)); // while somebody holds an arrow key, rows only pass
    return known ?? (signal.aborted ? null : explained(model, body, { by, signal }));
  }, [model.checksum, JSON.stringify(body)]);
  if (failure) return html`<p class="soft small">${failure.message}</p>`;
  if (!found) return html`<p class="soft reason">…</p>`;
  return html`<p class="reason">${found.why ?? "No reason is known."}</p>
    ${found.contributions && html`<${Bars} parts=${found.contributions} />`}`;
}

/** Contributions above (to the right) or below what is typical. */
export function Bars({ parts }) {
  const listed = Object.entries(parts).filter(([, value]) => Number.isFinite(value));
  const most = Math.max(...listed.map(([, value]) => Math.abs(value)), 1e-12);
  const middle = listed.some(([, value]) => value < 0) ? 50 : 0; // percent from the left where typical is
  const length = (value) => ((100 - middle) * Math.abs(value)) / most;
  if (!listed.length) return null;
  return html`<ul class="bars" aria-label="Contributions to the uncertainty">
    ${listed.map(([name, value]) => html`<li key=${name}>
      <span class="bar-name" title=${name}>${name}</span>
      <span class="bar-track" aria-hidden="true"><span class="bar-fill ${value < 0 ? "below" : "above"}" style=${{ left: `${middle - (value < 0 ? length(value) : 0)}%`, width: `${length(value)}%` }}></span></span>
      <span class="number bar-value">${value > 0 ? "+" : ""}${number(value, 3)}</span>
    </li>`)}
  </ul>`;
}
