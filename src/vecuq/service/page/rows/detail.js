// Detail: one row. Its score, reason, columns, place in the score map, what if; for answers its texts.

import { html } from "../html.js";
import { count, number, percent } from "../format.js";
import { Badge, Facts } from "../ui.js";
import { share } from "./quantiles.js";
import { Reason } from "./reason.js";
import { ScoreMap } from "./scoremap.js";
import { Strips } from "./strips.js";
import { Texts } from "./texts.js";
import { WhatIf } from "./whatif.js";

export function Detail({ table, model, row, decided, marks, by, pick }) {
  if (row < 0) return html`<p class="soft pad">Choose a row: click it, or move with the arrow keys.</p>`;
  const body = table.body(row);
  const category = by && { name: by, field: { [by]: table.value(by, row) } };
  const gate = { accept: table.accept ? table.accept[row] === 1 : null, pWrong: table.pWrong?.[row] ?? null };
  const [uncertainty, pValue] = [table.uncertainty[row], table.pValue?.[row] ?? null];
  const scored = uncertainty === uncertainty;
  return html`<div class="detail stack">
    <div><h2 class="row-title">${table.id(row) ?? `Row ${count(row + 1)}`}</h2>
      <p class="bar"><${Decision} decided=${decided} row=${row} scored=${scored} />
        ${scored && html`<span class="soft small">rank ${count(table.rank[row] + 1)} of ${count(table.n)}</span>`}</p></div>
    <${MarkButtons} marks=${marks} row=${row} />
    <${Facts} facts=${[
      ["uncertainty", scored ? html`<span class="number">${number(uncertainty, 5)}</span>${placeOf(model, uncertainty)}` : "not scored"],
      ["p-value", pValue === null || pValue !== pValue ? null : html`<span class="number">${number(pValue)}</span>`],
      ["probability of being wrong", table.pWrong && scored ? html`<span class="number">${percent(table.pWrong[row])}</span>` : null],
    ]} />
    ${table.isAnswers && html`<${Texts} table=${table} row=${row} />`}
    <section><h3>Why</h3><${Reason} model=${model} body=${body} by=${category} known=${knownReason(table, row)} /></section>
    <section><h3>Columns against the calibration rows</h3><${Strips} model=${model} values=${body} /></section>
    ${table.scored.length > 0 && html`<details open><summary>Place in the score map</summary>
      <${ScoreMap} table=${table} model=${model} row=${row} body=${body} pick=${pick} /></details>
    ${(model.exportable || model.takesRows) && html`<details><summary>What if</summary><${WhatIf} model=${model} body=${body} by=${category} gate=${gate} ranges=${ranges(table, model)} uncertainty=${scored ? uncertainty : null} pValue=${pValue} /></details>`}`}
    <${Others} table=${table} row=${row} />
  </div>`;
}

export function Decision({ decided, row, scored }) {
  if (!scored) return html`<${Badge} kind="missing">no score<//>`;
  if (decided.flags) return decided.accepted[row] ? null : html`<${Badge} kind="flagged">flagged<//>`;
  return decided.accepted[row] ? html`<${Badge} kind="accepted">accepted<//>` : html`<${Badge}>deferred<//>`;
}

function MarkButtons({ marks, row }) {
  const mark = marks.get(row);
  const button = (kind, key, text) => html`<button class="mark ${kind}" aria-pressed=${mark === kind} onClick=${() => marks.set(row, kind, { toggle: true })}>${text} <kbd aria-hidden="true">${key}</kbd></button>`;
  return html`<div class="bar" role="group" aria-label="Mark this row">${button("right", "r", "✓ Right")}${button("wrong", "w", "✗ Wrong")}</div>`;
}

function placeOf(model, uncertainty) {
  if (!model.uncertaintyQuantiles) return "";
  const part = share(model.uncertaintyQuantiles, uncertainty);
  return html` <span class="soft small">${part === 1 ? "above all calibration rows" : `above ${percent(part).replace(">", "")} of the calibration rows`}</span>`;
}

/** The reason, where the table has one already. */
function knownReason(table, row) {
  const why = table.value("why", row);
  if (why === null || !table.scored.every((name) => table.columns.has(`contribution_${name}`))) return null;
  return { why, contributions: Object.fromEntries(table.scored.map((name) => [name, table.value(`contribution_${name}`, row)])) };
}

/** Smallest and largest value of each column: of the calibration rows where they are known, else of these rows. */
function ranges(table, model) {
  const ends = (name) => {
    const quantiles = model.quantiles[name];
    if (quantiles) return [quantiles[0], quantiles[quantiles.length - 1]];
    const known = table.numbers(name).filter(Number.isFinite);
    return known.length ? [known.reduce((a, b) => Math.min(a, b)), known.reduce((a, b) => Math.max(a, b))] : [0, 1];
  };
  return Object.fromEntries(table.scored.map((name) => [name, ends(name)]));
}

function Others({ table, row }) {
  const facts = table.others.filter((name) => name !== "id").map((name) => [name, shown(table.value(name, row))]);
  return facts.length > 0 && html`<details><summary>Other columns of the file (${facts.length})</summary><${Facts} facts=${facts} /></details>`;
}

const shown = (value) => (value === null ? "–" : typeof value === "number" ? number(value, 8) : String(value));
