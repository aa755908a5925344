// Scoring of single rows: in the browser where the map can be exported, otherwise by the service.

import { get, modelPath, post } from "../api.js";

const scorers = new Map(); // by checksum

/** Return the model in plain JavaScript; null where it cannot be exported. */
export function browserScorer(model) {
  if (!model.exportable) return Promise.resolve(null);
  if (!scorers.has(model.checksum)) scorers.set(model.checksum, loaded(model).catch(() => null));
  return scorers.get(model.checksum);
}

async function loaded(model) {
  const [{ load }, json] = await Promise.all([import("/page/scorer.js"), get(modelPath(model.name, "/map.json"))]);
  return load(json);
}

/** Return {uncertainty, p_value, why, contributions ...} of one row, by the service; nothing is recorded. */
export async function explained(model, body, { by, signal } = {}) {
  const asked = { rows: [{ ...body, ...by?.field }], explain: true, record: false, ...(by && { by: by.name }) };
  return (await post(modelPath(model.name, "/score"), asked, { signal })).rows[0];
}

/** Return {accept, pWrong} of a row as the gate decides it, by the service; nothing is recorded. */
export async function gateSays(model, body, { by, signal } = {}) {
  const asked = { rows: [{ ...body, ...by?.field }], record: false, ...(by && { by: by.name }) };
  const { rows: [row] } = await post(modelPath(model.name, "/score"), asked, { signal });
  return { accept: row.accept ?? null, pWrong: row.p_wrong ?? null };
}

/** Whether the gate of a model decides a single row that is made up. */
export const canAskGate = (model) => Boolean(model.gate) && model.takesRows && !model.gate.needs_batch;

/** Return {uncertainty, pValue} of a row, by whichever scorer there is. */
export async function whatIf(model, scorer, body, { signal } = {}) {
  if (scorer) return scorer.score(scorer.columns.map((name) => body[name] ?? null));
  const { rows: [row] } = await post(modelPath(model.name, "/score"), { rows: [body], record: false }, { signal });
  return { uncertainty: row.uncertainty, pValue: row.p_value ?? null };
}
