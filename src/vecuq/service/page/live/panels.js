// Panels: the four pictures of a running service: rows, shares, the bound, drift.

import { count, number, percent } from "../format.js";
import { html } from "../html.js";
import { Badge } from "../ui.js";
import { Panel } from "./panel.js";
import { State } from "./state.js";

// Powers of ten: evidence below is drawn at the edge and says only that there is no drift; above, that there is.
const [LOWEST, ABOVE_ALARM] = [-2, 3];

const MOST_STREAMS = 8;

export function Rate({ found, window }) {
  return html`<${Panel} title="Rows per second" time=${found.time} window=${window} format=${(each) => number(each, 3)}
    lines=${[{ label: "rows per second", values: found.rate, fill: "accent-soft" }]} range=${[0, null]}
    label="Rows per second over ${window.title}; ${count(found.n.rows)} rows in all." />`;
}

export function Shares({ found, window, alpha }) {
  const lines = [
    found.accepted && { label: "accepted", values: found.accepted, colour: "accent" },
    found.flagged && { label: `flagged at ${number(alpha)}`, values: found.flagged, colour: "wrong", dash: [6, 3] },
    { label: "missing", values: found.missing, colour: "edge", dash: [2, 3] },
  ].filter(Boolean);
  return html`<${Panel} title="Shares of rows" time=${found.time} window=${window} lines=${lines} format=${(each) => percent(each, 0)} range=${[0, 1]}
    label="Shares of rows over ${window.title}: ${lines.map(({ label }) => label).join(", ")}." />`;
}

export function Bound({ found, window, gate, toQueue }) {
  const allowed = found.time.map(() => gate.allowed);
  const top = (_, high) => [0, Math.min(1, 1.1 * Math.max(high, 1.5 * gate.allowed))];
  const known = gate.counted > 0;
  return html`<${Panel} title="Error rate of accepted rows" time=${known ? found.time : []} window=${window} range=${top} format=${(each) => percent(each)}
    lines=${[{ label: "proven bound", values: found.bound, drawn: found.bound.map((each) => (each < 1 ? each : null)) }, { label: `allowed ${percent(gate.allowed)}`, values: allowed, colour: "wrong", dash: [6, 4], width: 1.5 }]}
    label="Upper bound on the error rate of accepted rows: ${percent(gate.bound)} now, ${percent(gate.allowed)} allowed.">
    <${State} gate=${gate} />
    ${epochBefore(gate) && html`<p class="small soft">${epochBefore(gate)}</p>`}
    <p class="live-audits"><span>${auditWords(gate)}</span> ${gate.pending + gate.overdue > 0 && html`<button onClick=${toQueue}>Label them in the queue</button>`}</p>
  <//>`;
}

/** What the service says of the audit before this one, the first of its sentences; null where there was none. */
const epochBefore = ({ words = "" }) => /^Epoch .*?\.(?= |$)/.exec(words)?.[0] ?? null;

function auditWords({ audited, wrong, pending, overdue, accepted, audit }) {
  if (!accepted) return "No row with an id was accepted yet, so none could be drawn for the audit.";
  const late = overdue ? html`, <strong class="live-late">${count(overdue)} overdue</strong> (counted as wrong)` : "";
  return html`${count(audited)} of ${count(accepted)} accepted rows drawn (${percent(audit)}); ${count(wrong)} wrong so far; ${count(pending)} pending${late}.`;
}

export function Drift({ found, window, drift }) {
  const bar = Math.log10(drift.alarm_at);
  const top = Math.ceil(bar + ABOVE_ALARM);
  const alarm = found.time.map(() => bar);
  const values = found.drift.map((each) => (each === null ? null : Math.log10(each)));
  const drawn = values.map((each) => (each === null ? null : Math.min(Math.max(each, LOWEST), top)));
  return html`<${Panel} title="Evidence of drift" time=${found.time} window=${window} range=${[LOWEST, top]} format=${power} ticks=${(each) => (Number.isInteger(each) ? power(each) : "")}
    lines=${[{ label: "evidence, largest", values, drawn }, { label: `alarm at ${count(drift.alarm_at)}`, values: alarm, colour: "wrong", dash: [6, 4], width: 1.5 }]}
    label="Evidence of drift on a logarithmic scale, against the alarm at ${count(drift.alarm_at)}.">
    ${driftWords(drift)}
    ${drift.rows > 0 && html`<${Streams} drift=${drift} />`}
    ${drift.share < 1 && html`<p class="small soft">So many rows came that the monitor took a random ${percent(drift.share)} of them.</p>`}
  <//>`;
}

function driftWords({ alarms, rows, dependent, recalibrate }) {
  if (!rows) return html`<p class="soft">No row was watched yet.</p>`;
  if (!alarms.length) return html`<p><${Badge} kind="accepted">○ no drift found<//> in ${count(rows)} rows.</p>`;
  const first = Math.min(...alarms.map(({ row }) => row)) + 1;
  return html`<p><${Badge} kind="wrong">▲ drift since row ${count(first)}<//> ${alarms.map(({ stream, change, row }) => `${stream} ${change} (noticed at row ${count(row + 1)})`).join(", ")}.
    ${" "}${dependent ? "But rows that follow each other are alike, so this may be no drift." : recalibrate ? "P-values and thresholds hold no longer: recalibrate." : ""}</p>
    <p class="small soft">That was the first alarm; it stays until the model is replaced or the store is begun anew. Look at what changed
      with <code>vecuq doctor calibration.parquet new.parquet</code>; if rows will stay like this, fit the model again with new ones.</p>`;
}

/** The streams with the most evidence. */
function Streams({ drift }) {
  const sorted = Object.entries(drift.evidence).sort((a, b) => b[1] - a[1]);
  const raised = new Set(drift.alarms.map(({ stream }) => stream));
  return html`<dl class="live-streams small">${sorted.slice(0, MOST_STREAMS).map(([stream, each]) => html`<div key=${stream}>
    <dt>${raised.has(stream) ? "▲ " : ""}${stream}</dt><dd class="number">${each > 1e6 ? "> 1e6" : number(each, 2)}</dd></div>`)}
    ${sorted.length > MOST_STREAMS && html`<div><dt>and ${count(sorted.length - MOST_STREAMS)} more with less</dt></div>`}</dl>`;
}

/** Evidence from its power of ten, as people read it: 0.01, 1, 100, 1e6. */
function power(logarithm) {
  const value = 10 ** logarithm;
  return logarithm >= 5 ? value.toExponential(0).replace("e+", "e") : number(value, 2);
}
