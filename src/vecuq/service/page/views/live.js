// Live: the running service. What comes in, what is accepted, whether rows drift, and whether the gate keeps its promise.

import { ago, count, number, percent } from "../format.js";
import { html, useState } from "../html.js";
import { Bound, Drift, Rate, Shares } from "../live/panels.js";
import { usePoll } from "../live/poll.js";
import { lines, rateNow, readLive, WINDOWS } from "../live/reading.js";
import { NoStore } from "../queue/nothing.js";
import { Failure, useKeys } from "../ui.js";

export const keys = [["t", "10 minutes or 24 hours"]];

/** model: its description; active: whether this view is on screen. */
export function View({ model, active }) {
  const [chosen, choose] = useState("minutes");
  const [live, failure, at] = usePoll((signal) => readLive(model.name, signal), { seconds: 2, active, inputs: [model.name] });
  useKeys({ t: () => choose(chosen === "minutes" ? "day" : "minutes") }, active);
  if (failure?.error === "no_store") return html`<${NoStore} what="This service keeps no live view" />`;
  if (!live) return failure ? html`<${Failure} failure=${failure} />` : html`<p class="soft pad">Loading …</p>`;
  const found = lines(live, chosen);
  return html`
    <div class="bar live-top">
      <div class="live-windows" role="group" aria-label="Time shown">${Object.entries(WINDOWS).map(([key, { title }]) => html`
        <button key=${key} aria-pressed=${key === chosen} onClick=${() => choose(key)}>${title}</button>`)}</div>
      <p class="soft small live-fresh" role="status">${failure ? html`<span class="badge missing">stale</span> ${failure.message} Last answer ${ago((Date.now() - at) / 1000)}; trying again.` : "Updated every 2 s"}</p>
    </div>
    <${Tiles} live=${live} n=${found.n} title=${WINDOWS[chosen].title} />
    ${live.totals.rows === 0 && html`<div class="notice"><span>No row was scored since the service started. Rows appear here as soon as they are.</span></div>`}
    <div class="live-panels">
      ${live.gate ? html`<${Bound} found=${found} window=${WINDOWS[chosen]} gate=${live.gate} toQueue=${() => { location.hash = "#/queue"; }} />` : html`<${NoPromise} name=${live.model} />`}
      ${live.drift ? html`<${Drift} found=${found} window=${WINDOWS[chosen]} drift=${live.drift} />` : html`<${NoDrift} />`}
      <${Rate} found=${found} window=${WINDOWS[chosen]} />
      <${Shares} found=${found} window=${WINDOWS[chosen]} alpha=${live.alpha} />
    </div>`;
}

function Tiles({ live, n, title }) {
  const { gate } = live;
  const share = (name) => (live.totals[name] === null ? null : percent(n[name] / n.rows));
  return html`<dl class="live-tiles">
    <${Tile} name="rows per second" value=${number(rateNow(live), 3)} note="last 10 s" />
    <${Tile} name="rows" value=${count(n.rows)} note="${title}, repeats counted" />
    <${Tile} name="accepted" value=${share("accepted")} note=${title} />
    <${Tile} name="flagged" value=${share("flagged")} note="p-value up to ${number(live.alpha)}" />
    <${Tile} name="missing" value=${share("missing")} note="no score" />
    ${gate && html`<${Tile} name="audits pending" value=${count(gate.pending)} note=${gate.overdue ? `${count(gate.overdue)} overdue` : "none overdue"} late=${gate.overdue > 0} />`}
  </dl>`;
}

const Tile = ({ name, value, note, late = false }) => value !== null && html`<div class="live-tile">
  <dt>${name}</dt><dd><span class="live-value number">${value}</span> <small class=${late ? "live-late" : "soft"}>${late ? "! " : ""}${note}</small></dd></div>`;

const NoPromise = ({ name }) => html`<section class="card live-panel"><h2>Error rate of accepted rows</h2>
  <p>${name} has no gate that promises an accuracy with confidence, so there is no bound to watch. Certify one with labelled rows, and serve it:</p>
  <p><code>vecuq gate model.vecuq labelled.parquet --correct is_correct --accuracy 0.95 -o gate.vecuq</code></p></section>`;

const NoDrift = () => html`<section class="card live-panel"><h2>Evidence of drift</h2>
  <p>This model kept no calibration rows, so new rows have nothing to be compared with. Fit it again with this version of vecuq.</p></section>`;
