// Labels: a column of the file that says which rows are right.

const [RIGHT, WRONG] = [["true", "yes", "right", "correct", "1"], ["false", "no", "wrong", "incorrect", "0"]];
const NAMES = { correct: /^(is_?)?(correct|right)$/i, wrong: /^(is_?)?(wrong|error|incorrect|mistake)$/i };

/** Return the columns that could be labels: true or false, 0 or 1, or such words. */
export function labelColumns(table) {
  return table.others.filter((name) => usable(table.columns.get(name)));
}

/** Return {name, means: "correct" | "wrong"} by the name of a column; null where none says it. */
export function likelyLabel(table) {
  for (const name of labelColumns(table)) {
    const means = Object.keys(NAMES).find((each) => NAMES[each].test(name));
    if (means) return { name, means };
  }
  return null;
}

/** Return 1 for right, 0 for wrong and NaN for unknown rows. */
export function labelsOf(table, { name, means }) {
  const column = table.columns.get(name);
  const labels = new Float64Array(table.n);
  for (let row = 0; row < table.n; row++) {
    const found = bit(column.at(row));
    labels[row] = found === null ? NaN : means === "wrong" ? 1 - found : found;
  }
  return labels;
}

function usable(column) {
  if (column.kind === "bool") return true;
  if (column.kind === "number") return column.values.every((each) => each === 0 || each === 1 || each !== each);
  const first = column.folded().filter((each) => each !== "").slice(0, 200);
  return first.length > 0 && first.every((each) => bit(each) !== null);
}

function bit(value) {
  if (value === null) return null;
  const text = String(value).toLowerCase().trim();
  return RIGHT.includes(text) ? 1 : WRONG.includes(text) ? 0 : null;
}
