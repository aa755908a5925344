// Model: what it is, what it promises, and what it was calibrated on.

import { html, useMemo } from "../html.js";
import { count, moment, number, percent } from "../format.js";
import { Badge, Chart, Facts } from "../ui.js";
import { at } from "../rows/quantiles.js";
import { Strip } from "../rows/strips.js";

export const keys = [];
const KINDS = {
  model: "A ranker: several uncertainty scores become one order.",
  gate: "A gate: which rows may be trusted, with a certificate.",
  pipeline: "A pipeline: outputs of a classifier in, decisions out.",
  answer_pipeline: "A pipeline of answers: replies of a language model in, decisions out.",
};

export function View({ model }) {
  return html`<div class="cards model">
    <section class="card"><h2>${model.name}</h2><p>${KINDS[model.kind] ?? model.kind}</p>
      <${Facts} facts=${facts(model)} />
      <details><summary>Settings</summary><${Facts} facts=${Object.entries(model.settings).map(([name, value]) => [name, shown(value)])} /></details>
    </section>
    <section class="card"><h2>What it promises</h2>${model.gate ? html`<${Certificate} gate=${model.gate} />` : html`<${PValues} model=${model} />`}</section>
    <section class="card wide-card"><h2>Columns</h2><${Columns} model=${model} /></section>
    ${model.uncertaintyQuantiles && html`<section class="card wide-card"><h2>Uncertainty of the calibration rows</h2><${Distribution} quantiles=${model.uncertaintyQuantiles} gate=${model.gate} /></section>`}
  </div>`;
}

function facts(model) {
  return [
    ["takes", { rows: "rows of scores", answers: "answers of a language model", outputs: "outputs of a classifier" }[model.takes]],
    ["columns", count(model.columns.length)],
    ["rows of the map", count(model.n_map)],
    ["rows held back", `${count(model.n_held)}${model.n_held ? "" : ": no p-values"}`],
    ["smallest alpha", model.smallest_alpha === null ? null : number(model.smallest_alpha, 3)],
    ["what if", model.exportable ? "computed in the browser" : `computed by the service: ${model.not_exportable}`],
    ["generation", `${count(model.generation)}, loaded ${moment(model.loaded_at)}`],
    ["checksum", html`<code class="checksum">${model.checksum}</code>`],
  ];
}

const PValues = ({ model }) => (model.n_held
  ? html`<p>Of in-distribution rows, at most a share alpha has a p-value of alpha or less, for every alpha from ${number(model.smallest_alpha, 3)}. It holds on average over the calibration rows.</p>
    <p class="soft">Assumption: new in-distribution rows come as the calibration rows did. Nothing is promised about accuracy; a gate, fitted with labelled rows, does that.</p>`
  : html`<p>It orders rows. It holds no rows back, so there are no p-values.</p>`);

function Certificate({ gate }) {
  const { certificate } = gate;
  return html`<p>${gate.certified ? html`<${Badge} kind="accepted">certified<//>` : html`<${Badge} kind="missing">not certified<//>`} <strong>${certificate.promise}</strong></p>
    <p class="soft">Assumption: ${certificate.assumption}</p>
    <${Facts} facts=${[
      ["labels", `${count(certificate.n_labels)}${certificate.n_groups ? ` in ${count(certificate.n_groups)} groups` : ""}`],
      ["accepted", `${count(certificate.n_accepted)}, ${percent(certificate.coverage)} of the labelled rows`],
      ["wrong among these", number(certificate.n_errors)],
      [certificate.bounded, certificate.bound < 1 ? `at most ${number(certificate.bound)}` : "not bounded"],
      ["confidence", percent(certificate.confidence)],
      ["accepted up to", certificate.threshold === null ? null : `${gate.order === "model" ? "uncertainty" : gate.order} ${number(certificate.threshold, 6)}`],
      ["order", gate.order],
      ["guard", gate.guard === null ? null : `rows with a p-value below ${number(gate.guard)} are deferred`],
      ["issued", moment(certificate.date)],
    ]} />
    ${gate.table?.length > 0 && html`<${Table} caption="Certified accuracies, all at once" head=${["accuracy", "coverage", "uncertainty up to"]}
      rows=${gate.table.map((line) => [percent(line.accuracy), line.coverage > 0 ? percent(line.coverage) : "not certified", line.threshold === null ? "–" : number(line.threshold, 6)])} />
      <p class="soft small">These hold all at once, which asks for more proof: as one of several targets an accuracy covers fewer rows than as the
        only target, so its threshold here is lower than that of a gate fitted for it alone.</p>`}
    ${certificate.units?.length > 0 && html`<${Table} caption="By category" head=${["category", "labels", "coverage", ""]}
      rows=${certificate.units.map((one) => [one.unit, count(one.n_labels), percent(one.coverage), one.certified ? "certified" : "nothing accepted"])} />`}`;
}

const Table = ({ caption, head, rows }) => html`<div class="scroll-x" tabindex="0" role="region" aria-label=${caption}><table class="plain-table model-table"><caption class="soft small">${caption}</caption>
  <thead><tr>${head.map((each) => (each ? html`<th key=${each} scope="col">${each}</th>` : html`<td></td>`))}</tr></thead>
  <tbody>${rows.map((row, k) => html`<tr key=${k}>${row.map((each, j) => (j ? html`<td class="number">${each}</td>` : html`<th scope="row">${each}</th>`))}</tr>`)}</tbody></table></div>`;

function Columns({ model }) {
  return html`<ul class="model-columns">${model.columns.map((name) => {
    const quantiles = model.quantiles[name];
    return html`<li key=${name}><span class="strip-name" title=${name}>${name}</span>
      <span class="soft small">${model.constant.includes(name) ? "constant" : model.flipped.has(name) ? "higher is more confident" : "higher is more uncertain"}</span>
      ${quantiles ? html`<${Strip} quantiles=${quantiles} />` : html`<span></span>`}
      <span class="soft small number">${quantiles ? `${number(quantiles[0], 3)} … ${number(at(quantiles, 0.5), 3)} … ${number(quantiles[100], 3)}` : `median ${number(model.medians[name], 3)}`}</span></li>`;
  })}</ul><p class="soft small">Line: all calibration rows, thick: 98 % of them, box: the middle half, with the median.</p>`;
}

function Distribution({ quantiles, gate }) {
  const data = useMemo(() => [quantiles, quantiles.map((_, k) => k / 100)], [quantiles]);
  const markers = gate?.threshold === null || !gate ? [] : [{ x: gate.threshold, colour: "wrong" }];
  const words = `Share of calibration rows up to an uncertainty: half up to ${number(at(quantiles, 0.5), 3)}, 95 % up to ${number(at(quantiles, 0.95), 3)}.`;
  return html`<${Chart} data=${data} height=${220} series=${[{ label: "share" }]} markers=${markers} label=${words} x=${{ label: "uncertainty" }} y=${{ label: "share of rows", format: (each) => percent(each, 0) }} />
    <p class="soft small">${words}${markers.length ? " Dashed: rows are accepted up to here." : ""}</p>`;
}

const shown = (value) => (value === null ? "–" : typeof value === "object" ? JSON.stringify(value) : String(value));
