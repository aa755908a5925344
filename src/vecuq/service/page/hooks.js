// Hooks: keys, loading, size of an element, colours of the theme for what is drawn on a canvas.

import { useEffect, useLayoutEffect, useRef, useState } from "./html.js";

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

/** Return whether a media query holds, kept up to date. */
export function useMedia(query) {
  const [holds, setHolds] = useState(() => matchMedia(query).matches);
  useEffect(() => {
    const watched = matchMedia(query);
    const changed = () => setHolds(watched.matches);
    watched.addEventListener("change", changed);
    return () => watched.removeEventListener("change", changed);
  }, [query]);
  return holds;
}
