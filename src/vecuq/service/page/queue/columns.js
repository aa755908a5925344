// Columns: each score of a row on a strip, against the calibration rows. The right end is always the uncertain one.

import { number } from "../format.js";
import { html } from "../html.js";
import { share } from "../rows/quantiles.js";

/** values: by column; model: its description, whose quantiles place them; contributions: by column, if known. */
export function Columns({ values, model, contributions }) {
  const flipped = new Set(model.flipped ?? []);
  return html`<div class="strips">
    <p class="strip-key small soft"><span class="ends" aria-hidden="true"><span>← more certain</span><span>more uncertain →</span></span><span>among calibration rows</span></p>
    ${model.columns.map((name) => html`<${Strip} key=${name} name=${name} value=${values?.[name] ?? null}
      quantiles=${model.quantiles?.[name]} flipped=${flipped.has(name)} part=${contributions?.[name]} />`)}
  </div>`;
}

function Strip({ name, value, quantiles, flipped, part }) {
  const below = value === null || !(quantiles?.length > 1) ? null : share(quantiles, value);
  const place = below === null ? null : flipped ? 1 - below : below;
  return html`<div class="strip">
    <span class="strip-name">${name}${flipped && html` <small class="soft" title="Higher means more certain">flipped</small>`}</span>
    <span class="strip-value number">${value === null ? html`<span class="badge missing">missing</span>` : number(value)}</span>
    <span class="strip-track" aria-hidden="true"><i class="strip-middle"></i>
      ${place !== null && html`<i class="strip-mark ${place > 0.95 ? "far" : ""}" style=${{ left: `${100 * place}%` }}></i>`}</span>
    <span class="strip-words small soft">${below === null ? "" : placeWords(below, flipped)}${reasonWords(part)}</span>
  </div>`;
}

/** Say where a value lies, from the uncertain end. */
function placeWords(below, flipped) {
  if (below >= 1) return "above all calibration rows";
  if (below <= 0) return "below all calibration rows";
  const [word, part] = flipped ? ["lower", 1 - below] : ["higher", below];
  return `${word} than ${part > 0.99 ? (100 * part).toFixed(1) : Math.round(100 * part)} %`;
}

const reasonWords = (part) => (Number.isFinite(part) && part !== 0 ? ` · adds ${number(part, 2)}` : "");
