// Compare: two columns beside the combined order.

import { html, useCallback, useMemo, useState } from "../html.js";
import { count, number } from "../format.js";
import { correlation, meanPlaces, placesOf, shared } from "./comparing.js";
import { axisOf, density, dots, nearest, Plane, target } from "./plane.js";

export function ComparePanel({ table, model, row, pick }) {
  const names = table.scored;
  const [[one, two], setNames] = useState([names[0], names[1] ?? "uncertainty"]);
  const [ranks, setRanks] = useState(true);
  const [size, setSize] = useState(Math.max(1, Math.min(100, Math.round(table.n / 10))));
  const places = (name) => placesOf(table, name, model.flipped.has(name));
  const combined = useMemo(() => places("uncertainty"), [table]);
  const first = useMemo(() => places(one), [table, one]);
  const second = useMemo(() => places(two), [table, two]);
  const together = useMemo(() => shared(combined, first, second, size), [combined, first, second, size]);
  const related = useMemo(() => related3(table, [one, two], { combined, first, second }), [combined, first, second]);
  const x = useMemo(() => shownAxis(table, one, first, ranks), [first, ranks]);
  const y = useMemo(() => shownAxis(table, two, second, ranks), [second, ranks]);
  const draw = useCallback((pen) => {
    density(pen);
    dots(pen, table.ranked.subarray(0, Math.min(size, 5000)), "wrong", table.n > 2000 ? 1.5 : 2.5);
    if (row >= 0) target(pen, x.values[row], y.values[row]);
  }, [x, y, size, row]);
  const select = (k, value, label) => html`<label class="field inline">${label} <select value=${value}
    onChange=${(event) => setNames((old) => old.map((each, j) => (j === k ? event.target.value : each)))}>
    ${[...names, "uncertainty"].map((name) => html`<option key=${name} value=${name}>${name}</option>`)}</select></label>`;
  return html`<div class="stack">
    <div class="pair">${select(0, one, "First")}${select(1, two, "Second")}</div>
    <div><label class="inline"><input type="checkbox" checked=${ranks} onChange=${(event) => setRanks(event.target.checked)} /> ranks</label></div>
    <${Plane} label=${`Rows by ${one} and ${two}; the ${count(size)} most uncertain rows by the combined order stand out`} x=${x} y=${y} draw=${draw}
      onPick=${(a, b, pen) => { const found = nearest(pen, a, b); if (found >= 0) pick(found); }} />
    <label class="slider-line"><span>Most uncertain</span>
      <input type="range" min="1" max=${Math.max(table.n - table.nMissing, 1)} value=${size} aria-valuetext=${`${count(size)} rows`} onInput=${(event) => setSize(event.target.valueAsNumber)} />
      <output class="number">${count(size)}</output></label>
    <table class="plain-table"><caption class="soft small">Of the ${count(together.k)} most uncertain rows by the combined order (coloured):</caption><tbody>
      <tr><th scope="row">also among the top ${count(size)} by ${one}</th><td class="number">${count(together.first)}</td></tr>
      <tr><th scope="row">also among the top ${count(size)} by ${two}</th><td class="number">${count(together.second)}</td></tr>
      <tr><th scope="row">by both</th><td class="number">${count(together.both)}</td></tr>
      <tr><th scope="row">by neither: only the combination finds them</th><td class="number">${count(together.neither)}</td></tr>
    </tbody></table>
    <p class="soft small">Rank correlation: ${one} and ${two} ${number(related[0], 2)}; with the combined order ${number(related[1], 2)} and ${number(related[2], 2)}.</p>
  </div>`;
}

function related3(table, [one, two], { combined, first, second }) {
  const [c, a, b] = [["uncertainty", combined], [one, first], [two, second]].map(([name, places]) => meanPlaces(table, name, places));
  return [correlation(a, b), correlation(a, c), correlation(b, c)];
}

/** The axis of values, or of ranks from 0 (most certain) to 1 (most uncertain). */
function shownAxis(table, name, places, ranks) {
  if (!ranks) return axisOf(name, name === "uncertainty" ? table.uncertainty : table.numbers(name));
  const last = Math.max(table.n - 1, 1);
  return { name: `${name}, rank`, values: places.map((place) => 1 - place / last), low: -0.02, high: 1.02, ends: [0, 1] };
}
