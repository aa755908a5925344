// Rows: the table that is in the page already becomes one that can be searched, sorted and filtered.

const STEP = 100; // rows at a time: more are slow to draw, and long on paper
const WORDS = { accept: ["not accepted", "accepted"], flagged: ["not flagged", "flagged"], wrong: ["right", "wrong"] }; // by role: of false, of true

class Rows {
  constructor(data, table) {
    this.columns = data.columns;
    const texts = this.columns.flatMap(({ numeric, role }, k) => (role !== "id" && (numeric || role in WORDS) ? [] : [k]));
    this.all = Array.from(table.tBodies, (group, place) => {
      const [values, why] = [data.rows[place], group.rows[1].textContent];
      return { values, why, group, place, text: [...texts.map((k) => values[k]), why].join("\n").toLowerCase() };
    });
    Object.assign(this, { table, tests: new Map(), most: STEP, order: this.all, chosen: this.all, sort: null });
  }

  /** The place of the first column with a role; -1 if there is none. */
  at(role) {
    return this.columns.findIndex((each) => each.role === role);
  }

  /** Show the rows that pass all tests, in the order of a column. */
  update() {
    const tests = [...this.tests.values()];
    this.chosen = this.order.filter((row) => tests.every((test) => test(row)));
    this.draw();
  }

  /** Show the first of the chosen rows; only these are put in order, for the others cannot be seen. */
  draw() {
    const first = this.chosen.slice(0, this.most);
    const shown = new Set(first);
    for (const row of this.all) if (row.group.hidden === shown.has(row)) row.group.hidden = !shown.has(row);
    if (this.sort) this.table.append(...first.map(({ group }) => group));
    this.onDraw?.(shown.size);
  }

  filter(name, test) {
    this.most = STEP;
    if (test) this.tests.set(name, test);
    else this.tests.delete(name);
    this.update();
  }

  sortBy(k, descending) {
    Object.assign(this, { order: sorted(this.all, k, descending), sort: { k, descending }, most: STEP });
    this.update();
  }

  show(most) {
    this.most = most;
    this.draw();
  }
}

/** Turn the heading of every column into a button that sorts. */
function addSorting(rows, head) {
  Array.from(head.cells).forEach((cell, k) => {
    const arrow = made("span", { className: "arrow", ariaHidden: "true" });
    const button = made("button", { type: "button", className: "sort", title: cell.firstElementChild.title || "Sort" }, ...cell.childNodes, arrow);
    button.addEventListener("click", () => {
      const first = rows.columns[k].numeric || rows.columns[k].role in WORDS;
      const descending = rows.sort?.k === k ? !rows.sort.descending : first;
      rows.sortBy(k, descending);
      for (const other of head.cells) other.removeAttribute("aria-sort");
      cell.setAttribute("aria-sort", descending ? "descending" : "ascending");
      for (const each of all(".arrow", head)) each.textContent = "";
      arrow.textContent = descending ? "↓" : "↑";
    });
    cell.append(button);
  });
}

/** Add search, filters, the count of rows that are shown, and buttons for what can be done with them. */
function addTools(rows, place, more) {
  const shown = made("span", { className: "shown" });
  shown.setAttribute("role", "status");
  const search = made("input", { type: "search", placeholder: `Search, or ${example(rows)}`, ariaLabel: "Search rows" });
  search.addEventListener("input", () => rows.filter("search", search.value.trim() && searchTest(rows.columns, search.value)));
  place.append(made("div", { className: "filters" }, search, ...filters(rows), shown), made("div", { className: "filters" }, ...savers(rows), percentiles()));
  rows.onDraw = (n) => {
    const found = rows.chosen.length;
    shown.textContent = found === rows.all.length ? rowsWord(found) : `${count(found)} of ${rowsWord(rows.all.length)}`;
    more.replaceChildren(...furtherRows(rows, n, found));
  };
}

function example(rows) {
  const { name } = rows.columns[rows.at("score")];
  return `${name.length > 14 ? "uncertainty" : name} > ${number(rows.all[0].values[rows.at(name.length > 14 ? "uncertainty" : "score")] ?? 1, 1)}`;
}

/** What stands below the table: how many rows there are, and buttons for more of them. */
function furtherRows(rows, n, found) {
  if (!found) return [made("p", { className: "soft" }, "Nothing matches the search and the filters.")];
  if (n === found) return [];
  const button = (text, most) => made("button", { type: "button", onclick: () => rows.show(most) }, text);
  const words = made("span", { className: "soft" }, `The first ${count(n)} of ${rowsWord(found)}; these are printed.`);
  return [words, button(`Show ${Math.min(STEP, found - n)} more`, n + STEP), ...(found - n > STEP ? [button("Show all", found)] : [])];
}

/** A filter for every column with few values, and one for p-values. */
function filters(rows) {
  const chosen = rows.columns.flatMap(({ role, name }, k) => {
    const found = role in WORDS || ["leading", "id", "other"].includes(role) ? choices(rows.all, k) : null;
    return found ? [chooser(rows, k, name, found.map(([value, n]) => [value, `${WORDS[role]?.[+value] ?? value ?? "–"} (${count(n)})`]))] : [];
  });
  return rows.at("p_value") < 0 ? chosen : [...chosen, pValueFilter(rows)];
}

function chooser(rows, k, name, found) {
  const options = found.map(([, words], place) => made("option", { value: String(place) }, short(words)));
  const select = made("select", {}, made("option", { value: "" }, "all"), ...options);
  select.addEventListener("change", () => {
    const value = select.value && found[select.value][0];
    rows.filter(k, select.value && (({ values }) => values[k] === value));
  });
  return made("label", {}, made("bdi", { title: name }, short(name, 24)), select);
}

function pValueFilter(rows) {
  const k = rows.at("p_value");
  const field = made("input", { type: "number", min: "0", max: "1", step: "any", placeholder: "1" });
  field.addEventListener("input", () => {
    const most = field.valueAsNumber;
    rows.filter("p", Number.isFinite(most) && (({ values }) => values[k] !== null && values[k] <= most));
  });
  return made("label", {}, "p-value up to", field);
}

function percentiles() {
  const box = made("input", { type: "checkbox" });
  box.addEventListener("change", () => one("#rows-table").classList.toggle("with-percentiles", box.checked));
  return made("label", {}, box, "show percentiles");
}

const short = (text, most = 40) => (text.length > most ? `${text.slice(0, most - 1)}…` : text);
