// Strips: each column of a row against the calibration distribution.

import { html } from "../html.js";
import { number } from "../format.js";
import { at, placeWords, share } from "./quantiles.js";

const [WIDTH, HEIGHT] = [240, 18];

/** values: {name: number or null}; model: its description, with quantiles by column. */
export const Strips = ({ model, values }) => html`<ul class="strips">
  ${Object.entries(values).map(([name, value]) => html`<${Line} key=${name} name=${name} value=${value}
    quantiles=${model.quantiles[name]} flipped=${model.flipped.has(name)} />`)}
</ul>`;

function Line({ name, value, quantiles, flipped }) {
  const known = typeof value === "number" && Number.isFinite(value);
  const part = known && quantiles ? share(quantiles, value) : null;
  const words = !known ? "missing" : part === null ? "" : placeWords(quantiles, value);
  const unusual = part !== null && (flipped ? part <= 0.025 : part >= 0.975);
  return html`<li>
    <span class="strip-name" title=${name}>${name}${flipped && html` <small class="soft" title="higher means more confident">(flipped)</small>`}</span>
    <span class="number strip-value">${known ? number(value) : "–"}</span>
    ${quantiles ? html`<${Strip} quantiles=${quantiles} value=${known ? value : null} unusual=${unusual} />` : html`<span></span>`}
    <span class="soft small strip-words ${unusual ? "unusual" : ""}">${words}</span>
  </li>`;
}

/** A line over 1 to 99 % of the calibration rows, a box over the middle half, the median, and the value. */
export function Strip({ quantiles, value = null, unusual = false }) {
  const ends = [quantiles[0], quantiles[quantiles.length - 1], ...(value === null ? [] : [value])];
  const [low, high] = [Math.min(...ends), Math.max(...ends)];
  const x = (each) => (high > low ? 5 + ((each - low) / (high - low)) * (WIDTH - 10) : WIDTH / 2);
  const [q1, q25, q50, q75, q99] = [0.01, 0.25, 0.5, 0.75, 0.99].map((part) => x(at(quantiles, part)));
  const middle = HEIGHT / 2;
  return html`<svg class="strip" viewBox="0 0 ${WIDTH} ${HEIGHT}" preserveAspectRatio="none" aria-hidden="true">
    <line class="strip-all" x1=${x(quantiles[0])} x2=${x(quantiles[quantiles.length - 1])} y1=${middle} y2=${middle} />
    <rect class="strip-most" x=${q1} width=${Math.max(q99 - q1, 1)} y=${middle - 2} height="4" rx="2" />
    <rect class="strip-half" x=${q25} width=${Math.max(q75 - q25, 1)} y=${middle - 5} height="10" rx="2" />
    <line class="strip-median" x1=${q50} x2=${q50} y1=${middle - 5} y2=${middle + 5} />
    ${value !== null && html`<line class="strip-value-mark ${unusual ? "unusual" : ""}" x1=${x(value)} x2=${x(value)} y1="1" y2=${HEIGHT - 1} />`}
  </svg>`;
}
