// Reading: what the service says of a queue, as the view uses it.

import { get } from "../api.js";

export const PAGE = 100;

/** Return {rows, next} of a queue: kind is "review" or "audit"; next goes on after the last row, null at the end. */
export async function readQueue({ kind, model, after = null, signal }) {
  const asked = new URLSearchParams({ kind, model, limit: PAGE, ...(after !== null && { after }) });
  const { rows } = await get(`/queue?${asked}`, { signal });
  return { rows, next: rows.length === PAGE ? rows.at(-1).id : null };
}
