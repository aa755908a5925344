// The frame: which model, which view, theme, key and help. Views stay alive while another one is on screen.

import { get, modelPath, whenKeyIsNeeded } from "./api.js";
import { described } from "./described.js";
import { html, render, useEffect, useErrorBoundary, useLayoutEffect, useRef, useState } from "./html.js";
import { Dialog, Failure, forgetErrors, Keys, Toasts, useKeys, useLoad } from "./ui.js";
import * as live from "./views/live.js";
import * as modelView from "./views/model.js";
import * as queue from "./views/queue.js";
import * as rows from "./views/rows.js";

const VIEWS = { rows: ["Rows", rows], queue: ["Queue", queue], live: ["Live", live], model: ["Model", modelView] };
const THEMES = { system: "Theme: as the system", light: "Theme: light", dark: "Theme: dark" };
const GENERAL = [["1 2 3 4", "Rows, Queue, Live, Model"], ["?", "this help"], ["Esc", "close"]];

function App() {
  const [view, go] = useRoute();
  const [models, failure, again] = useLoad((signal) => get("/models", { signal }), []);
  const [chosen, choose] = useState(null);
  const [help, setHelp] = useState(false);
  const listed = models ? names(models) : [];
  const name = chosen ?? listed[0];
  const jumps = Object.fromEntries(Object.keys(VIEWS).map((key, k) => [String(k + 1), () => go(key)]));
  useEffect(forgetErrors, [view]); // what failed in another view says nothing here
  useKeys({ ...jumps, "?": () => setHelp(true) });
  return html`
    <a class="skip" href="#main" onClick=${skip}>Skip to content</a>
    <header class="top">
      <span class="brand"><img src="/page/icon.svg" alt="" width="22" height="22" />vecuq</span>
      <${Tabs} view=${view} go=${go} />
      <div class="top-right">
        ${listed.length > 1 && html`<select aria-label="Model" value=${name} onChange=${(event) => choose(event.target.value)}>
          ${listed.map((each) => html`<option key=${each} value=${each}>${each}</option>`)}</select>`}
        <${Theme} />
        <button class="plain square" aria-label="Keys and help" title="Keys and help (?)" onClick=${() => setHelp(true)}>?</button>
      </div>
    </header>
    <main id="main" tabindex="-1">
      ${failure && html`<${Failure} failure=${failure} retry=${again} />`}
      ${!failure && !models && html`<p class="soft pad">Loading …</p>`}
      ${name && html`<${Model} key=${name} name=${name} view=${view} />`}
    </main>
    ${help && html`<${Dialog} title="Keys" onClose=${() => setHelp(false)}>
      <${Keys} keys=${[...VIEWS[view][1].keys, ...GENERAL]} />
      <p class="soft">The HTTP interface is described at <a href="/docs">/docs</a>.</p><//>`}
    <${KeyDialog} /><${Toasts} />`;
}

/** The views of one model, each mounted when it is first opened. */
function Model({ name, view }) {
  const [model, failure, again] = useLoad(async (signal) => described(await get(modelPath(name), { signal })), [name]);
  const opened = useRef(new Set());
  opened.current.add(view);
  if (failure) return html`<${Failure} failure=${failure} retry=${again} />`;
  if (!model) return html`<p class="soft pad">Loading …</p>`;
  return Object.entries(VIEWS).map(([key, [title, { View }]]) => html`
    <div key=${key} class="view" id="view-${key}" role="tabpanel" aria-labelledby="tab-${key}" hidden=${key !== view}>
      ${opened.current.has(key) && html`<${Guarded}><h1 class="hidden-visually">${title}</h1><${View} model=${model} active=${key === view} /><//>`}
    </div>`);
}

/** A view that fails says so, and leaves the others alone. */
function Guarded({ children }) {
  const [failure, reset] = useErrorBoundary((problem) => console.error(problem));
  return failure ? html`<${Failure} failure=${{ message: `This view failed: ${failure.message}` }} retry=${reset} />` : children;
}

function Tabs({ view, go }) {
  const keys = Object.keys(VIEWS);
  const move = (event) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!step) return;
    const next = keys[(keys.indexOf(view) + step + keys.length) % keys.length];
    go(next);
    document.getElementById(`tab-${next}`).focus();
    event.preventDefault();
  };
  return html`<div class="tabs" role="tablist" aria-label="Views" onKeyDown=${move}>
    ${keys.map((key) => html`<button key=${key} id="tab-${key}" role="tab" aria-selected=${key === view} aria-controls="view-${key}"
      tabindex=${key === view ? 0 : -1} onClick=${() => go(key)}>${VIEWS[key][0]}</button>`)}
  </div>`;
}

function Theme() {
  const [theme, setTheme] = useState(localStorage.getItem("vecuq-theme") ?? "system");
  useLayoutEffect(() => { // with the button's label, not a frame later
    document.documentElement.dataset.theme = theme;
    if (theme === "system") localStorage.removeItem("vecuq-theme");
    else localStorage.setItem("vecuq-theme", theme);
    window.dispatchEvent(new Event("themechange"));
  }, [theme]);
  const order = Object.keys(THEMES);
  const next = () => setTheme(order[(order.indexOf(theme) + 1) % order.length]);
  return html`<button class="plain square" aria-label=${THEMES[theme]} title=${THEMES[theme]} onClick=${next}>
    <svg viewBox="0 0 20 20" width="18" height="18" aria-hidden="true"><circle cx="10" cy="10" r="7" fill="none" stroke="currentColor" stroke-width="1.6" />
      <path d=${{ system: "M10 3a7 7 0 0 1 0 14z", light: "", dark: "M10 3a7 7 0 0 1 0 14a7 7 0 0 1 0-14z" }[theme]} fill="currentColor" /></svg>
  </button>`;
}

/** Asks for the API key when the service wants one; it is kept until the tab is closed. */
function KeyDialog() {
  const [wanted, setWanted] = useState(null);
  const typed = useRef();
  useEffect(() => {
    let open = null; // several requests may need the key at once: one dialog
    whenKeyIsNeeded((failure) => (open ??= new Promise((done) => setWanted({ failure, done })).finally(() => (open = null))));
  }, []);
  if (!wanted) return null;
  const answer = (key) => { setWanted(null); wanted.done(key); };
  const submit = (event) => { event.preventDefault(); answer(typed.current.value.trim() || null); };
  return html`<${Dialog} title="This service needs a key" onClose=${() => answer(null)}>
    <form onSubmit=${submit}>
      <p>${wanted.failure.message}</p>
      <label class="field">API key <input ref=${typed} type="password" autocomplete="off" spellcheck=${false} required autofocus /></label>
      <p class="soft">It stays in this tab and is forgotten when the tab is closed.</p>
      <div class="actions"><button class="primary">Use this key</button></div>
    </form><//>`;
}

/** Return [view, go]: the view that the address names after #, and what changes it. */
function useRoute() {
  const named = () => { const key = location.hash.replace(/^#\/?/, ""); return key in VIEWS ? key : "rows"; };
  const [view, setView] = useState(named());
  useEffect(() => {
    const changed = () => setView(named());
    window.addEventListener("hashchange", changed);
    return () => window.removeEventListener("hashchange", changed);
  }, []);
  useEffect(() => { document.title = `${VIEWS[view][0]} – vecuq`; }, [view]);
  return [view, (key) => { location.hash = `#/${key}`; }];
}

function skip(event) {
  event.preventDefault();
  document.getElementById("main").focus();
}

/** The names of the models; the service may list names or descriptions. */
const names = (models) => (models.models ?? models).map((each) => each.name ?? each);

render(html`<${App} />`, document.getElementById("app"));
