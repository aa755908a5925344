// Table: scored rows as columns of plain arrays, decoded from an Arrow stream once.

import { flechette } from "../vendor.js";

export const SCORES = ["uncertainty", "p_value", "p_wrong"];
const ADDED = new Set([...SCORES, "accept", "flagged", "audit", "why"]);
const TEXTS = new Set(["question", "answer", "samples"]);
const [DICTIONARY, INT, FLOAT, UTF8, BOOL, DECIMAL, LARGE_UTF8, UTF8_VIEW] = [-1, 2, 3, 5, 6, 7, 20, 24];

/** Return the table of an answer. model: its description, which says which columns are scores. */
export async function decoded(bytes, model) {
  const arrow = await flechette();
  const found = arrow.tableFromIPC(bytes, { useBigInt: true, useDate: true });
  return new Table(found, model);
}

export class Table {
  constructor(arrow, model) {
    this.arrow = arrow;
    this.n = arrow.numRows;
    this.columns = new Map(arrow.names.map((name) => [name, columnOf(name, arrow.getChild(name), this.n)]));
    this.scored = model.columns.filter((name) => this.columns.get(name)?.kind === "number");
    this.others = arrow.names.filter((name) => !ADDED.has(name) && !TEXTS.has(name) && !model.columns.includes(name) && !name.startsWith("contribution_"));
    this.uncertainty = this.numbers("uncertainty") ?? new Float64Array(this.n).fill(NaN);
    this.pValue = this.numbers("p_value");
    this.pWrong = this.numbers("p_wrong");
    this.accept = this.columns.get("accept")?.kind === "bool" ? this.columns.get("accept").values : null;
    this.isAnswers = this.columns.has("answer") && this.columns.has("samples");
    this.nMissing = this.uncertainty.reduce((n, each) => n + (each !== each), 0);
    this.ranked = orderOf(this.columns.get("uncertainty") ?? { kind: "number", values: this.uncertainty }, true);
    this.rank = new Uint32Array(this.n);
    this.ranked.forEach((row, place) => { this.rank[row] = place; });
  }

  /** The values of a column of numbers; null where there is none of this name. */
  numbers(name) {
    const column = this.columns.get(name);
    return column?.kind === "number" ? column.values : null;
  }

  /** What a cell holds: a number, true or false, a text, or null. */
  value(name, row) {
    const column = this.columns.get(name);
    return column ? column.at(row) : null;
  }

  /** The id under which the service may know a row; null where the table has none. */
  id(row) {
    const found = this.value("id", row);
    return found === null || found === "" ? null : String(found);
  }

  /** The values of the model's columns of one row, null where missing: a body of /score. */
  body(row) {
    return Object.fromEntries(this.scored.map((name) => [name, this.value(name, row)]));
  }
}

/** One column: kind "number" (Float64Array, NaN where missing), "bool" (Int8Array, -1 where missing) or "text". */
function columnOf(name, column, n) {
  const { typeId } = column?.type ?? {};
  if (typeId === FLOAT || typeId === INT || typeId === DECIMAL) {
    const values = numbersOf(column, n);
    if (values) return { name, kind: "number", whole: typeId === INT, values, at: (row) => (values[row] !== values[row] ? null : values[row]) };
  }
  if (typeId === BOOL) {
    const values = Int8Array.from(column.toArray(), (each) => (each === null ? -1 : Number(each)));
    return { name, kind: "bool", values, at: (row) => (values[row] < 0 ? null : values[row] === 1) };
  }
  return textColumn(name, column);
}

/** Numbers as doubles; null where an integer is too large for one, which then is shown as text. */
function numbersOf(column, n) {
  const raw = column.toArray();
  if (raw instanceof Float64Array) return raw;
  const values = new Float64Array(n);
  for (let row = 0; row < n; row++) {
    const each = raw[row];
    values[row] = each === null ? NaN : Number(each);
    if (typeof each === "bigint" && !Number.isSafeInteger(values[row])) return null;
  }
  return values;
}

function textColumn(name, column) {
  const plain = [UTF8, LARGE_UTF8, UTF8_VIEW, DICTIONARY].includes(column?.type?.typeId);
  const at = (row) => {
    const found = column.at(row);
    return found === null || found === undefined ? null : plain && typeof found === "string" ? found : textOf(found);
  };
  let lower = null; // for the search, made once
  const folded = () => (lower ??= Array.from({ length: column.length }, (_, row) => (at(row) ?? "").toLowerCase()));
  return { name, kind: "text", at, folded };
}

function textOf(value) {
  if (value instanceof Date) return value.toISOString();
  if (typeof value !== "object") return String(value);
  return JSON.stringify(value, (_, each) => (typeof each === "bigint" ? String(each) : ArrayBuffer.isView(each) ? Array.from(each) : each));
}

/** Return all rows in the order of a column; rows without a value come last in both directions. */
export function orderOf(column, descending) {
  if (column.kind === "text") return textOrder(column, descending);
  const { values } = column;
  const missing = column.kind === "bool" ? (each) => each < 0 : (each) => each !== each;
  const [known, unknown] = [[], []];
  for (let row = 0; row < values.length; row++) (missing(values[row]) ? unknown : known).push(row);
  const order = Uint32Array.from(known);
  // The row decides between equals, so that the order is the same every time.
  order.sort(descending ? (a, b) => values[b] - values[a] || a - b : (a, b) => values[a] - values[b] || a - b);
  return concatenated(order, unknown);
}

function textOrder(column, descending) {
  const texts = column.folded();
  const [known, unknown] = [[], []];
  texts.forEach((text, row) => (text === "" ? unknown : known).push(row));
  const sign = descending ? -1 : 1;
  known.sort((a, b) => (texts[a] < texts[b] ? -sign : texts[a] > texts[b] ? sign : a - b));
  return concatenated(Uint32Array.from(known), unknown);
}

function concatenated(known, unknown) {
  const order = new Uint32Array(known.length + unknown.length);
  order.set(known);
  order.set(unknown, known.length);
  return order;
}
