// Score map: where a row lies among all rows and the calibration rows, over two columns or a column and the uncertainty.

import { html, useCallback, useMemo, useState } from "../html.js";
import { ink, useLoad } from "../hooks.js";
import { contour } from "./contours.js";
import { axisOf, density, nearest, Plane, target } from "./plane.js";
import { at } from "./quantiles.js";
import { browserScorer } from "./scoring.js";

const SCORE = "uncertainty";
const LEVELS = [[0.5, [1, 3]], [0.9, [5, 3]], [0.99, []]]; // of the calibration rows, and how each line is dashed
const ACROSS = 41;

export function ScoreMap({ table, model, row, body, pick }) {
  const names = [...table.scored, SCORE];
  const [chosen, setChosen] = useState([names[0], names.length > 2 ? names[1] : SCORE]);
  const [first, second] = chosen.map((name) => (names.includes(name) ? name : names[0]));
  const [scorer] = useLoad(() => browserScorer(model), [model.checksum]);
  const x = useMemo(() => axis(table, model, first), [table, first]);
  const y = useMemo(() => axis(table, model, second), [table, second]);
  const lines = Boolean(scorer) && first !== SCORE && second !== SCORE && first !== second && model.uncertaintyQuantiles;
  const draw = useCallback((pen) => {
    outline(pen);
    density(pen);
    if (lines) levels(pen, scorer, model, body, [first, second]);
    target(pen, x.values[row], y.values[row]);
  }, [x, y, row, lines]);
  const select = (k, label) => html`<label class="field inline">${label} <select value=${chosen[k]}
    onChange=${(event) => setChosen((old) => old.map((each, j) => (j === k ? event.target.value : each)))}>
    ${names.map((name) => html`<option key=${name} value=${name}>${name}</option>`)}</select></label>`;
  return html`<div class="score-map">
    <div class="pair">${select(0, "Across")}${select(1, "Up")}</div>
    <${Plane} label=${`All rows by ${first} and ${second}; this row is marked by a ring`} x=${x} y=${y} draw=${draw}
      onPick=${(a, b, pen) => { const found = nearest(pen, a, b); if (found >= 0) pick(found); }} />
    <p class="soft small">Boxes: the middle half and 98 % of the calibration rows, by each column.${lines ? " Lines: rows with these two values, the others as here, would be more uncertain than 50, 90, 99 % of them." : ""}</p>
  </div>`;
}

function axis(table, model, name) {
  const quantiles = name === SCORE ? model.uncertaintyQuantiles : model.quantiles[name];
  return axisOf(name, name === SCORE ? table.uncertainty : table.numbers(name), quantiles);
}

function outline(pen) {
  const { context: c, x, y } = pen;
  if (!x.quantiles || !y.quantiles) return;
  for (const [low, high, colour] of [[0.01, 0.99, "raised"], [0.25, 0.75, "accent-soft"]]) {
    const [left, right] = [pen.px(at(x.quantiles, low)), pen.px(at(x.quantiles, high))];
    const [bottom, top] = [pen.py(at(y.quantiles, low)), pen.py(at(y.quantiles, high))];
    c.fillStyle = ink(colour);
    c.fillRect(left, top, right - left, bottom - top);
    c.strokeStyle = ink("edge");
    c.strokeRect(left, top, right - left, bottom - top);
  }
}

function levels(pen, scorer, model, body, [first, second]) {
  const { context: c, x, y, wide, tall, left, top } = pen;
  const [a, b] = [scorer.columns.indexOf(first), scorer.columns.indexOf(second)];
  const values = scorer.columns.map((name) => body[name] ?? (model.quantiles[name] ? at(model.quantiles[name], 0.5) : null));
  const heights = new Float64Array(ACROSS * ACROSS);
  for (let j = 0; j < ACROSS; j++) {
    for (let i = 0; i < ACROSS; i++) {
      values[a] = x.low + (i / (ACROSS - 1)) * (x.high - x.low);
      values[b] = y.high - (j / (ACROSS - 1)) * (y.high - y.low);
      heights[j * ACROSS + i] = scorer.score(values).uncertainty ?? NaN;
    }
  }
  c.strokeStyle = ink("accent");
  c.lineWidth = 1.5;
  for (const [part, dash] of LEVELS) {
    c.setLineDash(dash);
    c.beginPath();
    for (const [x1, y1, x2, y2] of contour(heights, ACROSS, at(model.uncertaintyQuantiles, part))) {
      c.moveTo(left + (x1 / (ACROSS - 1)) * wide, top + (y1 / (ACROSS - 1)) * tall);
      c.lineTo(left + (x2 / (ACROSS - 1)) * wide, top + (y2 / (ACROSS - 1)) * tall);
    }
    c.stroke();
  }
  c.setLineDash([]);
  c.lineWidth = 1;
}
