// Decision: the slider, how many rows it flags or accepts, and what is known about their accuracy.

import { html, useMemo } from "../html.js";
import { count, number, percent } from "../format.js";
import { Chart, toast } from "../ui.js";
import { certifiedAccuracy, certifiedTargets, contradiction, curveOf, observed, ownTarget } from "./deciding.js";
import { labelColumns } from "./labels.js";

export function DecisionPanel({ table, model, slider, setSlider, decided, labels, label, setLabel, walk }) {
  const counted = useMemo(() => (labels ? observed(decided.accepted, labels) : null), [decided, labels]);
  const doubt = counted && contradiction(counted, certifiedAccuracy(decided, slider, model.gate));
  const Control = { alpha: Alpha, target: Target, share: Share }[slider.kind];
  return html`<div class="stack">
    <${Control} model=${model} table=${table} value=${slider.value} own=${slider.own}
      set=${(value, own = false) => setSlider({ ...slider, value, own: table.accept && (own || value === ownTarget(model.gate ?? {})) })} />
    <${Counts} table=${table} decided=${decided} counted=${counted} />
    ${doubt === "contradicted" && html`<${Contradicted} accuracy=${counted.accuracy} />`}
    <p class="small basis" role="status">${words({ slider, model, decided, counted, doubt })}</p>
    <${LabelChoice} table=${table} label=${label} setLabel=${setLabel} />
    ${labels && walk && html`<${Curve} table=${table} model=${model} walk=${walk} decided=${decided} counted=${counted} />`}
  </div>`;
}

const Contradicted = ({ accuracy }) => html`<div class="notice error" role="alert"><span>
  <strong>Certified for rows like the labelled ones; in this file only ${percent(accuracy, 1)} of the accepted rows are right.</strong>
  ${" "}These rows differ from the labelled ones: do not rely on the certificate here.</span></div>`;

function Counts({ table, decided, counted }) {
  const rest = table.n - decided.n;
  const tiles = decided.flags ? [["flagged", rest], ["not flagged", decided.n]] : [["accepted", decided.n], ["deferred", rest]];
  return html`<dl class="tiles">
    ${tiles.map(([name, n]) => html`<div key=${name}><dt>${name}</dt><dd><strong class="number" id="n-${name.replace(" ", "-")}">${count(n)}</strong> <span class="soft number">${percent(n / (table.n || 1))}</span></dd></div>`)}
    ${counted && html`<div><dt>accuracy of ${decided.flags ? "the others" : "accepted"}</dt><dd><strong class="number" id="accuracy">${percent(counted.accuracy, 2)}</strong>
      <span class="soft number">${count(counted.right)} of ${count(counted.known)}</span></dd></div>`}
  </dl>`;
}

/** Alpha moves on a logarithmic scale: small ones matter. */
function Alpha({ model, value, set }) {
  const least = Math.max(model.smallest_alpha ?? 0.001, 1e-5);
  return html`<label class="field">Flag rows with a p-value up to
    <span class="slider-line"><input type="range" id="slider" min=${Math.log10(least)} max=${Math.log10(0.5)} step="0.01" value=${Math.log10(value)}
        aria-valuetext=${`alpha ${number(value, 2)}`} onInput=${(event) => set(+(10 ** event.target.valueAsNumber).toPrecision(3))} />
      <input type="number" aria-label="alpha" min="0" max="1" step="any" value=${value} onChange=${(event) => typed(event.target, value, set)} /></span></label>`;
}

function Target({ model, table, value, own: isOwn, set }) {
  const certified = certifiedTargets(model.gate).filter(({ own }) => !own);
  const own = ownTarget(model.gate);
  return html`<div class="stack tight"><label class="field">Accept rows as long as this share of them is right
    <span class="slider-line"><input type="range" id="slider" min="0.5" max="1" step="0.005" list="targets" value=${value}
        aria-valuetext=${`accuracy ${percent(value)}`} onInput=${(event) => set(event.target.valueAsNumber)} />
      <span class="with-unit"><input type="number" aria-label="target accuracy in per cent" min="0" max="100" step="any" value=${inPercent(value)} onChange=${(event) => typedAccuracy(event.target, value, set)} /> %</span></span></label>
    <datalist id="targets">${certified.map(({ target }) => html`<option key=${target} value=${target}></option>`)}</datalist>
    <div class="bar small">
      ${table.accept && html`<button class="chip" aria-pressed=${Boolean(isOwn)} onClick=${() => set(own ?? value, true)}>As the gate decides${own === null ? "" : `: ${percent(own)}`}</button>`}
      ${certified.map(({ target }) => html`<button key=${target} class="chip" aria-pressed=${!isOwn && Math.abs(target - value) < 1e-9} onClick=${() => set(target)}>${percent(target)} certified</button>`)}</div>
  </div>`;
}

const Share = ({ value, set }) => html`<label class="field">Flag this share of the rows, the most uncertain
  <span class="slider-line"><input type="range" id="slider" min="0" max="1" step="0.005" value=${value} aria-valuetext=${percent(value)} onInput=${(event) => set(event.target.valueAsNumber)} />
    <output class="number">${percent(value)}</output></span></label>`;

