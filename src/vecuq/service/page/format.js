// Numbers, shares, sizes and times as people read them.

const THIN = new Intl.NumberFormat("en", { maximumFractionDigits: 0 });

export const count = (n) => (Number.isFinite(n) ? THIN.format(n) : "–");
export const rowsWord = (n) => `${count(n)} ${n === 1 ? "row" : "rows"}`;

/** A measured number: four digits, no noise. */
export function number(value, digits = 4) {
  if (value === null || value === undefined || Number.isNaN(value)) return "–";
  if (!Number.isFinite(value)) return value > 0 ? "∞" : "−∞";
  if (value === 0) return "0";
  const size = Math.abs(value);
  const text = size >= 1e6 || size < 1e-4 ? value.toExponential(digits - 1) : String(+value.toPrecision(digits));
  return text.replace("-", "−");
}

/** Return how many decimals the numbers of a column need, so that they stand below each other. */
export function decimalsOf(values) {
  const step = Math.max(1, Math.floor(values.length / 1000));
  const sizes = [];
  for (let row = 0; row < values.length; row += step) if (Number.isFinite(values[row])) sizes.push(Math.abs(values[row]));
  sizes.sort((a, b) => a - b);
  const typical = sizes[Math.floor(0.75 * sizes.length)] || 1;
  return Math.min(Math.max(3 - Math.floor(Math.log10(typical)), 0), 6);
}

/** A number with a fixed count of decimals; very large and very small ones otherwise. */
export function fixed(value, decimals) {
  if (!Number.isFinite(value) || Math.abs(value) >= 1e7 || (value !== 0 && Math.abs(value) < 0.5 * 10 ** -decimals)) return number(value, 3);
  return value.toFixed(decimals).replace("-", "−");
}

/** A share of one, in percent: never "100 %" or "0 %" of what is not all or none. */
export function percent(share, digits = 1) {
  if (!Number.isFinite(share)) return "–";
  const text = (100 * share).toFixed(digits);
  if (+text === 100 && share < 1) return `>${(100 - 10 ** -digits).toFixed(digits)} %`;
  if (+text === 0 && share > 0) return `<${(10 ** -digits).toFixed(digits)} %`;
  return `${+text} %`;
}

export function bytes(n) {
  const power = Math.min(Math.floor(Math.log10(Math.max(n, 1)) / 3), 3);
  return `${+(n / 1000 ** power).toPrecision(3)} ${["B", "kB", "MB", "GB"][power]}`;
}

/** A moment, given in seconds since 1970 or as ISO text, in the reader's own time. */
export function moment(when) {
  const date = new Date(typeof when === "number" ? 1000 * when : when);
  return Number.isNaN(date.getTime()) ? "–" : date.toLocaleString(undefined, { dateStyle: "medium", timeStyle: "short" });
}

/** Seconds as "3 min ago". */
export function ago(seconds) {
  if (!Number.isFinite(seconds)) return "–";
  const [size, word] = [[86400, "d"], [3600, "h"], [60, "min"]].find(([each]) => seconds >= each) ?? [1, "s"];
  return `${Math.floor(seconds / size)} ${word} ago`;
}
