// Choosing: which rows are shown, in which order. Pure functions of the rows, each {values, text, place}.

const RULE = /^\s*(.+?)\s*(<=|>=|<|>|=)\s*([-+]?(?:\d+\.?\d*|\.\d+)(?:e[-+]?\d+)?)\s*$/i;
const COMPARED = { "<": (a, b) => a < b, ">": (a, b) => a > b, "<=": (a, b) => a <= b, ">=": (a, b) => a >= b, "=": (a, b) => a === b };
const MOST_CHOICES = 40; // of a column by which rows can be filtered

/** Return a test of rows: words that all occur in the texts of a row, or a rule such as "knn > 3". */
function searchTest(columns, typed) {
  const [, name, sign, value] = RULE.exec(typed) ?? [];
  const k = name === undefined ? -1 : columns.findIndex((each) => each.numeric && each.name.toLowerCase() === name.toLowerCase());
  if (k >= 0) return ({ values }) => values[k] !== null && COMPARED[sign](values[k], Number(value));
  const words = typed.toLowerCase().split(/\s+/).filter(Boolean);
  return ({ text }) => words.every((word) => text.includes(word));
}

/** Return rows by a column, those without a value last; equal ones stay as they were, most uncertain first. */
function sorted(rows, k, descending) {
  const missing = (value) => value === null || value === "";
  const side = descending ? -1 : 1;
  return rows.slice().sort((a, b) => {
    const [left, right] = [a.values[k], b.values[k]];
    if (missing(left) || missing(right)) return missing(left) - missing(right) || a.place - b.place;
    return side * compared(left, right) || a.place - b.place;
  });
}

const ORDER = new Intl.Collator(undefined, { numeric: true });
const compared = (left, right) => (typeof left === "string" || typeof right === "string"
  ? ORDER.compare(left, right) : left - right);

/** Return the values of a column with how often each occurs, if they are few enough to choose from; else null. */
function choices(rows, k) {
  const found = new Map();
  for (const { values } of rows) found.set(values[k], (found.get(values[k]) ?? 0) + 1);
  const tells = found.size > 1 && found.size <= MOST_CHOICES && found.size < rows.length;
  return tells ? [...found].sort((a, b) => b[1] - a[1]) : null;
}
