// State: whether the promise of a gate is proven, unproven or broken, in a shape, a word and a sentence.

import { count, number, percent } from "../format.js";
import { html } from "../html.js";

const SHAPES = {
  proven: html`<circle cx="12" cy="12" r="10" /><path d="M7 12.5l3.4 3.4L17 9" class="cut" />`,
  unproven: html`<circle cx="12" cy="12" r="9" class="open" /><path d="M9.2 9.6a2.8 2.8 0 1 1 4 2.6c-.8.4-1.2.9-1.2 1.8M12 16.6v.2" class="stroke" />`,
  broken: html`<path d="M8 2h8l6 6v8l-6 6H8l-6-6V8z" /><path d="M8.5 8.5l7 7m0-7l-7 7" class="cut" />`,
};
const WORDS = { proven: "Proven", unproven: "Unproven", broken: "Broken" };

export function State({ gate }) {
  return html`<div class="live-state ${gate.state}">
    <svg viewBox="0 0 24 24" width="40" height="40" aria-hidden="true">${SHAPES[gate.state]}</svg>
    <div><p class="live-word">${WORDS[gate.state]}</p><p>${sentence(gate)}</p></div>
  </div>`;
}

function sentence({ state, bound, allowed, confidence, counted }) {
  const promise = `errors among accepted rows are at most ${percent(allowed)}`;
  if (!counted) return `The promise: ${promise}. No audit label counts yet, so nothing is known.`;
  if (state === "broken") return `The promise was: ${promise}. The audit labels contradict it. Recalibrate the gate.`;
  const found = `${count(counted)} audited rows show at most ${percent(bound)} errors (confidence ${number(confidence)})`;
  if (state === "proven") return `${found}, and ${percent(allowed)} are allowed.`;
  return `${found}, and ${percent(allowed)} are allowed. More labels must show it.`;
}
