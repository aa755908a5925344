// Today: how many labels this tab gave today, by queue; kept until the tab is closed.

const PLACE = "vecuq-labelled";
const day = () => new Date().toLocaleDateString("sv"); // 2026-01-31, in the reader's own time

/** Return the number for a queue of a model. */
export const labelledToday = (kind, model) => read()[placeOf(kind, model)] ?? 0;

/** Count labels; a step of -1 takes one back. */
export function countToday(kind, model, step = 1) {
  const found = read();
  found[placeOf(kind, model)] = Math.max(0, (found[placeOf(kind, model)] ?? 0) + step);
  sessionStorage.setItem(PLACE, JSON.stringify(found));
}

function read() {
  const found = JSON.parse(sessionStorage.getItem(PLACE) ?? "{}");
  return found.day === day() ? found : { day: day() };
}

const placeOf = (kind, model) => `${kind} ${model}`;
