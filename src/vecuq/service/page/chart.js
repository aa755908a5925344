// Chart: curves as SVG, as wide as their place, in the colours of the theme, with a description in words.

import { html, useMemo, useState } from "./html.js";
import { useSize } from "./hooks.js";

const [LEFT, RIGHT, TOP, BOTTOM, LABEL] = [52, 22, 8, 24, 18];
// Seconds between two ticks of a time axis that people read easily.
const CLOCK = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14400, 28800, 86400];

/**
 * data: [x, y1, y2 ...], x increasing, null where there is no value; label: what the chart says, in words.
 * series: [{label, colour: token, dash, points, width, fill}]; markers: [{x, colour, dash}], vertical lines.
 * x, y: {label, format, range: [low, high] with null where the data decide, or (low, high) => range; time: true for seconds since 1970}.
 */
export function Chart({ data, series, label, height = 200, x = {}, y = {}, markers = [] }) {
  const [place, width] = useSize();
  return html`<div class="chart" role="img" aria-label=${label} ref=${place} style=${{ height: `${height}px` }}>
    ${width > 0 && html`<${Curves} ...${{ data, series, width, height, x, y, markers }} />`}</div>`;
}

function Curves({ data, series, width, height, x, y, markers }) {
  const [pointed, point] = useState(null);
  const box = { left: LEFT + (y.label ? LABEL : 0), right: width - RIGHT, top: TOP, bottom: height - BOTTOM - (x.label ? LABEL : 0) };
  const across = scale(data[0], x, box.left, box.right), up = scale(data.slice(1).flat(), y, box.bottom, box.top);
  const shape = [data, width, height, ...across.range, ...up.range];
  const paths = useMemo(() => series.map((_, k) => pathOf(data[0], data[k + 1], across, up)), shape);
  const move = (event) => point(nearest(data[0], across.back(event.clientX - event.currentTarget.getBoundingClientRect().left)));
  return html`<svg width=${width} height=${height} aria-hidden="true" onPointerMove=${move} onPointerLeave=${() => point(null)}>
    <${Axes} ...${{ x, y, across, up, box }} />
    ${series.map(({ fill }, k) => fill && html`<path d=${areaOf(paths[k], box.bottom)} style=${{ fill: `var(--${fill})` }} />`)}
    ${series.map(({ colour = "accent", width: weight = 2, dash }, k) => weight > 0 && html`<path d=${paths[k].line} fill="none" stroke-width=${weight}
      stroke-dasharray=${dash?.join(" ")} stroke-linejoin="round" style=${{ stroke: `var(--${colour})` }} />`)}
    ${series.map(({ colour = "accent", points = false }, k) => dotsOf(data[k + 1], points).map((at) =>
      html`<circle cx=${across(data[0][at])} cy=${up(data[k + 1][at])} r=${points ? 4 : 2.5} style=${{ fill: `var(--${colour})` }} />`))}
    ${markers.filter(({ x: at }) => across(at) >= box.left && across(at) <= box.right).map(({ x: at, colour = "ink", dash = [4, 4] }) =>
      html`<path class="chart-marker" d="M${across(at)} ${box.top}V${box.bottom}" stroke-dasharray=${dash.join(" ")} style=${{ stroke: `var(--${colour})` }} />`)}
    ${pointed !== null && html`<${Pointed} ...${{ at: pointed, data, series, x, y, across, up, box }} />`}
  </svg>`;
}

function Axes({ x, y, across, up, box }) {
  return html`<g class="chart-axes">
    ${up.ticks.map((tick) => html`<path d="M${box.left} ${up(tick)}H${box.right}" /><text x=${box.left - 6} y=${up(tick) + 4} text-anchor="end">${words(y, tick)}</text>`)}
    ${across.ticks.map((tick) => html`<path d="M${across(tick)} ${box.top}V${box.bottom}" /><text x=${across(tick)} y=${box.bottom + 16} text-anchor="middle">${words(x, tick)}</text>`)}
    ${x.label && html`<text x=${(box.left + box.right) / 2} y=${box.bottom + 34} text-anchor="middle">${x.label}</text>`}
    ${y.label && html`<text transform="translate(14 ${(box.top + box.bottom) / 2}) rotate(-90)" text-anchor="middle">${y.label}</text>`}
  </g>`;
}

