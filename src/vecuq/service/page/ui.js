// Small parts that every view is built from: toast, dialog, badge, empty state, chart, keys.

import { html, useEffect, useLayoutEffect, useRef, useState } from "./html.js";
import { uPlot } from "./vendor.js";

export { Chart } from "./chart.js";

// --- toasts: one line that goes away by itself, with an undo where there is one ---

let toasts = [];
let toastsChanged = () => {};
let lastToast = 0;

/** Show one line. undo: a function behind a button. kind: "quiet" or "error". Returns a function that removes it. */
export function toast(text, { undo = null, kind = "quiet", seconds = undo ? 8 : 5 } = {}) {
  const id = ++lastToast;
  const close = () => setToasts(toasts.filter((each) => each.id !== id));
  setToasts([...toasts.slice(-2), { id, text, undo, kind, close }]);
  setTimeout(close, 1000 * seconds);
  return close;
}

/** Show what went wrong, in one line. */
export function failed(failure) {
  if (failure?.name === "AbortError") return;
  const id = failure?.requestId ? ` (request ${failure.requestId})` : "";
  toast(`${failure?.message ?? failure}${id}`, { kind: "error", seconds: 10 });
}

function setToasts(next) {
  toasts = next;
  toastsChanged(next);
}

export function Toasts() {
  const [shown, show] = useState(toasts);
  useEffect(() => { toastsChanged = show; }, []);
  return html`<div class="toasts" role="status" aria-live="polite">
    ${shown.map(({ id, text, undo, kind, close }) => html`<div key=${id} class="toast ${kind}">
      <span class="toast-text">${text}</span>
      ${undo && html`<button onClick=${() => { close(); undo(); }}>Undo</button>`}
      <button class="plain" aria-label="Close message" onClick=${close}>×</button>
    </div>`)}
  </div>`;
}

// --- dialog: the browser's own, so focus and Escape are right ---

export function Dialog({ title, onClose, children, wide = false }) {
  const element = useRef();
  useEffect(() => {
    const before = document.activeElement;
    element.current.showModal();
    return () => before?.focus?.();
  }, []);
  const outside = (event) => event.target === element.current && onClose();
  return html`<dialog ref=${element} class=${wide ? "wide" : ""} aria-label=${title} onClose=${onClose} onClick=${outside}>
    <div class="dialog-body">
      <header><h2>${title}</h2><button class="plain" aria-label="Close" onClick=${onClose}>×</button></header>
      ${children}
    </div>
  </dialog>`;
}

// --- words with a shape ---

/** kind: right, wrong, flagged, accepted, missing, audit, quiet. Never told by colour alone: the text says it too. */
export const Badge = ({ kind = "quiet", children }) => html`<span class="badge ${kind}">${children}</span>`;

export const Empty = ({ title, children }) => html`<div class="empty"><h2>${title}</h2>${children}</div>`;

export const Failure = ({ failure, retry }) => html`<div class="notice error" role="alert">
  <span>${failure.message}${failure.requestId && html` <small class="soft">request ${failure.requestId}</small>`}</span>
  ${retry && html`<button onClick=${retry}>Try again</button>`}
</div>`;

/** Name and value pairs; values may be elements. */
export const Facts = ({ facts }) => html`<dl class="facts">
  ${facts.filter(([, value]) => value !== null && value !== undefined && value !== "").map(([name, value]) => html`
    <div><dt>${name}</dt><dd>${value}</dd></div>`)}
</dl>`;

// --- keys ---

/** Call handlers by key ({"r": fn}) while active, but not while somebody types, and not with Ctrl, Alt or Meta. */
export function useKeys(handlers, active = true) {
  const latest = useRef(handlers);
  latest.current = handlers;
  useEffect(() => {
    if (!active) return undefined;
    const pressed = (event) => {
      if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || typing(event.target)) return;
      const handler = latest.current[event.key];
      if (handler && handler(event) !== false) event.preventDefault();
    };
    window.addEventListener("keydown", pressed);
    return () => window.removeEventListener("keydown", pressed);
  }, [active]);
}

function typing(element) {
  if (document.querySelector("dialog[open]")) return true;
  return element.isContentEditable || element.matches?.("textarea, select, input:not([type=range], [type=checkbox], [type=radio])");
}

export const Keys = ({ keys }) => html`<dl class="keys">
  ${keys.map(([key, meaning]) => html`<div><dt>${key.split(" ").map((each) => html`<kbd>${each}</kbd>`)}</dt><dd>${meaning}</dd></div>`)}
</dl>`;

// --- small hooks ---

/** Return [result, failure, again] of an asynchronous load(signal), which runs when its inputs change. */
export function useLoad(load, inputs) {
  const [state, setState] = useState({ result: null, failure: null });
  const [turn, setTurn] = useState(0);
  useEffect(() => {
    const stop = new AbortController();
    setState({ result: null, failure: null });
    Promise.resolve(load(stop.signal)).then(
      (result) => stop.signal.aborted || setState({ result, failure: null }),
      (failure) => stop.signal.aborted || setState({ result: null, failure }),
    );
    return () => stop.abort();
  }, [...inputs, turn]);
  return [state.result, state.failure, () => setTurn((each) => each + 1)];
}

/** Return [ref, width, height] of an element, kept up to date. */
export function useSize() {
  const element = useRef();
  const [size, setSize] = useState([0, 0]);
  useLayoutEffect(() => {
    const watch = new ResizeObserver(([entry]) => {
      const { width, height } = entry.contentRect;
      setSize((old) => (old[0] === width && old[1] === height ? old : [width, height]));
    });
    watch.observe(element.current);
    return () => watch.disconnect();
  }, []);
  return [element, ...size];
}

/** Return a colour token of the style sheet ("accent") as canvas takes it, in the theme that is on. */
export function ink(token) {
  const probe = document.getElementById("probe") ?? document.body.appendChild(Object.assign(document.createElement("i"), { id: "probe", hidden: true }));
  probe.style.color = `var(--${token})`;
  return getComputedStyle(probe).color;
}

/** Return a number that changes when the theme does, for what is drawn on a canvas. */
export function useTheme() {
  const [turn, setTurn] = useState(0);
  useEffect(() => {
    const changed = () => setTurn((each) => each + 1);
    const system = matchMedia("(prefers-color-scheme: dark)");
    system.addEventListener("change", changed);
    window.addEventListener("themechange", changed);
    return () => { system.removeEventListener("change", changed); window.removeEventListener("themechange", changed); };
  }, []);
  return turn;
}

export const preload = () => uPlot();
