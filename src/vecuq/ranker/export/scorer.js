// Scores rows with a model that vecuq exported as JSON: `Ranker.to_json()` or `vecuq export model.vecuq -o model.json`.
// One module of plain JavaScript, without dependencies.
//
//   import { load } from "./scorer.js";
//   const model = load(json);                        // the text, or what JSON.parse made of it
//   model.score({ entropy: 0.2, knn: 3.1 });         // {uncertainty, pValue}; or a list in the order of model.columns
//   model.whatIf(row, { knn: 0.5 });                 // the score of the row with some columns changed
//   model.contributions(row);                        // Shapley values by column; with model.baseline, the score
//
// A row with a value that is missing (null, undefined, NaN) or infinite has {uncertainty: null, pValue: null}.
// A model that makes no sense is refused with an Error that says why.

const KIND = "vecuq-scorer";
const VERSION = 1;
const MOST_COLUMNS = 12; // 2 ** 12 scores per row are as many as contributions may take
const MOST_CELLS = 64; // of a small epsilon, whose weights are remembered

/** Return a model that scores rows; throw an Error for anything that `to_json` did not write. */
export function load(json) {
  return new Model(typeof json === "string" ? parsed(json) : json);
}

/** What was fitted, and what it says of new rows. Every row by itself. */
export class Model {
  #known;
  #baseline = null;

  constructor(found) {
    this.#known = checked(found);
    this.columns = Object.freeze([...found.columns]);
    this.flipped = Object.freeze([...found.flipped]); // columns in which higher means more confident
    this.hasPValues = this.#known.held !== null;
    this.settings = found.settings ?? null;
    this.vecuq = found.vecuq ?? null; // the version that wrote it
  }

  /** Return {uncertainty, pValue} of a row: a list in the order of the columns, or an object by name. */
  score(row) {
    return this.#scored(this.#values(row));
  }

  /** Return the scores of many rows. */
  scores(rows) {
    return Array.from(rows, (row) => this.score(row));
  }

  /** Return the score that a row would have with some of its columns changed: {name: value}. */
  whatIf(row, changes) {
    const unknown = Object.keys(changes).filter((name) => !this.columns.includes(name));
    const listed = this.columns.join(", ");
    if (unknown.length) refuse(`the model has no column ${JSON.stringify(unknown[0])}; it has ${listed}.`);
    const values = this.#values(row);
    this.columns.forEach((name, k) => {
      if (Object.hasOwn(changes, name)) values[k] = this.#directed(changes[name], k);
    });
    return this.#scored(values);
  }

  /** Return how much each column adds to the score, in the order of the columns; null for a row without a score. */
  contributions(row) {
    const { active } = this.#known;
    const medians = this.#medians();
    const values = this.#values(row);
    if (!values.every(Number.isFinite)) return null;
    const games = Float64Array.from({ length: 2 ** active.length }, (_, members) => {
      const moved = medians.slice();
      active.forEach((k, player) => (moved[k] = (members >> player) & 1 ? values[k] : moved[k]));
      return uncertainty(this.#known, moved);
    });
    const added = new Array(this.columns.length).fill(0);
    active.forEach((k, player) => (added[k] = averageStep(games, active.length, player)));
    return added;
  }

  /** The score of the calibration medians, from which contributions count. */
  get baseline() {
    this.#baseline ??= uncertainty(this.#known, this.#medians());
    return this.#baseline;
  }

  #medians() {
    return this.#known.medians ?? refuse("this model keeps no medians, which contributions need; fit it again.");
  }

