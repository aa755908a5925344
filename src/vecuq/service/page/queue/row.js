// Row: what is known of one row: its texts or its scores, what was decided, and why.

import { modelPath, post } from "../api.js";
import { moment, number, percent } from "../format.js";
import { html } from "../html.js";
import { Badge, useLoad } from "../ui.js";
import { Columns } from "./columns.js";
import { Texts } from "./texts.js";

export function Row({ row, model }) {
  const [why] = useLoad((signal) => reason(row, model, signal), [row.id, model.checksum]);
  if (!row.values) return html`<p class="soft">The log no longer holds this row. Look it up under its id.</p>`;
  const strips = html`<${Columns} values=${row.values} model=${model} contributions=${why?.contributions} />`;
  return html`<div class="row-body">
    ${row.texts && html`<${Texts} texts=${row.texts} />`}
    <div class="row-about">
      <${Decision} row=${row} model=${model} />
      ${why?.why && html`<p class="why"><strong>Why:</strong> ${why.why}</p>`}
      ${row.texts ? html`<details><summary>Scores of this answer</summary>${strips}</details>` : strips}
    </div>
  </div>`;
}

function Decision({ row, model }) {
  const kept = row.accept === null || row.accept === undefined ? null : row.accept
    ? html`<${Badge} kind="accepted">accepted<//>` : html`<${Badge} kind="flagged">deferred<//>`;
  const facts = [
    ["decision", kept && html`${kept} ${row.overdue && html`<${Badge} kind="audit">label overdue<//>`}`],
    ["wrong with probability", isNumber(row.p_wrong) ? percent(row.p_wrong) : null],
    ["uncertainty", isNumber(row.uncertainty) ? number(row.uncertainty) : html`<${Badge} kind="missing">no score<//>`],
    ["p-value", isNumber(row.p_value) ? number(row.p_value) : null],
    ["category", row.by],
    ["scored", row.time ? `${moment(row.time)}${row.checksum === model.checksum ? "" : ", by an earlier file of this model"}` : null],
  ];
  return html`<dl class="about">${facts.filter(([, value]) => value !== null && value !== undefined).map(([name, value]) => html`
    <div key=${name}><dt>${name}</dt><dd class="number">${value}</dd></div>`)}</dl>`;
}

const isNumber = (value) => typeof value === "number";

/** Return {why, contributions} of a row; nothing where the model cannot say. It is scored again, and not recorded. */
async function reason(row, model, signal) {
  if (!row.values || row.checksum !== model.checksum || model.isAnswers || model.is_answers) return null;
  const body = { rows: [row.values], explain: true, record: false };
  const { rows } = await post(modelPath(model.name, "/score"), body, { signal });
  return rows[0];
}
