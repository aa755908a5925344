// Plane: many rows in two dimensions on a canvas, as a density with some rows on top.

import { html, useEffect, useRef } from "../html.js";
import { ink, useSize, useTheme } from "../hooks.js";
import { number } from "../format.js";

const MARGIN = { left: 46, right: 10, top: 10, bottom: 34 };
const CELL = 3; // pixels of a cell of the density

/** draw(pen): see penOf. onPick(x, y): a click, in the units of the axes. */
export function Plane({ label, x, y, height = 260, draw, onPick }) {
  const [place, width] = useSize();
  const canvas = useRef();
  const theme = useTheme();
  useEffect(() => {
    if (!width) return;
    const dense = window.devicePixelRatio || 1;
    Object.assign(canvas.current, { width: Math.round(width * dense), height: Math.round(height * dense) });
    const context = canvas.current.getContext("2d");
    context.scale(dense, dense);
    const pen = penOf(context, { x, y, width, height });
    axes(pen);
    draw(pen);
  }, [width, height, theme, draw, x, y]);
  const picked = (event) => {
    const box = canvas.current.getBoundingClientRect();
    const pen = penOf(null, { x, y, width, height });
    onPick?.(pen.valueX(event.clientX - box.left), pen.valueY(event.clientY - box.top), pen);
  };
  return html`<div class="plane" ref=${place}><canvas ref=${canvas} role="img" aria-label=${label}
    style=${{ width: "100%", height: `${height}px`, cursor: onPick ? "pointer" : "default" }} onClick=${picked}></canvas></div>`;
}

/** An axis over values and, if given, the calibration quantiles; rows far outside are drawn at its ends. */
export function axisOf(name, values, quantiles) {
  const step = Math.max(1, Math.floor(values.length / 5000));
  const sample = Float64Array.from({ length: Math.ceil(values.length / step) }, (_, k) => values[k * step]).filter(Number.isFinite).sort();
  const ends = sample.length ? [sample[Math.floor(0.002 * sample.length)], sample[Math.min(sample.length - 1, Math.ceil(0.998 * sample.length))]] : [];
  const all = [...ends, ...(quantiles ? [quantiles[0], quantiles[quantiles.length - 1]] : [])];
  const [low, high] = all.length ? [Math.min(...all), Math.max(...all)] : [0, 1];
  const room = 0.03 * (high - low || 1);
  return { name, values, quantiles, low: low - room, high: high + room };
}

function penOf(context, { x, y, width, height }) {
  const [wide, tall] = [width - MARGIN.left - MARGIN.right, height - MARGIN.top - MARGIN.bottom];
  const unit = (axis, value) => Math.min(Math.max((value - axis.low) / (axis.high - axis.low), 0), 1);
  return {
    context, x, y, width, height, wide, tall, left: MARGIN.left, top: MARGIN.top,
    px: (value) => MARGIN.left + unit(x, value) * wide,
    py: (value) => MARGIN.top + (1 - unit(y, value)) * tall,
    valueX: (at) => x.low + ((at - MARGIN.left) / wide) * (x.high - x.low),
    valueY: (at) => y.low + (1 - (at - MARGIN.top) / tall) * (y.high - y.low),
  };
}

function axes(pen) {
  const { context: c, x, y, wide, tall, left, top, width, height } = pen;
  c.clearRect(0, 0, width, height);
  c.strokeStyle = ink("line");
  c.strokeRect(left - 0.5, top - 0.5, wide + 1, tall + 1);
  c.fillStyle = ink("soft");
  c.font = "11px system-ui, sans-serif";
  c.textAlign = "center";
  ticks(x).forEach((value, k) => { c.textAlign = ["left", "center", "right"][k]; c.fillText(number(value, 2), pen.px(value), top + tall + 14); });
  c.textAlign = "center";
  c.fillText(clipped(c, x.name, wide), left + wide / 2, height - 6);
  c.textAlign = "right";
  ticks(y).forEach((value, k) => c.fillText(number(value, 2), left - 5, pen.py(value) + 4 * k));
  c.save();
  c.translate(10, top + tall / 2);
  c.rotate(-Math.PI / 2);
  c.textAlign = "center";
  c.fillText(clipped(c, y.name, tall), 0, 0);
  c.restore();
}

const ticks = ({ low, high, ends = [low, high] }) => [ends[0], (ends[0] + ends[1]) / 2, ends[1]];

function clipped(context, text, room) {
  if (context.measureText(text).width <= room) return text;
  let end = text.length;
  while (end > 1 && context.measureText(`${text.slice(0, end)}…`).width > room) end--;
  return `${text.slice(0, end)}…`;
}

/** Draw all rows as a density: the more rows in a cell, the stronger its colour. */
export function density(pen, colour = "soft") {
  const { context: c, x, y, wide, tall, left, top } = pen;
  const [across, down] = [Math.ceil(wide / CELL), Math.ceil(tall / CELL)];
  const counts = new Uint32Array(across * down);
  let most = 0;
  for (let row = 0; row < x.values.length; row++) {
    const [a, b] = [x.values[row], y.values[row]];
    if (a !== a || b !== b) continue;
    const i = Math.min(across - 1, Math.floor((pen.px(a) - left) / CELL));
    const j = Math.min(down - 1, Math.floor((pen.py(b) - top) / CELL));
    most = Math.max(most, ++counts[j * across + i]);
  }
  c.fillStyle = ink(colour);
  const strongest = Math.log1p(most);
  counts.forEach((n, at) => {
    if (!n) return;
    c.globalAlpha = 0.2 + 0.65 * (Math.log1p(n) / strongest);
    c.fillRect(left + (at % across) * CELL, top + Math.floor(at / across) * CELL, CELL, CELL);
  });
  c.globalAlpha = 1;
}

/** Draw some rows as dots. */
export function dots(pen, rows, colour, size = 2) {
  const { context: c, x, y } = pen;
  c.fillStyle = ink(colour);
  for (const row of rows) {
    if (x.values[row] !== x.values[row] || y.values[row] !== y.values[row]) continue;
    c.beginPath();
    c.arc(pen.px(x.values[row]), pen.py(y.values[row]), size, 0, 2 * Math.PI);
    c.fill();
  }
}

/** Draw a ring with a cross, which no density hides. */
export function target(pen, a, b) {
  if (!Number.isFinite(a) || !Number.isFinite(b)) return;
  const { context: c } = pen;
  const [at, up] = [pen.px(a), pen.py(b)];
  for (const [colour, weight] of [["paper", 5], ["wrong", 2.5]]) {
    c.strokeStyle = ink(colour);
    c.lineWidth = weight;
    c.beginPath();
    c.arc(at, up, 7, 0, 2 * Math.PI);
    c.stroke();
  }
  c.lineWidth = 1;
}

/** Return the row nearest to a point, within 12 pixels; -1 where there is none. */
export function nearest(pen, a, b) {
  const [at, up] = [pen.px(a), pen.py(b)];
  let [best, found] = [144, -1];
  for (let row = 0; row < pen.x.values.length; row++) {
    const [dx, dy] = [pen.px(pen.x.values[row]) - at, pen.py(pen.y.values[row]) - up];
    const distance = dx * dx + dy * dy;
    if (distance < best) [best, found] = [distance, row];
  }
  return found;
}