  #scored(values) {
    if (!values.every(Number.isFinite)) return { uncertainty: null, pValue: null };
    const found = uncertainty(this.#known, values);
    return { uncertainty: found, pValue: this.#known.held && pValue(this.#known.held, found) };
  }

  /** Return a row in the direction in which higher is more uncertain; NaN where a value is missing. */
  #values(row) {
    const listed = Array.isArray(row) || ArrayBuffer.isView(row);
    if (row === null || typeof row !== "object") refuse("a row must be a list of numbers or an object by column name.");
    if (listed && row.length !== this.columns.length) {
      refuse(`a row must have ${this.columns.length} values, ${this.columns.join(", ")}; it has ${row.length}.`);
    }
    if (!listed && !this.columns.some((name) => Object.hasOwn(row, name))) {
      const found = Object.keys(row).join(", ") || "none";
      refuse(`a row must have the columns ${this.columns.join(", ")}; it has ${found}.`);
    }
    const value = (name, k) => (listed ? row[k] : Object.hasOwn(row, name) ? row[name] : null);
    const values = new Float64Array(this.columns.length);
    this.columns.forEach((name, k) => (values[k] = this.#directed(value(name, k), k)));
    return values;
  }

  #directed(value, k) {
    if (value === null || value === undefined) return NaN;
    const shown = () => JSON.stringify(String(value));
    if (typeof value !== "number") refuse(`${this.columns[k]} must be a number; it is ${shown()}.`);
    return this.#known.signs[k] * value;
  }
}

// --- the score ---

function uncertainty(known, values) {
  const scaled = known.scale(values);
  const { weight, high, low } = known.overshoot;
  const length = Math.sqrt(known.map(scaled).reduce((total, image) => total + image * image, 0));
  if (weight === 0) return length;
  const beyond = scaled.map((z, k) => Math.max(z - high[k], 0, low ? low[k] - z : 0));
  return length + weight * Math.hypot(...beyond);
}

/** Held-back scores that equal the row's to nine digits count against it. */
function pValue(held, found) {
  const exceeded = below(held.scores, found * held.tie);
  const counted = held.tails ? held.tails[exceeded] : held.scores.length - exceeded;
  return (1 + counted) / (held.count + 1);
}

/** Return how many of some increasing numbers lie below a value. */
function below(numbers, value) {
  let [low, high] = [0, numbers.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (numbers[middle] < value) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Return what a column adds to the sets without it, weighted by how often each precedes it in a random order. */
function averageStep(games, m, player) {
  const factorial = [1];
  for (let n = 1; n <= m; n++) factorial.push(n * factorial[n - 1]);
  let total = 0;
  for (let members = 0; members < games.length; members++) {
    if ((members >> player) & 1) continue;
    let size = 0;
    for (let rest = members; rest; rest >>= 1) size += rest & 1;
    const share = (factorial[size] * factorial[m - 1 - size]) / factorial[m];
    total += (games[members + (1 << player)] - games[members]) * share;
  }
  return total;
}

// --- scaling ---

function scalerOf(found, active) {
  const m = active.length;
  const [lower, span] = [numbers(found.lower, "scaling.lower", m), numbers(found.span, "scaling.span", m)];
  if (!span.every((width) => width > 0)) refuse('"scaling.span" must be above 0.');
  const weights = found.weights === null ? null : numbers(found.weights, "scaling.weights", m);
  const knots = found.knots === null ? null : list(found.knots, "scaling.knots", m).map(knotsOf);
  const limit = number(found.limit, "scaling.limit");
  const signed = flag(found.signed, "scaling.signed");
  return (values) => {
    const scaled = new Float64Array(m);
    for (let k = 0; k < m; k++) {
      const value = values[active[k]];
      let z = Math.min(Math.max((value - lower[k]) / span[k], -limit), limit);
      if (knots) z = throughKnots(value, knots[k], z);
      if (signed) z = 2 * z - 1;
      scaled[k] = weights ? z * weights[k] : z;
    }
    return scaled;
  };
}

function knotsOf(found, k) {
  const at = increasing(found?.at, `scaling.knots[${k}].at`, 2);
  return { at, level: numbers(found.level, `scaling.knots[${k}].level`, at.length) };
}

/** Return the level of a value between the knots; outside of them, what it was. */
function throughKnots(value, { at, level }, outside) {
  const last = at.length - 1;
  if (value < at[0] || value > at[last]) return outside;
  let j = Math.min(below(at, value), last);
  if (at[j] === value) return level[j];
  j -= 1;
  return ((value - at[j]) / (at[j + 1] - at[j])) * (level[j + 1] - level[j]) + level[j];
}

// --- the map: weights of a grid of points, two halves of the columns at a time ---

function mapOf(found, m) {
  const axes = list(found?.axes, "map.axes", m).map((axis, k) => increasing(axis, `map.axes[${k}]`, 2));
  const potentials = numbers(found.potentials, "map.potentials", axes.reduce((size, axis) => size * axis.length, 1));
  const epsilon = number(found.epsilon, "map.epsilon");
  if (!(epsilon > 0)) refuse('"map.epsilon" must be above 0.');
  const nearest = numbers(found.nearest, "map.nearest", m, -Infinity);
  const farthest = numbers(found.farthest, "map.farthest", m, Infinity);
  const origin = numbers(found.origin, "map.origin", m);
  const half = found.half === null ? null : numbers(found.half, "map.half", m, Infinity);
  if (half && !half.every((width) => width > 0)) refuse('"map.half" must be above 0.');
  const box = found.box === null ? null : boxOf(found.box, m);
  const steps = axes.map(stepOf);
  const split = m >> 1;
  const [first, second] = [meshOf(axes.slice(0, split)), meshOf(axes.slice(split))];
  const cells = new Map();
  const home = weightsAt(origin);

  function weightsAt(centre) {
    const tilts = axes.map((axis, k) => {
      const part = axis.map((t) => -((centre[k] - t) * (centre[k] - t)) / epsilon);
      const top = largest(part);
      return part.map((each) => each - top);
    });
    const level = potentials.map((each, j) => each + sumAt(tilts, j));
    const top = largest(level);
    return level.map((each) => Math.exp(each - top));
  }

  function cellOf(near) {
    if (!half) return [origin, home];
    const places = Array.from(near, (z, k) => rounded((z - origin[k]) / (2 * half[k])));
    if (places.every((place) => place === 0)) return [origin, home];
    const key = places.join();
    if (!cells.has(key)) {
      if (cells.size >= MOST_CELLS) cells.clear();
      const centre = origin.map((c, k) => c + (half[k] === Infinity ? 0 : places[k] * 2 * half[k]));
      cells.set(key, [centre, weightsAt(centre)]);
    }
    return cells.get(key);
  }

  return (scaled) => {
    if (box && box.contains(scaled)) return box.images(scaled);
    const near = scaled.map((z, k) => Math.max(Math.min(z, farthest[k]), nearest[k]));
    const [centre, weights] = cellOf(near);
    const factors = axes.map((axis, k) => exponentials(axis, (2 / epsilon) * (near[k] - centre[k]), steps[k]));
    return projected(weights, kronecker(factors.slice(0, split)), kronecker(factors.slice(split)), first, second);
  };
}

/** Return the mean coordinates of the grid points, weighted by V[i, j] P[i] Q[j]. */
function projected(weights, P, Q, first, second) {
  const [left, right] = [new Float64Array(P.length), new Float64Array(Q.length)];
  for (let i = 0, at = 0; i < P.length; i++) {
    let total = 0;
    for (let j = 0; j < Q.length; j++, at++) {
      total += weights[at] * Q[j];
      right[j] += weights[at] * P[i];
    }
    left[i] = total * P[i];
  }
  for (let j = 0; j < Q.length; j++) right[j] *= Q[j];
  const [all, total] = [sum(left), sum(right)];
  return [...first.map((t) => dot(left, t) / all), ...second.map((t) => dot(right, t) / total)];
}

/** Return exp((t - e) slope) at the points of an axis, with the edge e where it is largest. */
function exponentials(axis, slope, step) {
  const up = slope > 0;
  if (step === null) return axis.map((t) => Math.exp((t - (up ? axis[axis.length - 1] : axis[0])) * slope));
  const fall = Math.exp(-step * Math.abs(slope));
  const powers = new Float64Array(axis.length);
  for (let j = 0, power = 1; j < axis.length; j++, power *= fall) powers[up ? axis.length - 1 - j : j] = power;
  return powers;
}

/** Return the distance between the points of an axis; null where it varies. */
function stepOf(axis) {
  const steps = Array.from(axis.subarray(1), (t, j) => t - axis[j]);
  const mean = sum(steps) / steps.length;
  return largest(steps) + largest(steps.map((each) => -each)) <= 1e-12 * mean ? mean : null;
}

/** Return, for each axis, its coordinate at every point of the grid of all of them. */
function meshOf(axes) {
  return axes.map((_, k) => kronecker(axes.map((axis, j) => (j === k ? axis : axis.map(() => 1)))));
}

/** Return the sum of one entry per axis, those of a place in the flat grid. */
function sumAt(tilts, place) {
  let [total, rest] = [0, place];
  const entries = [];
  for (let k = tilts.length - 1; k >= 0; k--) {
    entries[k] = tilts[k][rest % tilts[k].length];
    rest = Math.floor(rest / tilts[k].length);
  }
  for (const entry of entries) total += entry;
  return total;
}

/** Return the products of every choice of one entry per factor, the last factor's fastest. */
function kronecker(factors) {
  let made = factors[0] ?? Float64Array.of(1);
  for (const factor of factors.slice(1)) {
    const next = new Float64Array(made.length * factor.length);
    for (let i = 0, at = 0; i < made.length; i++) {
      for (let j = 0; j < factor.length; j++, at++) next[at] = made[i] * factor[j];
    }
    made = next;
  }
  return made;
}

// --- the map inside of a box, as a short sum ---

function boxOf(found, m) {
  const part = (name) => numbers(found?.[name], `map.box.${name}`, m);
  const [centre, half, middle] = [part("centre"), part("half"), part("middle")];
  const bases = list(found.bases, "map.box.bases", m).map((basis, k) => matrix(basis, `map.box.bases[${k}]`));
  const split = m >> 1;
  const first = halfOf(found.first, "map.box.first", bases.slice(0, split));
  const second = halfOf(found.second, "map.box.second", bases.slice(split));
  if (first.terms !== second.terms) refuse('"map.box" must have as many terms in both halves.');
  return {
    contains: (scaled) => scaled.every((z, k) => Math.abs(z - centre[k]) <= half[k]),
    images: (scaled) => {
      const tables = bases.map((basis, k) => basis.map((each) => chebyshev(each, (scaled[k] - centre[k]) / half[k])));
      const [f, g] = [first.values(tables.slice(0, split)), second.values(tables.slice(split))];
      const total = dot(f[0], g[0]);
      const slopes = [...f.slice(1).map((each) => dot(each, g[0])), ...g.slice(1).map((each) => dot(each, f[0]))];
      return slopes.map((slope, k) => slope / total + middle[k]);
    },
  };
}

function halfOf(found, name, bases) {
  const layer = (each, k) => matrix(each, `${name}.matrix[${k}]`);
  const layers = list(found?.matrix, `${name}.matrix`, 1 + bases.length).map(layer);
  const stairs = numbers(found.stairs, `${name}.stairs`);
  const [steps, most] = bases.length < 2 ? [1, bases[0]?.length ?? 1] : bases.map((basis) => basis.length);
  const whole = (count) => Number.isInteger(count) && count > 0 && count <= most;
  const products = bases.length < 2 ? most : sum(stairs);
  if (stairs.length !== steps || !stairs.every(whole)) refuse(`"${name}.stairs" does not fit the bases.`);
  const terms = layers[0].length;
  if (!layers.every((each) => each.length === terms && each[0].length === products)) {
    refuse(`"${name}.matrix" does not fit the stairs.`);
  }
  const values = (tables) => {
    const made = productsOf(tables, stairs);
    return layers.map((rows) => rows.map((row) => dot(row, made)));
  };
  return { terms, values };
}

function productsOf(tables, stairs) {
  if (tables.length < 2) return tables[0] ?? [1];
  return tables[0].flatMap((value, k) => tables[1].slice(0, stairs[k]).map((each) => value * each));
}

/** Return a sum of Chebyshev polynomials at x, the last degree first. */
function chebyshev(coefficients, x) {
  let [one, two] = [0, 0];
  for (let n = coefficients.length - 1; n > 0; n--) [one, two] = [coefficients[n] + 2 * x * one - two, one];
  return coefficients[0] + x * one - two;
}

// --- a file is not trusted: what makes no sense is refused ---

function checked(found) {
  if (found === null || typeof found !== "object" || found.kind !== KIND) {
    refuse("this is no model that vecuq exported as JSON.");
  }
  if (found.version !== VERSION) {
    const shown = JSON.stringify(found.version);
    refuse(`this script reads version ${VERSION} of the format; the model has ${shown}.`);
  }
  const columns = names(found.columns, "columns");
  const flipped = names(found.flipped, "flipped");
  if (!flipped.every((name) => columns.includes(name))) refuse('"flipped" must name columns.');
  const active = Array.from(increasing(found.active, "active", 1));
  const isPlace = (k) => Number.isInteger(k) && k >= 0 && k < columns.length;
  if (!active.every(isPlace)) refuse('"active" must hold places of columns.');
  if (active.length > MOST_COLUMNS) {
    refuse(`at most ${MOST_COLUMNS} active columns can be scored; the model has ${active.length}.`);
  }
  return {
    active,
    signs: columns.map((name) => (flipped.includes(name) ? -1 : 1)),
    medians: found.medians === null ? null : numbers(found.medians, "medians", columns.length),
    scale: scalerOf(found.scaling ?? {}, active),
    map: mapOf(found.map, active.length),
    overshoot: overshootOf(found.overshoot, active.length),
    held: found.held === null ? null : heldOf(found.held),
  };
}

function overshootOf(found, m) {
  const weight = number(found?.weight, "overshoot.weight");
  const low = found.low === null ? null : numbers(found.low, "overshoot.low", m);
  return { weight, high: numbers(found.high, "overshoot.high", m), low };
}

function heldOf(found) {
  const scores = numbers(found?.scores, "held.scores");
  const falls = scores.some((score, j) => score < scores[j - 1]);
  if (!scores.length || falls) refuse('"held.scores" must be increasing.');
  const count = number(found.count, "held.count");
  const tails = found.tails === null ? null : numbers(found.tails, "held.tails", scores.length + 1);
  const fits = Number.isInteger(count) && count >= 1 && (tails !== null || count === scores.length);
  if (!fits) refuse('"held.count" does not fit.');
  return { scores, count, tails, tie: number(found.tie, "held.tie") };
}

function parsed(text) {
  try {
    return JSON.parse(text);
  } catch (error) {
    return refuse(`this is not JSON: ${error.message}`);
  }
}

function refuse(what) {
  throw new Error(`vecuq: ${what}`);
}

function number(value, name) {
  return typeof value === "number" && Number.isFinite(value) ? value : refuse(`"${name}" must be a number.`);
}

function flag(value, name) {
  return typeof value === "boolean" ? value : refuse(`"${name}" must be true or false.`);
}

function list(value, name, count) {
  if (!Array.isArray(value)) refuse(`"${name}" must be a list.`);
  if (count !== undefined && value.length !== count) {
    refuse(`"${name}" must have ${count} entries; it has ${value.length}.`);
  }
  return value;
}

/** Return a list of finite numbers; null stands for an infinite one where that is allowed. */
function numbers(value, name, count, infinite) {
  const one = (each) => (each === null && infinite !== undefined ? infinite : number(each, name));
  return Float64Array.from(list(value, name, count), one);
}

function increasing(value, name, least) {
  const found = numbers(value, name);
  if (found.length < least || found.some((each, j) => each <= found[j - 1])) {
    refuse(`"${name}" must hold ${least} or more increasing numbers.`);
  }
  return found;
}

function matrix(value, name) {
  const rows = list(value, name);
  if (!rows.length || !Array.isArray(rows[0]) || !rows[0].length) refuse(`"${name}" must be a table of numbers.`);
  return rows.map((row) => Array.from(numbers(row, name, rows[0].length)));
}

function names(value, name) {
  const found = list(value, name);
  if (!found.every((each) => typeof each === "string") || new Set(found).size !== found.length) {
    refuse(`"${name}" must be a list of different names.`);
  }
  return found;
}

// --- small arithmetic ---

function sum(values) {
  let total = 0;
  for (let j = 0; j < values.length; j++) total += values[j];
  return total;
}

function dot(left, right) {
  let total = 0;
  for (let j = 0; j < left.length; j++) total += left[j] * right[j];
  return total;
}

function largest(values) {
  let top = -Infinity;
  for (let j = 0; j < values.length; j++) if (values[j] > top) top = values[j];
  return top;
}

/** Round half to even, as NumPy does. */
function rounded(value) {
  const near = Math.round(value);
  return Math.abs(value % 1) === 0.5 && near % 2 !== 0 ? near - 1 : near;
}
