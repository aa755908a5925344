// Described: what the service says of a model, in the names that the views use.

/** Return the description of a model; raw: the answer of GET /models/{name}. */
export function described(raw) {
  const { columns, uncertainty, medians } = raw.calibration;
  return {
    ...raw,
    flipped: new Set(raw.flipped),
    quantiles: columns ?? {},
    uncertaintyQuantiles: uncertainty.length ? uncertainty : null,
    medians,
    isAnswers: raw.is_answers,
    takesRows: raw.takes === "rows", // whether numbers can be sent to be scored
  };
}
