// Choosing: which rows are shown. Search over texts and numbers, filters, and "column > 3".

const RULE = /^\s*(.+?)\s*(<=|>=|=|<|>)\s*(-?\d+(?:\.\d+)?(?:e[+-]?\d+)?)\s*$/i;
const COMPARED = { "<": (a, b) => a < b, ">": (a, b) => a > b, "<=": (a, b) => a <= b, ">=": (a, b) => a >= b, "=": (a, b) => a === b };

/** Return the rows of an order that pass every test, in that order. */
export function chosen(order, tests) {
  const active = tests.filter(Boolean);
  if (!active.length) return order;
  const kept = new Uint32Array(order.length);
  let n = 0;
  for (let k = 0; k < order.length; k++) {
    const row = order[k];
    if (active.every((test) => test(row))) kept[n++] = row;
  }
  return kept.subarray(0, n);
}

/** Return a test of rows for what was typed; null for nothing. */
export function searchTest(table, typed) {
  const text = typed.trim();
  if (!text) return null;
  return ruleTest(table, text) ?? anyTest(table, text);
}

/** "knn > 3" compares a column with a number. */
function ruleTest(table, text) {
  const [, name, sign, limit] = RULE.exec(text) ?? [];
  const found = name && columnOf(table, name);
  const values = found && table.numbers(found);
  if (!values) return null;
  const compare = COMPARED[sign];
  return (row) => compare(values[row], Number(limit));
}

/** Why what was typed found nothing, where it looks like a rule that is not understood; null otherwise. */
export function searchProblem(table, typed, example) {
  if (!/[<>=]/.test(typed)) return null;
  const [, name] = RULE.exec(typed) ?? [];
  if (!name) return `Write a rule as: ${example}`;
  const found = columnOf(table, name);
  if (!found) return `There is no column '${name}'.`;
  return table.numbers(found) ? null : `The column '${found}' holds no numbers. Write a rule as: ${example}`;
}

/** A rule that fits this table: a column of it, and the median of the calibration rows. */
export function exampleRule(table, model) {
  const [name] = table.scored;
  return name === undefined ? "uncertainty > 0.5" : `${name} > ${+(model.medians[name] ?? 0).toPrecision(2)}`;
}

const columnOf = (table, name) => [...table.columns.keys()].find((each) => each.toLowerCase() === name.toLowerCase());

/** A text is found anywhere in a text cell; a number as far as it was typed: 0.4 finds 0.43. */
function anyTest(table, text) {
  const sought = text.toLowerCase();
  const columns = [...table.columns.values()];
  const texts = columns.filter(({ kind }) => kind === "text").map((column) => column.folded());
  const numeric = /^[-−]?\d+(\.\d*)?$/.test(text);
  const numbers = numeric ? columns.filter(({ kind }) => kind === "number").map(({ values }) => values) : [];
  const near = numeric && nearTest(text.replace("−", "-"));
  return (row) => texts.some((folded) => folded[row].includes(sought)) || numbers.some((values) => near(values[row]));
}

function nearTest(text) {
  const size = Math.abs(Number(text));
  const width = 10 ** -(text.split(".")[1]?.length ?? 0);
  const negative = text.startsWith("-");
  const slack = 1e-9 * width; // 0.3 is not 3 * 0.1
  return (value) => {
    const found = negative ? -value : value;
    return found >= size - slack && found < size + width - slack;
  };
}

/** The filters, with the test that each is; decided: the decision at the slider, marks: Map of row to mark. */
export function filters({ table, decided, marks }) {
  const { uncertainty } = table;
  const { accepted, flags } = decided;
  return {
    all: ["All", null],
    ...(flags ? { flagged: ["Flagged", (row) => !accepted[row]] } : {
      accepted: ["Accepted", (row) => accepted[row] === 1], deferred: ["Deferred", (row) => !accepted[row]],
    }),
    missing: ["Missing", (row) => uncertainty[row] !== uncertainty[row]],
    marked: ["Marked", (row) => marks.has(row)],
  };
}
