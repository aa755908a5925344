// Saving: the ids of the rows that are shown, or the rows themselves as csv.

const FORMULA = /^[=+\-@\t\r]/; // what a spreadsheet would compute

/** Buttons for all rows that pass the filters, also those that are not on the screen yet. */
function savers(rows) {
  const name = rows.columns[0].name;
  const copyIds = made("button", { type: "button" }, `Copy ${short(name, 16)}${name === "row" ? " numbers" : ""}`);
  copyIds.addEventListener("click", async () => {
    await copy(rows.chosen.map(({ values }) => values[0] ?? "").join("\n"), `${rowsWord(rows.chosen.length)}:`);
    confirm(copyIds, `Copied ${count(rows.chosen.length)}`);
  });
  const save = made("button", { type: "button" }, "Download csv");
  save.addEventListener("click", () => offer(csvOf(rows.columns, rows.chosen), "rows.csv"));
  return [copyIds, save];
}

function csvOf(columns, rows) {
  const lines = [[...columns.map(({ name }) => name), "why"], ...rows.map(({ values, why }) => [...values, why])];
  return lines.map((cells) => `${cells.map(csvCell).join(",")}\r\n`).join("");
}

/** A cell of csv; texts that a spreadsheet would compute get an apostrophe in front, numbers stay as they are. */
function csvCell(value) {
  if (value === null) return "";
  if (typeof value !== "string") return String(value);
  const text = FORMULA.test(value) ? `'${value}` : value;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

function offer(text, name) {
  const link = made("a", { href: URL.createObjectURL(new Blob(["\ufeff", text], { type: "text/csv" })), download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}
