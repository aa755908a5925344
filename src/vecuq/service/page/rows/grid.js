// Grid: a table of any number of rows, of which only the visible ones are in the page.

import { Component, html, useEffect, useLayoutEffect, useMemo, useRef, useState } from "../html.js";
import { useSize } from "../hooks.js";

export const ROW = 34; // pixels
const TALLEST = 12_000_000; // browsers draw no taller element; beyond it the scroll bar stands for more rows

/**
 * columns: [{key, title, label, width, align, cell(row), sortable}]; order: rows by place; at: the place of the cursor.
 * onMove(place), onOpen(place), onSort(key), sort: {key, descending}, rowClass(row).
 */
export function Grid({ columns, order, at, sort, label, rowClass, onMove, onOpen, onSort }) {
  const [box, , height] = useSize();
  const [top, setTop] = useState(0);
  const n = order.length;
  const visible = Math.max(1, Math.ceil((height - ROW) / ROW) + 1);
  const tall = Math.min(n * ROW, TALLEST);
  const room = Math.max(tall - height + ROW, 1);
  const scale = (n * ROW - height + ROW) / room; // 1 unless there are too many rows
  const exact = tall === n * ROW;
  const first = clamp(Math.floor((exact ? top : top * scale) / ROW) - (exact ? 4 : 0), 0, Math.max(n - 1, 0));
  const last = Math.min(n, first + visible + (exact ? 8 : 0));
  const offset = exact ? first * ROW : Math.min(top, tall - (last - first) * ROW);
  const template = useMemo(() => columns.map(({ width, grow }) => (grow ? `minmax(${width}px, 1fr)` : `${width}px`)).join(" "), [columns]);
  const wide = columns.reduce((sum, { width }) => sum + width, 0);

  useLayoutEffect(() => { // keep the cursor in sight
    const element = box.current;
    if (at < 0 || !element || !height) return;
    const [above, below] = exact ? [at * ROW, (at + 1) * ROW - (height - ROW)] : [(at * ROW) / scale, ((at + 1) * ROW - (height - ROW)) / scale];
    if (element.scrollTop > above) element.scrollTop = above;
    else if (element.scrollTop < below) element.scrollTop = below;
  }, [at, order]);
  useLayoutEffect(() => { if (at < 0) { box.current.scrollTop = 0; setTop(0); } }, [order]);
  useEffect(() => { if (document.activeElement === document.body) box.current.focus({ preventScroll: true }); }, []); // keys work at once

  const page = Math.max(1, visible - 2);
  const keys = {
    ArrowDown: () => at + 1, ArrowUp: () => at - 1, PageDown: () => at + page, PageUp: () => at - page, Home: () => 0, End: () => n - 1,
  };
  const pressed = (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.target !== event.currentTarget) return;
    if (event.key === "Enter" && at >= 0) onOpen(at);
    else if (keys[event.key] && n) onMove(clamp(keys[event.key](), 0, n - 1));
    else return;
    event.preventDefault();
  };
  const rows = [];
  for (let place = first; place < last; place++) rows.push(place);
  return html`<div ref=${box} class="grid" role="grid" tabindex="0" aria-label=${label} aria-rowcount=${n + 1} aria-colcount=${columns.length}
      aria-activedescendant=${at >= first && at < last ? `row-${at}` : undefined} onKeyDown=${pressed} onScroll=${(event) => setTop(event.currentTarget.scrollTop)}>
    <div role="rowgroup" class="grid-head" style=${{ minWidth: `${wide}px` }}>
      <div role="row" aria-rowindex="1" class="grid-row" style=${{ gridTemplateColumns: template }}>
        ${columns.map((column, k) => html`<${Head} key=${column.key} column=${column} index=${k + 1} sort=${sort} onSort=${onSort} />`)}
      </div>
    </div>
    <div role="rowgroup" class="grid-body" style=${{ height: `${tall}px`, minWidth: `${wide}px` }}>
      <div role="presentation" class="grid-window" style=${{ transform: `translateY(${offset}px)` }}>
        ${rows.map((place) => html`<${Row} key=${place % (visible + 9)} place=${place} row=${order[place]} columns=${columns} template=${template}
          selected=${place === at} extra=${rowClass(order[place])} onOpen=${onOpen} />`)}
      </div>
    </div>
  </div>`;
}

function Head({ column, index, sort, onSort }) {
  const { key, title, label, align, sortable = true } = column;
  const sorted = sort.key === key ? (sort.descending ? "descending" : "ascending") : undefined;
  return html`<div role="columnheader" aria-colindex=${index} aria-sort=${sorted} class=${align ?? ""}>
    ${sortable ? html`<button tabindex="-1" title=${label ?? title} aria-label=${label ? `Sort by ${label}` : undefined} onClick=${() => onSort(key)}>
      <span class="grid-title">${title}</span>${sorted && html`<span aria-hidden="true">${sort.descending ? "↓" : "↑"}</span>`}</button>`
      : html`<span class="grid-title" title=${label ?? title}>${title}</span>`}
  </div>`;
}

/** One row; while others scroll in and out it is left alone. */
class Row extends Component {
  shouldComponentUpdate(next) {
    return ["place", "row", "columns", "selected", "extra"].some((name) => next[name] !== this.props[name]);
  }

  render({ place, row, columns, template, selected, extra, onOpen }) {
    return html`<div id="row-${place}" role="row" aria-rowindex=${place + 2} aria-selected=${selected} class="grid-row ${extra}"
        style=${{ gridTemplateColumns: template }} onClick=${() => onOpen(place)}>
      ${columns.map(({ key, align, cell }, k) => html`<div key=${key} role="gridcell" aria-colindex=${k + 1} class=${align ?? ""}>${cell(row)}</div>`)}
    </div>`;
  }
}

const clamp = (value, low, high) => Math.min(Math.max(value, low), high);
