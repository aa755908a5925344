// Download: the table with scores, the decision at the slider and the marks.

import { modelPath, send } from "../api.js";
import { flechette } from "../vendor.js";
import { ARROW } from "./intake.js";

const PARQUET = "application/vnd.apache.parquet";
const FORMULA = /^[=+\-@\t\r]/; // what a spreadsheet would compute

/** Offer a file of the rows, in the order of the file that came. format: csv, arrow or parquet. */
export async function download(format, { table, model, marks, decided, source, by }) {
  const name = `${source.replace(/(\.(csv|tsv|parquet|arrows?|feather|jsonl|json|txt))?(\.gz)?$/i, "") || "rows"}-scored`;
  if (format === "csv") return offer(new Blob([csv(table, marks, decided)], { type: "text/csv" }), `${name}.csv`);
  const bytes = await arrow(table, marks, decided);
  if (format === "arrow") return offer(new Blob([bytes]), `${name}.arrows`);
  const query = new URLSearchParams({ record: "false", replace: "true", ...(by && { by }) });
  const written = await send(modelPath(model.name, `/score?${query}`), bytes, { type: ARROW, accept: PARQUET });
  return offer(new Blob([written]), `${name}.parquet`);
}

/** Further columns of the download: the decision at the slider and the marks, if there are any. */
function added(table, marks, decided) {
  const rows = Array.from({ length: table.n }, (_, row) => row);
  const decision = rows.map((row) => (decided.accepted[row] ? (decided.flags ? "not flagged" : "accepted") : decided.flags ? "flagged" : "deferred"));
  const found = [[free(table, "decision"), decision]];
  if (marks.of.size) found.push([free(table, "mark"), rows.map((row) => marks.get(row))]);
  return found;
}

/** A name that no column has. */
function free(table, name) {
  let found = name;
  while (table.columns.has(found)) found = `${found}_of_page`;
  return found;
}

function csv(table, marks, decided) {
  const names = [...table.columns.keys()];
  const more = added(table, marks, decided);
  const lines = [[...names, ...more.map(([name]) => name)].map(cell).join(",")];
  for (let row = 0; row < table.n; row++) {
    lines.push([...names.map((name) => cell(table.value(name, row))), ...more.map(([, values]) => cell(values[row]))].join(","));
  }
  return `${lines.join("\r\n")}\r\n`;
}

/** A cell of csv; texts that a spreadsheet would compute get an apostrophe in front, numbers stay as they are. */
function cell(value) {
  if (value === null) return "";
  if (typeof value !== "string") return String(value);
  const text = FORMULA.test(value) ? `'${value}` : value;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

async function arrow(table, marks, decided) {
  const library = await flechette();
  const columns = Object.fromEntries([...table.columns.keys()].map((name) => [name, table.arrow.getChild(name)]));
  for (const [name, values] of added(table, marks, decided)) columns[name] = library.columnFromArray(values, library.utf8());
  return library.tableToIPC(library.tableFromColumns(columns), { format: "stream" });
}

function offer(blob, name) {
  const link = Object.assign(document.createElement("a"), { href: URL.createObjectURL(blob), download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}
