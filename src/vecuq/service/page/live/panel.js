// Panel: one chart with its title, what its lines mean, and the same numbers as a table for those who cannot see it.

import { html, useState } from "../html.js";
import { Chart } from "../ui.js";

/**
 * lines: [{label, values, drawn, colour, dash, fill}], drawn where it differs from the values; format: of the values; label: what the chart says, in words.
 * time: seconds since 1970, one per value; range: of y, as the chart takes it; ticks: format of its axis.
 */
export function Panel({ title, time, lines, format, ticks = format, label, window, range, children }) {
  const [open, setOpen] = useState(false);
  const clock = clockOf(window);
  const across = { time: true, format: tickOf, range: (low, high) => [Math.min(low, high - window.seconds / 20), high] };
  return html`<section class="card live-panel">
    <header class="bar"><h2 class="grow">${title}</h2>${lines.length > 1 && html`<${Legend} lines=${lines} />`}</header>
    ${children}
    ${time.length > 0 && html`
      <${Chart} data=${[time, ...lines.map(({ values, drawn = values }) => drawn)]} series=${lines.map(({ values, drawn, ...line }) => ({ ...line, points: time.length < 3 }))} label=${label}
        height=${190} x=${across} y=${{ format: ticks, range }} />
      <details onToggle=${(event) => setOpen(event.target.open)}><summary>As a table</summary>
        ${open && html`<${Numbers} time=${time} lines=${lines} format=${format} clock=${clock} title=${title} />`}</details>`}
  </section>`;
}

const Legend = ({ lines }) => html`<ul class="live-legend small soft">${lines.map(({ label, colour = "accent", dash }) => html`
  <li key=${label}><svg width="22" height="8" aria-hidden="true"><path d="M0 4h22" style=${{ stroke: `var(--${colour})` }} stroke-width="2" stroke-dasharray=${dash?.join(" ")} /></svg>${label}</li>`)}</ul>`;

/** The newest first; more than fifty lines say no more. */
function Numbers({ time, lines, format, clock, title }) {
  const step = Math.ceil(time.length / 50);
  const places = time.map((_, k) => time.length - 1 - k).filter((_, k) => k % step === 0);
  return html`<div class="live-scroll" tabindex="0" role="region" aria-label="${title}, as a table"><table class="live-numbers">
    <thead><tr><th scope="col">time</th>${lines.map(({ label }) => html`<th scope="col" key=${label}>${label}</th>`)}</tr></thead>
    <tbody>${places.map((k) => html`<tr key=${time[k]}><th scope="row">${clock(time[k])}</th>
      ${lines.map(({ label, values }) => html`<td key=${label}>${values[k] === null || values[k] === undefined ? "–" : format(values[k])}</td>`)}</tr>`)}</tbody>
  </table></div>`;
}

/** The minute, or the seconds between two minutes. */
function tickOf(seconds) {
  const rest = Math.round(seconds) % 60;
  return rest ? `:${String(rest).padStart(2, "0")}` : clockOf({ step: 60 })(seconds);
}

function clockOf({ step }) {
  const shown = { hour: "2-digit", minute: "2-digit", ...(step < 60 && { second: "2-digit" }), hourCycle: "h23" };
  return (seconds) => new Date(1000 * seconds).toLocaleTimeString(undefined, shown);
}
