// Small parts that every view is built from: toast, dialog, badge, empty state; chart and hooks from here too.

import { html, useEffect, useRef, useState } from "./html.js";

export { Chart } from "./chart.js";
export { ink, useKeys, useLoad, useMedia, useSize, useTheme } from "./hooks.js";

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

/** Take error messages away, when what failed is tried anew. */
export const forgetErrors = () => setToasts(toasts.filter(({ kind }) => kind !== "error"));

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

/** kind: right, wrong, flagged, accepted, missing, audit, quiet. Never shown by colour alone: the text says it too. */
export const Badge = ({ kind = "quiet", children }) => html`<span class="badge ${kind}">${children}</span>`;

export const Empty = ({ title, children }) => html`<div class="empty"><h2>${title}</h2>${children}</div>`;

export const Failure = ({ failure, retry }) => html`<div class="notice error" role="alert">
  <span>${failure.message}${failure.requestId && html` <small class="soft">request ${failure.requestId}</small>`}</span>
  ${retry && html`<button onClick=${retry}>Try again</button>`}
</div>`;

/** A text that is cut in the middle where there is no room: ids often differ in their ends. */
export const Middle = ({ text }) => (text.length <= 12 ? text
  : html`<span class="middle" title=${text}><span class="middle-start">${text.slice(0, -6)}</span><span>${text.slice(-6)}</span></span>`);

/** Name and value pairs; values may be elements. */
export const Facts = ({ facts }) => html`<dl class="facts">
  ${facts.filter(([, value]) => value !== null && value !== undefined && value !== "").map(([name, value]) => html`
    <div><dt>${name}</dt><dd>${value}</dd></div>`)}
</dl>`;

/** keys: [["r w", meaning]], several keys parted by spaces. */
export const Keys = ({ keys }) => html`<dl class="keys">
  ${keys.map(([key, meaning]) => html`<div><dt>${key.split(" ").map((each) => html`<kbd>${each}</kbd>`)}</dt><dd>${meaning}</dd></div>`)}
</dl>`;
