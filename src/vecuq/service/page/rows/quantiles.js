// Quantiles: where a value lies in the calibration distribution, of which the service gives 101 points.

/** Return the share of calibration rows below a value, between 0 and 1. */
export function share(quantiles, value) {
  const last = quantiles.length - 1;
  if (!(value >= quantiles[0])) return 0;
  if (value >= quantiles[last]) return 1;
  let [low, high] = [0, last];
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if (quantiles[middle] <= value) low = middle;
    else high = middle;
  }
  const width = quantiles[high] - quantiles[low];
  return (low + (width > 0 ? (value - quantiles[low]) / width : 1)) / last;
}

/** Return the value below which a share of the calibration rows lies. */
export function at(quantiles, part) {
  const place = part * (quantiles.length - 1);
  const low = Math.floor(place);
  return quantiles[low] + (place - low) * ((quantiles[low + 1] ?? quantiles[low]) - quantiles[low]);
}

/** Say a share as people do: "higher than 97 % of calibration rows". */
export function placeWords(part) {
  if (part >= 1) return "above all calibration rows";
  if (part <= 0) return "below all calibration rows";
  return `higher than ${part > 0.99 ? (100 * part).toFixed(1) : Math.round(100 * part)} %`;
}
