// Comparing two columns with the combined order: ranks, rank correlation, and which rows the top k share.

import { orderOf } from "./table.js";

/** Return places of the rows by a column, 0 the most uncertain; NaN for rows without a value. flipped: high is certain. */
export function placesOf(table, name, flipped) {
  const column = name === "uncertainty" ? { kind: "number", values: table.uncertainty } : table.columns.get(name);
  const order = orderOf(column, !flipped);
  const places = new Float64Array(table.n);
  order.forEach((row, place) => { places[row] = column.values[row] !== column.values[row] ? NaN : place; });
  return places;
}

/** How many of the k most uncertain rows by the combined order are among the k of each column, of both, of neither. */
export function shared(combined, first, second, k) {
  const found = { first: 0, second: 0, both: 0, neither: 0, k: 0 };
  for (let row = 0; row < combined.length; row++) {
    if (!(combined[row] < k)) continue;
    const [a, b] = [first[row] < k, second[row] < k];
    found.k++;
    found.first += a;
    found.second += b;
    found.both += a && b;
    found.neither += !a && !b;
  }
  return found;
}

/** Spearman's rank correlation over the rows that have both places; equal values share their mean place. */
export function correlation(first, second) {
  let [n, a, b] = [0, 0, 0];
  const rows = [];
  for (let row = 0; row < first.length; row++) {
    if (first[row] === first[row] && second[row] === second[row]) { rows.push(row); a += first[row]; b += second[row]; n++; }
  }
  const [meanA, meanB] = [a / n, b / n];
  let [ab, aa, bb] = [0, 0, 0];
  for (const row of rows) {
    const [da, db] = [first[row] - meanA, second[row] - meanB];
    ab += da * db;
    aa += da * da;
    bb += db * db;
  }
  return ab / Math.sqrt(aa * bb);
}

/** Places where equal values share their mean place, as the rank correlation needs. */
export function meanPlaces(table, name, places) {
  const values = name === "uncertainty" ? table.uncertainty : table.numbers(name);
  const rows = Uint32Array.from({ length: table.n }, (_, row) => row).filter((row) => places[row] === places[row]).sort((a, b) => places[a] - places[b]);
  const mean = new Float64Array(table.n).fill(NaN);
  for (let from = 0; from < rows.length;) {
    let to = from;
    while (to < rows.length && values[rows[to]] === values[rows[from]]) to++;
    for (let k = from; k < to; k++) mean[rows[k]] = (from + to - 1) / 2;
    from = to;
  }
  return mean;
}
