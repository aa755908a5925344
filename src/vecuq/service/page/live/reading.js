// Reading: the live view of the service as lines to draw. Steps are put together, so that a curve has about 120 points.

import { get } from "../api.js";

export const WINDOWS = {
  minutes: { title: "10 minutes", series: "seconds", step: 1, together: 5, seconds: 600 },
  day: { title: "24 hours", series: "minutes", step: 60, together: 10, seconds: 86400 },
};

export const readLive = (model, signal) => get(`/live?${new URLSearchParams({ model })}`, { signal });

/** Return {time, rate, accepted, flagged, missing, drift, bound, state, n}: shares are null where no row came. */
export function lines(live, window) {
  const { series, step, together } = WINDOWS[window];
  const found = live.series[series];
  const slots = slotsOf(found.time, step, together, live.time);
  const sum = (name) => slots.map(({ from, to }) => total(found[name], from, to));
  const last = (name) => slots.map(({ from, to }) => found[name].slice(from, to).findLast((each) => each !== null) ?? null);
  const rows = sum("rows");
  const share = (name) => sum(name).map((each, k) => (rows[k] ? each / rows[k] : null));
  return {
    time: slots.map(({ time }) => time), rate: rows.map((each, k) => each / slots[k].lasted),
    accepted: live.totals.accepted === null ? null : share("accepted"), flagged: live.totals.flagged === null ? null : share("flagged"),
    missing: share("missing"), drift: last("drift"), bound: last("bound"), state: last("state"),
    n: { rows: total(found.rows), accepted: total(found.accepted), flagged: total(found.flagged), missing: total(found.missing) },
  };
}

/** Steps that are drawn as one point, at the time of its end. A point that has hardly begun is left for later. */
function slotsOf(time, step, together, now) {
  const slots = [];
  for (let k = 0; k < time.length; k++) {
    const slot = Math.floor(time[k] / (step * together));
    if (slots.at(-1)?.slot === slot) slots.at(-1).to = k + 1;
    else slots.push({ slot, from: k, to: k + 1 });
  }
  const timed = slots.map(({ slot, from, to }) => {
    const end = Math.min((slot + 1) * step * together, now);
    return { from, to, time: end, lasted: Math.max(end - time[from], 1) };
  });
  return timed.length > 1 && timed.at(-1).lasted < Math.max(step, 3) ? timed.slice(0, -1) : timed;
}

const total = (values, from = 0, to = values.length) => values.slice(from, to).reduce((sum, each) => sum + (each ?? 0), 0);

/** Rows per second over the last so many seconds. */
export function rateNow(live, seconds = 10) {
  const { time, rows } = live.series.seconds;
  const from = time.findIndex((each) => each >= Math.floor(live.time) - seconds);
  return from < 0 ? 0 : total(rows, from) / Math.max(live.time - time[from], 1);
}
