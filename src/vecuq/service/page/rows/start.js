// Start: drop, choose or paste rows; then what is happening to them.

import { html, useEffect, useRef, useState } from "../html.js";
import { bytes, percent } from "../format.js";
import { failed } from "../ui.js";
import { ENDINGS, fromFile, fromText } from "./intake.js";

const TAKEN = {
  rows: "csv, tsv, parquet, Arrow or jsonl, with the columns of the model.",
  answers: "Answers of a language model as jsonl, or pasted as JSON.",
  outputs: "Outputs of a classifier as npz.",
};

export function Start({ model, by, setBy, map, setMap, again, begin, active }) {
  const [pasted, setPasted] = useState("");
  const chooser = useRef();
  const take = (making) => Promise.resolve().then(making).then(begin, failed);
  const over = useDrop((file) => take(() => fromFile(file)), active);
  const paste = (event) => { event.preventDefault(); take(() => fromText(pasted)); };
  return html`<div class="start">
    <div class="drop ${over ? "over" : ""}">
      <h2>Drop a file to score it</h2>
      <p class="soft">${TAKEN[model.takes]} It is scored, and nothing is kept.</p>
      <p><button class="primary" onClick=${() => chooser.current.click()}>Choose a file</button>
        <input ref=${chooser} type="file" hidden accept=${ENDINGS} aria-label="File" onChange=${(event) => { const [file] = event.target.files; if (file) take(() => fromFile(file)); event.target.value = ""; }} /></p>
      ${model.takesRows && html`<p class="soft small columns-needed">Columns: ${model.columns.map((name, k) => html`${k ? ", " : ""}<code>${name}</code>`)}</p>`}
    </div>
    ${model.gate?.by_category && html`<label class="field">Column with the category of each row, which this gate needs
      <input value=${by} onInput=${(event) => setBy(event.target.value)} /></label>`}
    ${again && html`<${Fields} name=${again.name} map=${map} setMap=${setMap} begin=${() => begin(again)} />`}
    ${model.takes !== "outputs" && html`<form class="paste" onSubmit=${paste}>
      <label class="field">Or paste rows: csv with a header, cells of a spreadsheet, or JSON
        <textarea rows="6" spellcheck=${false} value=${pasted} onInput=${(event) => setPasted(event.target.value)} placeholder=${example(model)}></textarea></label>
      <div class="actions"><button disabled=${!pasted.trim()}>Score pasted rows</button></div>
    </form>`}
  </div>`;
}

/** Which fields hold what, for answers in a form of their own. */
const Fields = ({ name, map, setMap, begin }) => html`<form class="card fields" onSubmit=${(event) => { event.preventDefault(); begin(); }}>
  <label class="field">Fields of ${name}: which hold the question, the answer, the samples
    <input value=${map} required spellcheck=${false} autocomplete="off" placeholder="question=q,answer=reply,samples=drawn" onInput=${(event) => setMap(event.target.value)} /></label>
  <div class="actions"><button class="primary">Score it with these fields</button></div></form>`;

function example(model) {
  if (model.isAnswers) return '{"question": "…", "answer": "…", "samples": ["…", "…"]}';
  const values = model.columns.map((name) => (model.quantiles[name] ? +model.quantiles[name][50].toPrecision(3) : 0));
  return `${model.columns.join(",")}\n${values.join(",")}`;
}

/** Call take(file) when a file is dropped anywhere on the page; return whether one is over it. */
export function useDrop(take, active) {
  const [over, setOver] = useState(false);
  const latest = useRef(take);
  latest.current = take;
  useEffect(() => {
    if (!active) return undefined;
    const hasFile = (event) => event.dataTransfer?.types.includes("Files");
    const handlers = {
      dragover: (event) => { if (hasFile(event)) { event.preventDefault(); setOver(true); } },
      dragleave: (event) => { if (!event.relatedTarget) setOver(false); },
      drop: (event) => { if (!hasFile(event)) return; event.preventDefault(); setOver(false); const [file] = event.dataTransfer.files; if (file) latest.current(file); },
    };
    Object.entries(handlers).forEach(([name, handler]) => window.addEventListener(name, handler));
    return () => Object.entries(handlers).forEach(([name, handler]) => window.removeEventListener(name, handler));
  }, [active]);
  return over;
}

const PHASES = { sending: "Sending", waiting: "Scoring", reading: "Reading", decoding: "Preparing" };

export function Progress({ name, phase, done, total, cancel }) {
  const part = total ? done / total : null;
  return html`<div class="progress" role="status">
    <h2>${PHASES[phase]} ${name}</h2>
    <progress aria-label=${PHASES[phase]} max="1" value=${part ?? undefined}></progress>
    <p class="soft number">${part === null ? (done ? bytes(done) : "…") : `${percent(part, 0)} of ${bytes(total)}`}</p>
    <button onClick=${cancel}>Cancel</button>
  </div>`;
}
