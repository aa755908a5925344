// What if: a slider for each column, and the score that the row would have.

import { html, useEffect, useState } from "../html.js";
import { number, percent } from "../format.js";
import { useLoad } from "../hooks.js";
import { Badge, failed } from "../ui.js";
import { browserScorer, canAskGate, gateSays, whatIf } from "./scoring.js";

/** body: the values of the row; uncertainty, pValue: what it has; gate: {accept, pWrong} of it; ranges: smallest and largest value by column. */
export function WhatIf({ model, body, by, ranges, uncertainty, pValue, gate }) {
  const [changed, setChanged] = useState({});
  const [score, setScore] = useState(null);
  const [verdict, setVerdict] = useState(null);
  const [scorer] = useLoad(() => browserScorer(model).then((found) => ({ found })), [model.checksum]);
  const names = Object.keys(body);
  const values = { ...body, ...changed };
  const reset = () => { setChanged({}); setScore(null); setVerdict(null); };
  useEffect(reset, [JSON.stringify(body)]);
  useEffect(() => {
    if (!scorer || !Object.keys(changed).length) return undefined;
    const stop = new AbortController();
    const run = () => whatIf(model, scorer.found, values, { signal: stop.signal }).then((found) => stop.signal.aborted || setScore(found), failed);
    const wait = scorer.found ? run() && 0 : setTimeout(run, 150); // by the service: not at every pixel
    return () => { stop.abort(); clearTimeout(wait); };
  }, [scorer, JSON.stringify(changed)]);
  useEffect(() => {
    if (!canAskGate(model) || !Object.keys(changed).length) return undefined;
    const stop = new AbortController();
    const ask = () => gateSays(model, values, { by, signal: stop.signal }).then((found) => stop.signal.aborted || setVerdict(found), failed);
    const wait = setTimeout(ask, 200);
    return () => { stop.abort(); clearTimeout(wait); };
  }, [JSON.stringify(changed)]);

  const shown = score ?? { uncertainty, pValue };
  return html`<div class="what-if">
    <p class="bar" aria-live="polite"><span>Uncertainty <strong class="number">${number(shown.uncertainty)}</strong></span>
      ${shown.pValue !== null && shown.pValue !== undefined && html`<span>p-value <strong class="number">${number(shown.pValue, 3)}</strong></span>`}
      ${canAskGate(model) && html`<${Verdict} ...${verdict ?? gate} />`}
      ${score && html`<span class="soft small">was ${number(uncertainty)}</span>`}
      <button class="small push" disabled=${!Object.keys(changed).length} onClick=${reset}>Reset</button></p>
    ${names.map((name) => html`<${Slider} key=${name} name=${name} value=${values[name]} changed=${name in changed} range=${ranges[name]} median=${model.medians[name]}
      set=${(value) => setChanged((old) => ({ ...old, [name]: value }))} />`)}
    <p class="soft small">${scorer?.found ? `Computed in this page${canAskGate(model) ? "; the decision by the service, and nothing is recorded" : ""}.` : "Computed by the service; nothing is recorded."}</p>
  </div>`;
}

/** What the gate says of the row; p wrong is its probability of being wrong. */
const Verdict = ({ accept, pWrong }) => html`
  ${accept !== null && html`<span class="verdict">${accept ? html`<${Badge} kind="accepted">accepted<//>` : html`<${Badge}>deferred<//>`}</span>`}
  ${pWrong !== null && html`<span>p wrong <strong class="number">${percent(pWrong)}</strong></span>`}`;

function Slider({ name, value, changed, range, median, set }) {
  const known = typeof value === "number" && Number.isFinite(value);
  const [low, high] = known ? [Math.min(range[0], value), Math.max(range[1], value)] : range;
  const room = (high - low || 1) * 0.1;
  return html`<label class="slider-line">
    <span class="strip-name" title=${name}>${name}</span>
    <input type="range" min=${low - room} max=${high + room} step="any" value=${known ? value : median}
      aria-valuetext=${known ? number(value) : "missing"} onInput=${(event) => set(event.target.valueAsNumber)} />
    <output class="number ${changed ? "changed" : "soft"}">${known ? number(value) : "missing"}</output>
  </label>`;
}
