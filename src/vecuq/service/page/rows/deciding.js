// Deciding: which rows are flagged or accepted at the slider, what is known about their accuracy, and why.
// Everything is a pure function of the table, the model's description and the labels.

const SAME = 1e-9;
const SLACK = 1e-12; // as the library: 0.05 is not less than 1 / 20

/** The slider that a model allows: alpha (p-values), target (a gate), or the share of rows to look at. */
export function sliderOf(table, model) {
  if (model.gate && (table.accept || table.pWrong)) return { kind: "target", value: ownTarget(model.gate) ?? 0.9, own: Boolean(table.accept) };
  if (table.pValue) return { kind: "alpha", value: 0.05 };
  return { kind: "share", value: 0.1 };
}

/** The accuracy that a gate was fitted for; null where its target is another. */
export const ownTarget = (gate) => (gate.kind === "accuracy" ? gate.value : null);

/** The targets with a certificate: the gate's own, and those of its table, which hold all at once. */
export function certifiedTargets(gate) {
  const own = ownTarget(gate);
  const listed = (gate.table ?? []).filter(({ coverage, threshold }) => coverage > 0 && threshold !== null);
  const usable = gate.order === "model" && !gate.by_category && !gate.needs_batch ? listed : [];
  const found = usable.filter(({ accuracy }) => own === null || Math.abs(accuracy - own) > SAME)
    .map(({ accuracy, threshold }) => ({ target: accuracy, threshold, own: false }));
  if (own !== null && gate.certified) found.push({ target: own, threshold: gate.threshold, own: true });
  return found.sort((a, b) => a.target - b.target);
}

/**
 * Decide every row. Returns {accepted: Uint8Array, n, basis, flags}: basis is "alpha", "share", "certificate", "table",
 * "observed" or "estimated"; flags: whether what is not accepted is called flagged. A row without a score is not accepted.
 */
export function decide({ table, model, slider, walk }) {
  if (slider.kind === "alpha") return byLimit(table, (row) => table.pValue[row] > slider.value * (1 + SLACK), "alpha", true);
  if (slider.kind === "share") {
    const first = Math.round(slider.value * (table.n - table.nMissing));
    return byLimit(table, (row) => table.rank[row] >= first, "share", true);
  }
  if (slider.own) return byLimit(table, (row) => table.accept[row] === 1, "certificate", false);
  const certified = certifiedTargets(model.gate).find(({ target }) => Math.abs(target - slider.value) <= SAME);
  if (certified && !certified.own) {
    const safe = guarded(table, model.gate.guard);
    return byLimit(table, (row) => table.uncertainty[row] <= certified.threshold && safe(row), "table", false);
  }
  return byPlace(table, walk, slider.value);
}

const guarded = (table, guard) => (guard === null || guard === undefined || !table.pValue ? () => true : (row) => table.pValue[row] >= guard);

function byLimit(table, passes, basis, flags) {
  const accepted = new Uint8Array(table.n);
  let n = 0;
  for (let row = 0; row < table.n; row++) {
    if (table.uncertainty[row] === table.uncertainty[row] && passes(row)) { accepted[row] = 1; n++; }
  }
  return { accepted, n, basis, flags };
}

/** Accept the longest run of certain rows whose error rate is no more than the target allows. */
function byPlace(table, walk, target) {
  const accepted = new Uint8Array(table.n);
  let last = -1;
  if (walk) walk.wrong.forEach((wrong, k) => { if (walk.ends[k] && walk.known[k] && wrong <= (1 - target) * walk.known[k] + SAME) last = k; });
  for (let k = 0; k <= last; k++) accepted[walk.order[k]] = 1;
  return { accepted, n: last + 1, basis: walk?.basis ?? "observed", flags: false };
}

/**
 * Rows from the most certain to the least, with the wrong ones counted on the way: by labels where the table has them,
 * otherwise by the calibrated probability of being wrong. null where there is neither.
 */
export function walkOf(table, labels) {
  const losses = labels ? (row) => 1 - labels[row] : table.pWrong ? (row) => table.pWrong[row] : null;
  if (!losses) return null;
  const scored = table.n - table.nMissing;
  const order = table.ranked.slice(0, scored).reverse();
  const [wrong, known, ends] = [new Float64Array(scored), new Uint32Array(scored), new Uint8Array(scored)];
  let [sum, n] = [0, 0];
  for (let k = 0; k < scored; k++) {
    const loss = losses(order[k]);
    if (loss === loss) { sum += loss; n++; }
    wrong[k] = sum;
    known[k] = n;
    ends[k] = k + 1 === scored || table.uncertainty[order[k + 1]] > table.uncertainty[order[k]]; // equals go together
  }
  return { order, wrong, known, ends, basis: labels ? "observed" : "estimated" };
}

/** Accuracy of accepted rows against the share accepted, at most so many points. */
export function curveOf(table, walk, points = 300) {
  const [coverage, accuracy] = [[], []];
  const n = walk.order.length;
  const step = Math.max(1, Math.floor(n / points));
  for (let k = Math.min(step, n) - 1; k < n; k += step) {
    if (!walk.known[k]) continue;
    coverage.push((k + 1) / table.n);
    accuracy.push(1 - walk.wrong[k] / walk.known[k]);
  }
  return { coverage, accuracy };
}

/**
 * Whether the labels of this file contradict an accuracy that is certified: chance would show so few right rows in less
 * than one file of twenty (Chernoff). "contradicted", "below" where chance may explain it, or null.
 */
export function contradiction({ known, accuracy }, target) {
  if (!known || target === null || accuracy >= target - SAME) return null;
  const part = (p, q) => (p > 0 ? p * Math.log(p / q) : 0);
  const distance = target >= 1 ? Infinity : part(accuracy, target) + part(1 - accuracy, 1 - target);
  return known * distance > Math.log(20) ? "contradicted" : "below";
}

/** The accuracy that the decision is certified for; null where it is not. */
export function certifiedAccuracy({ basis }, slider, gate) {
  if (basis === "table") return slider.value;
  return basis === "certificate" && gate.certified ? ownTarget(gate) : null;
}

/** How many accepted rows have a label, and how many of these are right. */
export function observed(accepted, labels) {
  let [known, right] = [0, 0];
  for (let row = 0; row < accepted.length; row++) {
    if (accepted[row] && labels[row] === labels[row]) { known++; right += labels[row]; }
  }
  return { known, right, accuracy: known ? right / known : NaN };
}
