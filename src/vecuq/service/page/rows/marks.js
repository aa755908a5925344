// Marks: what a person found out about rows. Kept in the page; sent as reviews where a row has an id and there is a store.

import { post } from "../api.js";
import { html, useEffect, useMemo, useReducer } from "../html.js";
import { Badge, failed, toast } from "../ui.js";

const WAIT = 8; // seconds until a mark is sent: until then it can be undone without a trace
export const WORDS = { right: "✓ right", wrong: "✗ wrong" };

export const Mark = ({ mark }) => (mark ? html`<${Badge} kind=${mark}>${WORDS[mark]}<//>` : null);

/** Marks of one table, and the reviews that wait to be sent. */
export class Marks {
  constructor(table, model, changed) {
    Object.assign(this, { table, model, changed, of: new Map(), past: [], closeToast: () => {}, waiting: new Map(), sent: new Map(), store: true, nSent: 0, timer: null });
  }

  get(row) {
    return this.of.get(row) ?? null;
  }

  /** Mark a row "right" or "wrong"; the same mark again keeps it, or removes it where a button is a switch. */
  set(row, mark, { toggle = false } = {}) {
    const before = this.get(row);
    if (before === mark && !toggle) return;
    const after = before === mark ? null : mark;
    if (after === null && this.sent.has(row)) {
      toast("This mark was sent already. Mark the row the other way to replace it.");
      return;
    }
    this.past.push([row, before]);
    this.#put(row, after);
    const what = this.table.id(row) ?? `row ${row + 1}`;
    this.closeToast();
    this.closeToast = toast(after ? `${clip(what)} marked ${after}.` : `Mark of ${clip(what)} removed.`, { undo: () => this.undo(), seconds: WAIT });
  }

  /** Take the last mark back; return its row, null where there is none. */
  undo() {
    this.closeToast();
    if (!this.past.length) return null;
    const [row, before] = this.past.pop();
    if (before === null && this.sent.has(row)) {
      toast("It was sent already and stays in the store. Mark the row the other way to replace it.");
      return row;
    }
    this.#put(row, before);
    return row;
  }

  #put(row, mark) {
    if (mark) this.of.set(row, mark);
    else this.of.delete(row);
    if (this.store && this.table.id(row) !== null) this.#wait(row, mark);
    this.changed();
  }

  #wait(row, mark) {
    if (mark && mark !== this.sent.get(row)) this.waiting.set(row, mark);
    else this.waiting.delete(row);
    clearTimeout(this.timer);
    if (this.waiting.size) this.timer = setTimeout(() => this.flush(), 1000 * WAIT);
  }

  /** Send what waits, as reviews. */
  async flush() {
    clearTimeout(this.timer);
    const rows = [...this.waiting];
    this.waiting.clear();
    if (!rows.length) return;
    const feedback = rows.map(([row, mark]) => ({ id: this.table.id(row), kind: "review", correct: mark === "right", model: this.model.name }));
    try {
      await post("/feedback", { feedback });
      rows.forEach(([row, mark]) => this.sent.set(row, mark));
      this.nSent = this.sent.size;
    } catch (failure) {
      this.#refused(failure, rows);
    }
    this.changed();
  }

  #refused(failure, rows) {
    if (failure.error === "no_store") {
      this.store = false;
      toast("This service keeps no feedback. Marks stay in this page; download them.");
      return;
    }
    rows.forEach(([row, mark]) => { if (!this.waiting.has(row)) this.waiting.set(row, mark); });
    failed(failure);
  }
}

/** The marks of a table, drawn anew when they change, and sent at the latest when the page is left. */
export function useMarks(table, model) {
  const [, changed] = useReducer((turn) => turn + 1, 0);
  const marks = useMemo(() => new Marks(table, model, changed), [table]);
  useEffect(() => {
    const leave = () => marks.flush();
    window.addEventListener("pagehide", leave);
    return () => { window.removeEventListener("pagehide", leave); marks.flush(); };
  }, [marks]);
  return marks;
}

const clip = (text) => (text.length > 40 ? `${text.slice(0, 40)}…` : text);
