// Columns of the grid: place, mark, id, scores, decision, the model's columns, the file's other columns.

import { html } from "../html.js";
import { count, decimalsOf, fixed, percent } from "../format.js";
import { Middle } from "../ui.js";
import { Decision } from "./detail.js";
import { WORDS } from "./marks.js";

const LONGEST = 300; // characters of a text in a cell; the rest is in the detail

export function gridColumns({ table, model, decided, marks, narrow }) {
  const decimals = decimalsOf(table.uncertainty);
  const [least, most] = extremes(table);
  const scored = (row) => table.uncertainty[row] === table.uncertainty[row];
  const plain = (name) => plainColumn(table, name, model, narrow ? 200 : 320);
  const has = (name) => table.columns.has(name);
  return [
    { key: "rank", title: "#", label: "rank by uncertainty", width: narrow ? 44 : 68, align: "end", cell: (row) => (scored(row) ? count(table.rank[row] + 1) : "–") },
    ...(has("id") && !model.columns.includes("id") ? [{ ...plain("id"), width: idWidth(table, narrow), grow: false, cell: (row) => { const id = table.id(row); return id === null ? "–" : html`<${Middle} text=${id} />`; } }] : []),
    { key: "uncertainty", title: narrow ? "uncert." : "uncertainty", label: "uncertainty", width: narrow ? 80 : 120, align: "end", cell: (row) => uncertain(table.uncertainty[row], decimals, least, most) },
    ...(table.pValue ? [{ key: "p_value", title: "p-value", width: narrow ? 76 : 88, align: "end", cell: fixedCell(table.pValue, Math.min(Math.max(Math.ceil(-Math.log10(model.smallest_alpha ?? 0.001)), 3), 6)) }] : []),
    { key: "decision", title: "decision", width: narrow ? 92 : 104, sortable: false, cell: (row) => html`<${Decision} decided=${decided} row=${row} scored=${scored(row)} />` },
    { key: "mark", title: "mark", width: 60, sortable: false, cell: (row) => marked(marks.get(row)) },
    ...(table.pWrong ? [{ key: "p_wrong", title: "p wrong", label: "probability of being wrong", width: 88, align: "end", cell: (row) => percent(table.pWrong[row]) }] : []),
    ...["question", "answer"].filter((name) => table.isAnswers && has(name)).map((name) => ({ ...plain(name), width: 240, grow: true })),
    ...table.scored.map(plain),
    ...table.others.filter((name) => name !== "id").map(plain),
  ];
}

/** As wide as the ids of the first rows, within limits. */
function idWidth(table, narrow) {
  let longest = 0;
  for (let row = 0; row < Math.min(table.n, 200); row++) longest = Math.max(longest, table.id(row)?.length ?? 0);
  return Math.min(Math.max(8.6 * longest + 24, narrow ? 84 : 120), narrow ? 132 : 240);
}

function plainColumn(table, name, model, widest) {
  const column = table.columns.get(name);
  const numeric = column.kind === "number";
  const label = model.flipped.has(name) ? `${name}, flipped: higher is more confident` : name;
  const width = Math.min(Math.max(9 * name.length + 30, numeric ? 92 : 130), widest);
  return { key: name, title: name, label, width, grow: column.kind === "text", align: numeric ? "end" : "", cell: cellOf(column) };
}

function cellOf(column) {
  if (column.kind === "number") return column.whole ? (row) => whole(column.values[row]) : fixedCell(column.values, decimalsOf(column.values));
  if (column.kind === "bool") return (row) => ["–", "no", "yes"][column.values[row] + 1];
  return (row) => {
    const text = column.at(row);
    return text === null ? "–" : text.slice(0, LONGEST);
  };
}

const whole = (value) => (value !== value ? "–" : String(value));

const marked = (mark) => mark && html`<span class="marked ${mark}" role="img" aria-label=${mark}>${WORDS[mark][0]}</span>`;

const fixedCell = (values, decimals) => (row) => fixed(values[row], decimals);

function extremes({ ranked, uncertainty, n, nMissing }) {
  return n > nMissing ? [uncertainty[ranked[n - nMissing - 1]], uncertainty[ranked[0]]] : [0, 1];
}

/** The number, with a bar behind it as long as it is high. */
function uncertain(value, decimals, least, most) {
  if (value !== value) return "–";
  const part = most > least ? (value - least) / (most - least) : 0;
  return html`<span class="level" style=${{ "--part": `${(100 * part).toFixed(1)}%` }}>${fixed(value, decimals)}</span>`;
}
