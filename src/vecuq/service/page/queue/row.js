// Row: what is known of one row: its texts or its scores, what was decided, and why.

import { moment, number, percent } from "../format.js";
import { html } from "../html.js";
import { Reason } from "../rows/reason.js";
import { Strips } from "../rows/strips.js";
import { Badge } from "../ui.js";
import { Texts } from "./texts.js";

/** blind: an audit row without a label, whose decision would bias the label. */
export function Row({ row, model, blind = false }) {
  if (!row.values) return html`<p class="soft">The log no longer holds this row. Look it up under its id.</p>`;
  const strips = html`<${Strips} model=${model} values=${row.values} />`;
  return html`<div class="q-row">
    ${row.texts && html`<${Texts} texts=${row.texts} />`}
    <${Decision} row=${row} model=${model} blind=${blind} />
    ${blind && html`<p class="small soft q-blind">The decision and the probability of being wrong appear after your label: they would bias it, and it feeds the proven bound.</p>`}
    ${explainable(row, model) && html`<section><h3>Why</h3><${Reason} model=${model} body=${row.values} by=${categoryOf(row, model)} /></section>`}
    ${row.texts ? html`<details><summary>Scores of this answer against the calibration rows</summary>${strips}</details>`
    : html`<section><h3>Columns against the calibration rows</h3>${strips}</section>`}
  </div>`;
}

function Decision({ row, model, blind }) {
  const kept = row.accept === null || row.accept === undefined ? null : row.accept
    ? html`<${Badge} kind="accepted">accepted<//>` : html`<${Badge} kind="flagged">deferred<//>`;
  const facts = [
    ["audit", row.overdue ? html`<${Badge} kind="audit">label overdue<//>` : null],
    ["decision", blind ? null : kept],
    ["wrong with probability", isNumber(row.p_wrong) && !blind ? percent(row.p_wrong) : null],
    ["uncertainty", isNumber(row.uncertainty) ? number(row.uncertainty) : html`<${Badge} kind="missing">no score<//>`],
    ["p-value", isNumber(row.p_value) ? number(row.p_value) : null],
    ["category", row.by],
    ["scored", row.time ? `${moment(row.time)}${row.checksum === model.checksum ? "" : ", by an earlier file of this model"}` : null],
  ];
  return html`<dl class="q-about">${facts.filter(([, value]) => value !== null && value !== undefined).map(([name, value]) => html`
    <div key=${name}><dt>${name}</dt><dd class="number">${value}</dd></div>`)}</dl>`;
}

const isNumber = (value) => typeof value === "number";

/** The service says why a row has its score, if the file that scored it is still the one that is served. */
const explainable = (row, model) => model.takesRows && row.checksum === model.checksum;

/** A gate with categories needs that of the row, in a field that is no score column. */
function categoryOf({ by }, { columns }) {
  if (by === null || by === undefined) return null;
  let name = "category";
  while (columns.includes(name)) name += "_";
  return { name, field: { [name]: by } };
}
