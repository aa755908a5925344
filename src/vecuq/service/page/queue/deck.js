// Deck: the rows of one queue that this tab has seen, and which of them is on the table.

import { useEffect, useReducer, useRef } from "../html.js";
import { keyOf } from "./outbox.js";
import { readQueue } from "./reading.js";

const NEW = { rows: [], at: null, next: null, skipped: new Set(), loaded: false, loading: false, failure: null };
const LOOK_SECONDS = 15; // an empty queue looks for new rows by itself

/** Return the deck of a kind and a model, with what can be done with it. said(row): whether it has a label. */
export function useDeck({ kind, model, active, said }) {
  const [deck, change] = useReducer(changed, NEW);
  const stop = useRef(null);
  const open = deck.rows.filter((row) => !said(row));

  const load = (after = null) => {
    stop.current?.abort();
    const { signal } = (stop.current = new AbortController());
    change({ type: "loading" });
    readQueue({ kind, model, after, signal }).then(
      (page) => change({ type: "loaded", page, jump: !open.length }),
      (failure) => failure.name === "AbortError" || change({ type: "failed", failure }),
    );
  };
  useEffect(() => { if (active && !deck.loading && (!deck.loaded || !open.length)) load(); }, [active]);
  useEffect(() => { if (open.length && open.length < 10 && deck.next !== null && !deck.loading) load(deck.next); }, [open.length, deck.next]);
  useEffect(() => {
    if (!active || open.length || !deck.loaded) return undefined;
    const timer = setInterval(() => document.hidden || load(), 1000 * LOOK_SECONDS);
    return () => clearInterval(timer);
  }, [active, open.length === 0, deck.loaded]);
  useEffect(() => () => stop.current?.abort(), []);

  const place = deck.rows.findIndex(({ id }) => id === deck.at);
  return {
    ...deck, kind, open, place, row: deck.rows[place] ?? null, load,
    key: (row) => keyOf({ kind, model, id: row.id }),
    select: (id) => change({ type: "select", id }),
    move: (step) => change({ type: "select", id: deck.rows[place + step]?.id ?? deck.at }),
    skip: () => change({ type: "skip", id: deck.at, to: following(deck, said) }),
    go: () => change({ type: "select", id: following(deck, said) }),
  };
}

/** The next row without a label after the one on the table; then the first one, those that were skipped last. */
function following({ rows, at, skipped }, said) {
  const place = rows.findIndex(({ id }) => id === at);
  const around = [...rows.slice(place + 1), ...rows.slice(0, Math.max(place, 0))].filter((row) => !said(row));
  return (around.find(({ id }) => !skipped.has(id)) ?? around[0])?.id ?? at;
}

function changed(deck, { type, ...what }) {
  switch (type) {
    case "loading": return { ...deck, loading: true };
    case "failed": return { ...deck, loading: false, failure: what.failure };
    case "loaded": return added(deck, what.page, what.jump);
    case "select": return { ...deck, at: what.id };
    case "skip": return { ...deck, at: what.to, skipped: new Set([...deck.skipped, what.id]) };
    default: throw new Error(`A deck does not know ${type}.`);
  }
}

/** Rows that are known stay where they are; new ones come after them. jump: go to these, for all others are done. */
function added(deck, { rows, next }, jump) {
  const known = new Set(deck.rows.map(({ id }) => id));
  const fresh = rows.filter(({ id }) => !known.has(id));
  const all = [...deck.rows, ...fresh];
  return { ...deck, rows: all, at: (jump && fresh[0]?.id) || deck.at || null, next, loaded: true, loading: false, failure: null };
}
