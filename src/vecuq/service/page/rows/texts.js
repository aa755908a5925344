// Texts: question, answer and samples of a row of answers. Everything is text, whatever it looks like.

import { html } from "../html.js";

export function Texts({ table, row }) {
  const question = table.value("question", row);
  const samples = listed(table.value("samples", row));
  return html`<div class="texts">
    ${question && html`<h3>Question</h3><p class="prose">${question}</p>`}
    <h3>Answer</h3><p class="prose answer">${table.value("answer", row) ?? "–"}</p>
    ${samples.length > 0 && html`<details open=${samples.length <= 5}><summary>${samples.length} ${samples.length === 1 ? "sample" : "samples"}</summary>
      <ol class="samples">${samples.map((each, k) => html`<li key=${k} class="prose">${each}</li>`)}</ol></details>`}
  </div>`;
}

/** The samples of a cell, which holds a JSON list. */
export function listed(cell) {
  try {
    const found = JSON.parse(cell ?? "[]");
    return Array.isArray(found) ? found.map((each) => (typeof each === "string" ? each : (each?.text ?? JSON.stringify(each)))) : [];
  } catch {
    return [String(cell)];
  }
}
