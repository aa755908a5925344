// Nothing: why a queue is empty, and what would fill it.

import { html } from "../html.js";
import { Empty } from "../ui.js";
import { KINDS } from "./words.js";

export const NoStore = ({ what = "This service keeps no feedback" }) => html`<${Empty} title=${what}>
  <p>Start it with a store, a file in which scored rows and labels are kept:</p>
  <p><code>vecuq serve model.vecuq --store feedback.db</code></p>
  <p>Then score rows with an <code>id</code>.</p><//>`;

export const NoGate = ({ model }) => html`<${Empty} title="This model has no gate to audit">
  <p>An audit checks the promise of a gate. ${model.name} has none that promises an accuracy with confidence.
    Certify one with labelled rows, and serve it:</p>
  <p><code>vecuq gate model.vecuq labelled.parquet --correct is_correct --accuracy 0.95 -o gate.vecuq</code></p><//>`;

export function Nothing({ deck, labelled }) {
  const [title, text] = KINDS[deck.kind].empty;
  return html`<${Empty} title=${labelled ? "All done" : title}>
    <p>${labelled ? "Every row of this queue has a label. New ones appear here by themselves." : text}</p>
    <p><button disabled=${deck.loading} onClick=${() => deck.load()}>Look again</button></p><//>`;
}
