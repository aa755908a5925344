// Texts: the question, the answer and its samples; samples that say the same stand together.

import { html } from "../html.js";

export function Texts({ texts }) {
  const grouped = groups(texts.samples ?? []);
  return html`<div class="q-texts">
    ${texts.question && html`<section><h3>Question</h3><p class="q-text">${texts.question}</p></section>`}
    <section><h3>Answer</h3><p class="q-text q-answer">${texts.answer || html`<span class="soft">The answer is empty.</span>`}</p></section>
    ${grouped.length > 0 && html`<section><h3>${texts.samples.length === 1 ? "1 sample" : `${texts.samples.length} samples`}</h3>
      <ul class="q-samples">${grouped.map(({ text, n }) => html`<li key=${text}>
        <span class="q-times number" aria-label=${n === 1 ? "once" : `${n} times`}>${n}×</span>
        <span class="q-text">${text || html`<span class="soft">empty</span>`}</span>
        ${folded(text) === folded(texts.answer) && html`<span class="badge">as the answer</span>`}</li>`)}</ul></section>`}
  </div>`;
}

/** Samples and how often each came, the most frequent first. */
function groups(samples) {
  const found = new Map();
  for (const text of samples) {
    const known = found.get(folded(text));
    if (known) known.n += 1;
    else found.set(folded(text), { text, n: 1 });
  }
  return [...found.values()].sort((a, b) => b.n - a.n);
}

const folded = (text) => String(text ?? "").trim().toLowerCase().replace(/\s+/g, " ").replace(/[.!]$/, "");