function LabelChoice({ table, label, setLabel }) {
  const names = labelColumns(table);
  if (!names.length) return html`<p class="soft small">With a column that says which rows are right (0 or 1), accuracy and coverage are shown here.</p>`;
  const pick = (name) => setLabel(name ? { name, means: label?.means ?? "correct" } : null);
  return html`<div class="bar">
    <label class="field inline">Labels <select id="labels" value=${label?.name ?? ""} onChange=${(event) => pick(event.target.value)}>
      <option value="">none</option>${names.map((name) => html`<option key=${name} value=${name}>${name}</option>`)}</select></label>
    ${label && html`<label class="field inline">1 means <select id="means" value=${label.means} onChange=${(event) => setLabel({ ...label, means: event.target.value })}>
      <option value="correct">right</option><option value="wrong">wrong</option></select></label>`}
  </div>`;
}

function Curve({ table, model, walk, decided, counted }) {
  const { coverage, accuracy } = useMemo(() => curveOf(table, walk), [table, walk]);
  const points = useMemo(() => certifiedPoints(table, model), [table, model]);
  const data = useMemo(() => joined(coverage, accuracy, points), [coverage, accuracy, points]);
  const least = Math.min(...accuracy, ...points.map((each) => each.target), 0.99);
  const here = decided.n / (table.n || 1);
  return html`<figure class="curve"><${Chart} data=${data} height=${220} markers=${[{ x: here, colour: "wrong" }]}
      label=${`Accuracy of the accepted rows against the share accepted. At the slider: coverage ${percent(here)}, accuracy ${percent(counted?.accuracy)}.`}
      x=${{ label: "coverage", format: (each) => percent(each, 0), range: [0, 1] }} y=${{ label: "accuracy", format: (each) => percent(each, 1), range: [Math.max(0, least - 0.02), 1.003] }}
      series=${[{ label: "observed" }, { label: "certified", colour: "amber", width: 0, points: true }]} />
    <figcaption class="soft small">Line: observed in this file. Dashed: the slider.${points.length ? " Dots: certified, at least this accuracy at this coverage." : ""}</figcaption></figure>`;
}

/** What is certified, at the coverage that its threshold has in this file. */
function certifiedPoints(table, model) {
  if (!model.gate) return [];
  return certifiedTargets(model.gate).map(({ target, threshold, own }) => {
    const passes = own && table.accept ? (row) => table.accept[row] === 1 : (row) => table.uncertainty[row] <= threshold;
    let n = 0;
    for (let row = 0; row < table.n; row++) n += passes(row);
    return { target, coverage: n / (table.n || 1) };
  });
}

/** Two series over the same increasing places, as the chart wants them. */
function joined(coverage, accuracy, points) {
  const all = [...coverage.map((x, k) => [x, accuracy[k], null]), ...points.map(({ coverage: x, target }) => [x, null, target])].sort((a, b) => a[0] - b[0]);
  for (let k = 1; k < all.length; k++) all[k][1] ??= all[k - 1][1]; // the line goes on under a dot
  return [0, 1, 2].map((k) => all.map((each) => each[k]));
}

/** What the decision rests on, in words. */
function words({ slider, model, decided, counted, doubt }) {
  const { gate } = model;
  const seen = counted?.known && doubt !== "contradicted" ? ` In this file ${percent(counted.accuracy, 2)} of them are right${doubt === "below" ? ": fewer than promised, but with so few rows it may be chance" : ""}.` : "";
  switch (decided.basis) {
    case "alpha": return `Of in-distribution rows, at most ${percent(slider.value, 2)} are flagged on average. Rows without a score are flagged.`;
    case "share": return "This model keeps no rows back, so it has no p-values; the slider is a plain share.";
    case "certificate": return `${gate.certified ? "Certified: " : ""}${gate.certificate.promise}${seen}`;
    case "table": return `Certified, together with the other targets of the table: with confidence ${percent(gate.confidence)}, at least ${percent(slider.value)} of the accepted rows are right.${seen}`;
    case "estimated": return `Estimated from the probabilities of being wrong, not certified.${nearby(gate)}`;
    default: return `Observed, not certified.${nearby(gate)}`;
  }
}

function nearby(gate) {
  const targets = certifiedTargets(gate).map(({ target }) => percent(target));
  if (targets.length) return ` Certified targets: ${targets.join(", ")}.`;
  return ownTarget(gate) === null && gate.certificate ? ` The gate itself promises: ${gate.certificate.promise}` : " The labels of the gate certify no target.";
}

/** Use an alpha that was typed; one that is none is said so, and the field goes back to what holds. */
function typed(field, value, set) {
  const found = field.valueAsNumber;
  if (found > 0 && found <= 1) return set(found);
  field.value = value;
  return toast("Alpha is a share above 0 and up to 1, such as 0.05.", { kind: "error" });
}

/** Use an accuracy that was typed in per cent, 95, or as a share, 0.95. */
function typedAccuracy(field, value, set) {
  const found = field.valueAsNumber;
  const share = found > 1 ? +(found / 100).toPrecision(12) : found;
  const usable = share > 0 && share <= 1;
  field.value = inPercent(usable ? share : value);
  return usable ? set(share) : toast("The accuracy is above 0 and up to 100 %: type 95 or 0.95.", { kind: "error" });
}

const inPercent = (share) => +(100 * share).toPrecision(6);
