// Unlike: columns whose values lie beyond all calibration rows in so many rows that chance does not explain it.

import { count } from "../format.js";
import { html } from "../html.js";

const SHARE = 0.05;
const MOST = 3; // columns that are named

/** Return [{name, n}] of the columns with too many values outside, most first. */
export function unlikeColumns(table, model) {
  const limit = table.n * Math.max(SHARE, 4 / ((model.n_map + model.n_held) || Infinity)); // few calibration rows leave more outside
  return table.scored.map((name) => ({ name, n: outside(table.numbers(name), model.quantiles[name]) }))
    .filter(({ n }) => n > limit).sort((a, b) => b.n - a.n);
}

function outside(values, quantiles) {
  if (!quantiles) return 0;
  const [low, high] = [quantiles[0], quantiles[quantiles.length - 1]];
  return values.reduce((n, each) => n + (each < low || each > high), 0);
}

export function Unlike({ table, columns }) {
  if (!columns.length) return null;
  const rest = columns.length - MOST;
  return html`<div class="notice amber unlike" role="status"><span>
    ${columns.slice(0, MOST).map(({ name, n }) => html`<span key=${name}><strong>${name}</strong>: ${count(n)} of ${count(table.n)} rows lie outside all calibration rows. </span>`)}
    ${rest > 0 && `So do rows in ${count(rest)} more ${rest === 1 ? "column" : "columns"}. `}Is the unit the same?</span></div>`;
}
