// Work: the table of scored rows and, beside it, the decision, one row, or two columns compared.

import { html, useEffect, useMemo, useRef, useState } from "../html.js";
import { count, rowsWord } from "../format.js";
import { Empty, failed, useKeys, useMedia } from "../ui.js";
import { chosen, exampleRule, filters, searchProblem, searchTest } from "./choosing.js";
import { gridColumns } from "./columns.js";
import { ComparePanel } from "./compare_panel.js";
import { decide, sliderOf, walkOf } from "./deciding.js";
import { DecisionPanel } from "./decision_panel.js";
import { Detail } from "./detail.js";
import { download } from "./download.js";
import { Grid } from "./grid.js";
import { labelsOf, likelyLabel } from "./labels.js";
import { useMarks } from "./marks.js";
import { orderOf } from "./table.js";
import { Unlike, unlikeColumns } from "./unlike.js";

const PANELS = { decision: "Decision", row: "Row", compare: "Compare" };

export function Work({ table, model, source, by, active, close }) {
  const [slider, setSlider] = useState(() => sliderOf(table, model));
  const [label, setLabel] = useState(() => likelyLabel(table));
  const [sort, setSort] = useState({ key: "rank", descending: false });
  const [filter, setFilter] = useState("all");
  const [typed, setTyped] = useState("");
  const [at, setAt] = useState(-1);
  const [panel, setPanel] = useState("decision");
  const [open, setOpen] = useState(false); // of the panel, on a phone
  const marks = useMarks(table, model);
  const search = useRef();
  const narrow = useMedia("(max-width: 640px)");
  const sought = useDelayed(typed, 120);

  const example = exampleRule(table, model);
  const unlike = useMemo(() => unlikeColumns(table, model), [table, model]);
  const labels = useMemo(() => label && labelsOf(table, label), [table, label]);
  const walk = useMemo(() => walkOf(table, labels), [table, labels]);
  const decided = useMemo(() => decide({ table, model, slider, walk }), [table, model, slider, walk]);
  const known = filters({ table, decided, marks: marks.of });
  const used = known[filter] ? filter : "all";
  const ordered = useMemo(() => sorted(table, sort), [table, sort]);
  const found = useMemo(() => chosen(ordered, [searchTest(table, sought)]), [ordered, sought]);
  const moves = ["all", "missing"].includes(used) ? null : used === "marked" ? marks.of.size : decided; // what a filter depends on
  const order = useMemo(() => chosen(found, [known[used][1]]), [found, used, moves]);
  const columns = useMemo(() => gridColumns({ table, model, decided, marks, narrow }), [table, model, decided, marks, narrow]);
  const row = at >= 0 && at < order.length ? order[at] : -1;
  useFollow(order, row, at, setAt);

  const show = (place) => { setAt(place); setPanel("row"); setOpen(true); };
  const pick = (target) => { const place = order.indexOf(target); if (place >= 0) setAt(place); };
  const move = (place) => { setAt(place); if (panel === "decision") setPanel("row"); };
  const mark = (kind) => () => { // and on to the next row, as in the queue
    if (row < 0) return false;
    marks.set(row, kind);
    return move(Math.min(at + 1, order.length - 1));
  };
  const unmark = () => { const target = marks.undo(); if (target !== null) pick(target); };
  const step = (by_) => (event) => (onPage(event) && order.length ? move(Math.min(Math.max(at + by_, 0), order.length - 1)) : false);
  useKeys({
    "/": () => search.current.focus(), r: mark("right"), w: mark("wrong"), u: unmark, ArrowDown: step(1), ArrowUp: step(-1),
    Escape: () => (open ? setOpen(false) : false),
  }, active);
  const sortBy = (key) => { setAt(-1); setSort((old) => ({ key, descending: old.key === key ? !old.descending : key !== "rank" && table.columns.get(key)?.kind !== "text" })); };
  const save = (format) => download(format, { table, model, marks, decided, source, by }).catch(failed);

  return html`<div class="work">
    <div class="work-bar bar">
      <div class="grow"><h2 class="file-name" title=${source}>${source}</h2><p class="soft small">${rowsWord(table.n)}${table.nMissing > 0 ? `, ${count(table.nMissing)} without a score` : ""}${marks.nSent ? `, ${count(marks.nSent)} ${marks.nSent === 1 ? "mark" : "marks"} sent` : ""}</p></div>
      <${Save} save=${save} parquet=${model.takesRows} />
      <button onClick=${close}>Other rows</button>
    </div>
    <div class="work-bar bar">
      <input ref=${search} class="search" type="search" aria-label="Search rows" placeholder=${`Search, or ${example}`} value=${typed} onInput=${(event) => { setAt(-1); setTyped(event.target.value); }}
        onKeyDown=${(event) => { if (event.key === "Escape") { setTyped(""); event.target.blur(); } if (event.key === "Enter" || event.key === "ArrowDown") { event.preventDefault(); document.querySelector(".grid")?.focus(); } }} />
      <div class="chips" role="group" aria-label="Show">
        ${Object.entries(known).map(([key, [title, test]]) => html`<button key=${key} class="chip" aria-pressed=${key === used} onClick=${() => { setAt(-1); setFilter(key); }}>
          ${title} <span class="number soft">${count(counts(table, key, test, decided, marks))}</span></button>`)}
      </div>
      <span class="soft small number" role="status">${order.length === table.n ? "" : `${rowsWord(order.length)} shown`}</span>
    </div>
    <${Unlike} table=${table} columns=${unlike} />
    <div class="split ${open ? "panel-open" : ""}">
      <div class="grid-place">${order.length ? html`<${Grid} label="Scored rows" columns=${columns} order=${order} at=${at} sort=${sort}
          rowClass=${(each) => marks.get(each) ?? ""} onMove=${move} onOpen=${show} onSort=${sortBy} />`
        : html`<${Empty} title="No rows to show"><p>${!table.n ? "The file has no rows." : (!found.length && searchProblem(table, sought, example)) || "Nothing matches the search and the filter."}</p><//>`}</div>
      <aside class="panel" aria-label="Panel">
        <${PanelTabs} panel=${panel} setPanel=${(key) => { setOpen(panel !== key || !open); setPanel(key); }} closePanel=${() => setOpen(false)} open=${open} />
        <div class="panel-body" id="panel-body" role="tabpanel" aria-labelledby="panel-${panel}" tabindex="0">
          ${panel === "decision" && html`<${DecisionPanel} ...${{ table, model, slider, setSlider, decided, labels, label, setLabel, walk }} />`}
          ${panel === "row" && html`<${Detail} ...${{ table, model, row, decided, marks, by, pick }} />`}
          ${panel === "compare" && html`<${ComparePanel} ...${{ table, model, row, pick }} />`}
        </div>
      </aside>
    </div>
  </div>`;
}

function PanelTabs({ panel, setPanel, open, closePanel }) {
  const keys = Object.keys(PANELS);
  const arrows = (event) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!step) return;
    const next = keys[(keys.indexOf(panel) + step + keys.length) % keys.length];
    setPanel(next);
    document.getElementById(`panel-${next}`).focus();
    event.preventDefault();
  };
  return html`<div class="panel-head"><div class="panel-tabs" role="tablist" aria-label="Panels" onKeyDown=${arrows}>
    ${keys.map((key) => html`<button key=${key} id="panel-${key}" role="tab" aria-selected=${key === panel} aria-controls="panel-body" tabindex=${key === panel ? 0 : -1} onClick=${() => setPanel(key)}>${PANELS[key]}</button>`)}
  </div>${open && html`<button class="plain square panel-close" aria-label="Close panel" onClick=${closePanel}>×</button>`}</div>`;
}

function Save({ save, parquet }) {
  const choose = (event) => { const { value } = event.target; event.target.value = ""; if (value) save(value); };
  return html`<select aria-label="Download" class="download" value="" onChange=${choose}>
    <option value="">Download …</option><option value="csv">csv</option><option value="arrow">Arrow</option>${parquet && html`<option value="parquet">parquet</option>`}
  </select>`;
}

function sorted(table, { key, descending }) {
  if (key === "rank") return descending ? table.ranked.slice().reverse() : table.ranked;
  if (key === "uncertainty" && descending) return table.ranked;
  return orderOf(table.columns.get(key), descending);
}

/** How many rows of the whole table each filter would show. */
function counts(table, key, test, decided, marks) {
  if (key === "all") return table.n;
  if (key === "missing") return table.nMissing;
  if (key === "marked") return marks.of.size;
  return key === "accepted" ? decided.n : table.n - decided.n;
}

/** The cursor stays on its row when the slider puts it elsewhere; a search or another order begins at the top. */
function useFollow(order, row, at, setAt) {
  const last = useRef({ order, row });
  useEffect(() => {
    const { order: before, row: was } = last.current;
    if (before !== order && at >= 0 && was >= 0 && was !== row) setAt(order.indexOf(was));
    last.current = { order, row };
  }, [order, row]);
}

function useDelayed(value, milliseconds) {
  const [late, setLate] = useState(value);
  useEffect(() => {
    const wait = setTimeout(() => setLate(value), milliseconds);
    return () => clearTimeout(wait);
  }, [value]);
  return late;
}

/** Whether a key was pressed on the page itself, not in a part that has keys of its own. */
const onPage = (event) => [document.body, document.getElementById("main")].includes(event.target);
