// Chart: a curve drawn by uPlot, as wide as its place, in the colours of the theme, with a description in words.

import { html, useEffect, useRef } from "./html.js";
import { ink, useSize, useTheme } from "./hooks.js";
import { uPlot } from "./vendor.js";

/**
 * data: [x, y1, y2 ...]; series: [{label, colour: token, dash, points, width, fill}]; label: what it shows, in words.
 * options: further options of uPlot (scales, hooks); x and y: {label, format}; markers: [{x, colour, dash}] vertical.
 */
export function Chart({ data, series, label, height = 200, x = {}, y = {}, markers = [], options = {} }) {
  const [place, width] = useSize();
  const plot = useRef(null);
  const theme = useTheme();
  const shown = useRef({ data, markers });
  shown.current = { data, markers };
  const shape = JSON.stringify([series, x.label, y.label, height, options.scales, options.time]);

  useEffect(() => {
    if (!width) return undefined;
    let gone = false;
    uPlot().then((Plot) => {
      if (gone) return;
      const chosen = chartOptions({ series, x, y, width, height, options, markers: () => shown.current.markers });
      plot.current = new Plot(chosen, shown.current.data, place.current);
    });
    return () => { gone = true; plot.current?.destroy(); plot.current = null; };
  }, [Boolean(width), theme, shape]);
  useEffect(() => { if (width) plot.current?.setSize({ width, height }); }, [width, height]);
  useEffect(() => { plot.current?.setData(data); }, [data, JSON.stringify(markers)]);

  return html`<div class="chart" role="img" aria-label=${label} ref=${place} style=${{ minHeight: `${height}px` }}></div>`;
}

function chartOptions({ series, x, y, width, height, options, markers }) {
  const [soft, line] = [ink("soft"), ink("line")];
  const axis = ({ label, format }) => ({
    stroke: soft, grid: { stroke: line, width: 1 }, ticks: { stroke: line, width: 1, size: 4 },
    font: "12px system-ui", labelFont: "12px system-ui", labelSize: 22, label,
    ...(format && { values: (_, ticks) => ticks.map((tick) => (tick === null ? "" : format(tick))) }),
  });
  const lines = series.map(({ label, colour = "accent", width: weight = 2, dash, points = false, fill }) => ({
    label, stroke: ink(colour), width: weight, dash, points: { show: points, size: points ? 7 : 5, fill: ink(colour), filter: alone },
    ...(fill && { fill: ink(fill) }), spanGaps: false,
  }));
  return {
    width, height, legend: { show: false }, cursor: { y: false, points: { size: 6 } },
    axes: [{ ...axis(x), size: 28, labelSize: 18 }, { ...axis(y), size: 52 }], scales: { x: { time: Boolean(options.time) } },
    ...options, series: [{}, ...lines], hooks: { draw: [(plot) => drawMarkers(plot, markers())] },
  };
}

/** Places of points without a neighbour, which no line reaches; null where there are none. */
export function alone(plot, k, all) {
  if (all) return null;
  const values = plot.data[k];
  const none = (place) => values[place] === null || values[place] === undefined;
  const found = values.map((_, place) => place).filter((place) => !none(place) && none(place - 1) && none(place + 1));
  return found.length ? found : null;
}

function drawMarkers(plot, markers) {
  const { ctx, bbox } = plot;
  for (const { x, colour = "ink", dash = [4, 4] } of markers) {
    const at = Math.round(plot.valToPos(x, "x", true));
    if (!(at >= bbox.left && at <= bbox.left + bbox.width)) continue;
    ctx.save();
    ctx.strokeStyle = ink(colour);
    ctx.lineWidth = devicePixelRatio;
    ctx.setLineDash(dash.map((each) => each * devicePixelRatio));
    ctx.beginPath();
    ctx.moveTo(at, bbox.top);
    ctx.lineTo(at, bbox.top + bbox.height);
    ctx.stroke();
    ctx.restore();
  }
}