/** The values under the pointer. */
function Pointed({ at, data, series, x, y, across, up, box }) {
  const known = series.map((_, k) => data[k + 1][at]).map((value, k) => [value, series[k]]).filter(([value]) => value !== null && value !== undefined);
  const place = across(data[0][at]), after = place < (box.left + box.right) / 2;
  const said = [words(x, data[0][at]), ...known.map(([value]) => words(y, value))].filter(Boolean).join(" · ");
  return html`<g class="chart-pointed"><path d="M${place} ${box.top}V${box.bottom}" />
    ${known.map(([value, { colour = "accent" }]) => html`<circle cx=${place} cy=${up(value)} r="3.5" style=${{ fill: `var(--${colour})` }} />`)}
    <text x=${place + (after ? 6 : -6)} y=${box.top + 12} text-anchor=${after ? "start" : "end"}>${said}</text></g>`;
}

const words = ({ format }, value) => (format ? format(value) : String(Number(value.toPrecision(6))));

/** A function from values to pixels, with its range, its ticks and the way back. */
function scale(values, { range, time }, from, to) {
  const [low, high] = ends(values, range);
  const place = (value) => from + ((value - low) / (high - low)) * (to - from);
  return Object.assign(place, { range: [low, high], ticks: ticksOf(low, high, Math.abs(to - from) / (from > to ? 36 : 80), time), back: (pixel) => low + ((pixel - from) / (to - from)) * (high - low) });
}

/** The range that is drawn; never of width 0. */
export function ends(values, range) {
  let [low, high] = [Infinity, -Infinity];
  for (const value of values) if (Number.isFinite(value)) { low = Math.min(low, value); high = Math.max(high, value); }
  if (low > high) [low, high] = [0, 1];
  const [least, most] = typeof range === "function" ? range(low, high) : range ?? [];
  low = least ?? low;
  high = most ?? high;
  return high > low ? [low, high] : [low, low + (Math.abs(low) || 1)];
}

/** Round values within a range, about so many. */
export function ticksOf(low, high, about, time) {
  const rough = (high - low) / Math.max(1, about), power = 10 ** Math.floor(Math.log10(rough));
  const step = time ? CLOCK.find((each) => each >= rough) ?? CLOCK.at(-1) : [1, 2, 5, 10].map((each) => each * power).find((each) => each >= rough * 0.999);
  const ticks = [];
  for (let k = Math.ceil(low / step - 1e-9); k * step <= high + 1e-9 * step && ticks.length < 50; k++) ticks.push(Number((k * step).toPrecision(12)));
  return ticks;
}

/** The line, broken where there is no value, and where each of its pieces begins and ends. */
function pathOf(xs, ys, across, up) {
  let line = "";
  const pieces = [];
  xs.forEach((x, k) => {
    if (missing(ys, k)) return;
    const at = `${across(x).toFixed(1)} ${up(ys[k]).toFixed(1)}`;
    const begins = missing(ys, k - 1);
    line += begins ? `M${at}` : `L${at}`;
    if (begins) pieces.push({ from: across(x), path: `M${at}` });
    else pieces.at(-1).path += `L${at}`;
    pieces.at(-1).to = across(x);
  });
  return { line, pieces };
}

const areaOf = ({ pieces }, bottom) => pieces.map(({ from, to, path }) => `${path}L${to} ${bottom}L${from} ${bottom}Z`).join("");

const missing = (values, at) => values[at] === null || values[at] === undefined;

/** Places of the values that are drawn as dots: all that there are, or those without a neighbour, which no line reaches. */
export function dotsOf(values, all) {
  return values.map((_, at) => at).filter((at) => !missing(values, at) && (all || (missing(values, at - 1) && missing(values, at + 1))));
}

/** The place whose value is nearest; null without any. */
function nearest(xs, x) {
  let best = null;
  xs.forEach((each, k) => { if (best === null || Math.abs(each - x) < Math.abs(xs[best] - x)) best = k; });
  return best;
}
