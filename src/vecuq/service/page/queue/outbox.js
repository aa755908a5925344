// Outbox: labels on their way. Each waits a moment so that it can be undone, and none is lost when the service is away.

import { request } from "../api.js";

export const UNDO_SECONDS = 5;
const AGAIN_SECONDS = 10;
const PLACE = "vecuq-outbox";
const LASTING = new Set([400, 404, 409, 413, 422]); // the same label would be refused again

/** One row of one queue of one model. */
export const keyOf = ({ kind, model, id }) => JSON.stringify([kind, model, id]);

class Outbox {
  constructor() {
    this.entries = []; // {label, status: waiting | sending | failed | sent, failure, taken}, oldest first
    this.watchers = new Set();
    this.line = Promise.resolve();
    this.timer = this.again = 0;
  }

  /** Take a label; what waited before is sent now, for it can no longer be undone. */
  add(label) {
    this.flush();
    const entry = { label, status: "waiting", failure: null, taken: null };
    this.entries = [...this.entries.filter((each) => keyOf(each.label) !== keyOf(label) || each.status !== "failed"), entry];
    this.timer = setTimeout(() => this.flush(), 1000 * UNDO_SECONDS);
    this.changed();
    return entry;
  }

  /** Take back the label that still waits; return it, or null where there is none. */
  undo() {
    const last = this.entries.findLast(({ status }) => status === "waiting");
    if (!last) return null;
    clearTimeout(this.timer);
    this.drop(last);
    return last.label;
  }

  /** Send what waits, one after the other. leaving: the page goes away, so all at once and outliving it. */
  flush({ leaving = false } = {}) {
    clearTimeout(this.timer);
    for (const entry of this.entries.filter(({ status }) => status === "waiting" || (leaving && status === "failed"))) {
      this.set(entry, { status: "sending", failure: null });
      if (leaving) this.send(entry, { keepalive: true });
      else this.line = this.line.then(() => this.send(entry));
    }
  }

  /** Send again what has failed. */
  retry(entries = this.unsent()) {
    for (const entry of entries) this.set(entry, { status: "waiting" });
    this.flush();
  }

  drop(entry) {
    this.entries = this.entries.filter((each) => each !== entry);
    this.changed();
  }

  unsent() {
    return this.entries.filter(({ status }) => status === "failed");
  }

  /** The latest about a row, null where nothing was said. */
  about(key) {
    return this.entries.findLast(({ label }) => keyOf(label) === key) ?? null;
  }

  async send(entry, options = {}) {
    const headers = { "content-type": "application/json" };
    try {
      const answer = await request("/feedback", { method: "POST", headers, body: JSON.stringify(entry.label), ...options });
      this.set(entry, { status: "sent", taken: (await answer.json()).feedback?.[0] ?? null });
    } catch (failure) {
      this.set(entry, { status: "failed", failure });
      this.soon();
    }
  }

  /** Try by itself again, as long as that may help. */
  soon() {
    clearTimeout(this.again);
    this.again = setTimeout(() => {
      const hopeful = this.unsent().filter(({ failure }) => !LASTING.has(failure.status));
      if (hopeful.length) this.retry(hopeful);
    }, 1000 * AGAIN_SECONDS);
  }

  set(entry, facts) {
    Object.assign(entry, facts);
    this.changed();
  }

  changed() {
    const open = this.entries.filter(({ status }) => status !== "sent").map(({ label }) => label);
    if (open.length) sessionStorage.setItem(PLACE, JSON.stringify(open));
    else sessionStorage.removeItem(PLACE);
    for (const watcher of this.watchers) watcher();
  }

  /** Go on with what an earlier visit of this tab left; a label that arrived after all is known and counts once. */
  resume() {
    const left = JSON.parse(sessionStorage.getItem(PLACE) ?? "[]");
    this.entries = left.map((label) => ({ label, status: "waiting", failure: null, taken: null }));
    this.flush();
  }
}

export const outbox = new Outbox();
outbox.resume();
addEventListener("pagehide", () => outbox.flush({ leaving: true }));
document.addEventListener("visibilitychange", () => document.hidden && outbox.flush());
