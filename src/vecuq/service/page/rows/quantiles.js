// Quantiles: where a value lies in the calibration distribution, of which the service gives 101 points.

import { percent } from "../format.js";

/** Return the share of calibration rows below a value, between 0 and 1; of equal ones, half are. */
export function share(quantiles, value) {
  const last = quantiles.length - 1;
  if (!(value >= quantiles[0])) return 0;
  if (value > quantiles[last]) return 1;
  const [from, to] = [quantiles.findIndex((each) => each >= value), quantiles.findLastIndex((each) => each <= value)];
  if (from <= to) return (from + to) / 2 / last; // the value is one of them
  return (to + (value - quantiles[to]) / (quantiles[from] - quantiles[to])) / last;
}

/** Return the value below which a share of the calibration rows lies. */
export function at(quantiles, part) {
  const place = part * (quantiles.length - 1);
  const low = Math.floor(place);
  return quantiles[low] + (place - low) * ((quantiles[low + 1] ?? quantiles[low]) - quantiles[low]);
}

/** Say where a value lies as people do: "higher than 97 %". */
export function placeWords(quantiles, value) {
  const last = quantiles.length - 1;
  if (value > quantiles[last]) return "above all calibration rows";
  if (value < quantiles[0]) return "below all calibration rows";
  const part = share(quantiles, value);
  if (part === 1) return "as high as the highest";
  return `higher than ${percent(part, part > 0.99 || part < 0.01 ? 1 : 0).replace(">", "")}`;
}
