// Panel: all that is known of one row, and what its score would be with other values.

class Panel {
  constructor(rows, place, { model, data }) {
    Object.assign(this, { rows, place, model, known: data });
    this.scores = rows.columns.flatMap(({ role, name }, k) => (role === "score" ? [{ name, k }] : []));
    place.addEventListener("keydown", (event) => { if (event.key === "Escape") this.close(); });
  }

  open(row) {
    this.row?.group.classList.remove("open");
    row.group.classList.add("open");
    this.row = row;
    this.values = this.scores.map(({ k }) => row.values[k]);
    this.draw();
    this.place.hidden = false;
    document.body.classList.add("with-panel");
    one("h3", this.place).focus({ preventScroll: true });
    row.group.scrollIntoView({ block: "nearest" });
  }

  close() {
    this.place.hidden = true;
    document.body.classList.remove("with-panel");
    this.row.group.classList.remove("open");
    one("button", this.row.group).focus();
  }

  move(step) {
    const next = this.rows.chosen[this.rows.chosen.indexOf(this.row) + step];
    if (!next) return;
    if (next.group.hidden) this.rows.show(this.rows.most + STEP);
    this.open(next);
  }

  draw() {
    const { group, why } = this.row;
    const button = (text, label, onclick) => made("button", { type: "button", ariaLabel: label, title: label, onclick }, text);
    this.result = made("p", { className: "result", ariaLive: "polite" });
    this.bars = made("ul", { className: "bars" });
    this.place.replaceChildren(
      made("div", { className: "panel-head" }, made("h3", { tabIndex: -1 }, made("bdi", {}, `${this.rows.columns[0].name === "row" ? "row " : ""}${one("th", group).textContent}`)),
        button("↑", "Row before", () => this.move(-1)), button("↓", "Next row", () => this.move(1)), button("×", "Close", () => this.close()), this.result),
      made("p", {}, why),
      ...(this.model ? this.sliders() : [made("p", { className: "soft" }, `No what-if here: ${this.known.why_not}`)]),
      this.bars,
      this.others(),
    );
    this.update();
  }

  sliders() {
    const lines = this.scores.flatMap((score, k) => (this.model.active.includes(k) ? [this.slider(score, k)] : []));
    const notes = [this.known.why_no_p, this.known.accept_why_not].filter(Boolean);
    this.reset = made("button", { type: "button", onclick: () => this.back(lines) }, "Reset");
    const set = made("fieldset", {}, made("legend", {}, "What if the scores were others?"), ...lines.map(({ line }) => line), this.reset);
    return [set, ...notes.map((each) => made("p", { className: "soft" }, each))];
  }

  /** A slider and a number field for one score, and a button that puts it at the calibration median. */
  slider({ name, k: column }, k) {
    const [low, high] = this.range(k);
    const start = this.values[k];
    const typical = this.model.medians?.[k] ?? null;
    const range = made("input", { type: "range", min: low, max: high, step: "any", ariaLabel: name });
    const field = made("input", { type: "number", step: "any", ariaLabel: `${name}, number`, placeholder: "missing" });
    const middle = typical === null ? null : made("button", { type: "button", title: `${number(typical)}: the median of calibration rows`, ariaLabel: `${name} at its median` }, "typical");
    const place = made("small", {}, one("i", this.row.group.rows[0].cells[column])?.textContent ?? "");
    const put = (value) => {
      range.value = value ?? typical ?? low;
      field.value = value === null ? "" : +value.toPrecision(5);
      range.setAttribute("aria-valuetext", value === null ? "missing" : number(value));
    };
    const set = (value) => { this.values[k] = value; place.hidden = value !== start; this.later(); };
    range.addEventListener("input", () => { put(range.valueAsNumber); set(range.valueAsNumber); });
    field.addEventListener("input", () => {
      const value = Number.isFinite(field.valueAsNumber) ? field.valueAsNumber : null;
      range.value = value ?? typical ?? low;
      set(value);
    });
    middle?.addEventListener("click", () => { put(typical); set(typical); });
    put(start);
    return { line: made("div", { className: "slider" }, made("span", {}, made("bdi", { title: name }, short(name, 60)), place), range, field, middle), put: () => { put(start); place.hidden = false; } };
  }

  back(lines) {
    this.values = this.scores.map(({ k }) => this.row.values[k]);
    for (const each of lines) each.put();
    this.update();
  }

  /** From the smallest to the largest calibration value, as far as the model knows them, and the row's own. */
  range(k) {
    const seen = this.rows.all.map(({ values }) => values[this.scores[k].k]).filter((value) => value !== null);
    seen.push(this.model.medians?.[k] ?? seen[0] ?? 0);
    const [low, high] = this.model.range(k) ?? [Math.min(...seen), Math.max(...seen)];
    const own = this.values[k] ?? low;
    const room = 0.1 * (Math.max(high, own) - Math.min(low, own) || 1);
    return [Math.min(low, own) - room, Math.max(high, own) + room];
  }

  /** Once per frame is as often as anybody can see. */
  later() {
    this.waiting ??= requestAnimationFrame(() => { this.waiting = null; this.update(); });
  }

  update() {
    const before = (role) => this.row.values[this.rows.at(role)] ?? this.known.alike[role] ?? null;
    const changed = this.scores.some(({ k }, j) => this.values[j] !== this.row.values[k]);
    const found = changed ? this.model.score(this.values) : { uncertainty: before("uncertainty"), pValue: before("p_value") };
    const parts = [fact("uncertainty", found.uncertainty, changed && before("uncertainty"))];
    if (this.rows.at("p_value") >= 0) parts.push(fact("p-value", found.pValue, changed && before("p_value"), 3));
    parts.push(...this.verdicts(found.uncertainty, changed, before));
    if (found.uncertainty === null) parts.push(made("small", {}, "needs a value in every score"));
    this.result.replaceChildren(...parts);
    if (this.reset) this.reset.disabled = !changed;
    this.bars.replaceChildren(...this.contributions());
  }

  /** What is decided of the row: as it was, or by the limits if it changed; nothing where no limit is known. */
  verdicts(uncertainty, changed, before) {
    const { threshold, accept_up_to: most } = this.known;
    const said = (role, limit, isSo, looks) => {
      const rule = limit === null || uncertainty === null ? null : isSo;
      const value = changed ? rule : before(role) ?? rule;
      return value === null ? [] : [made("span", { className: `badge ${looks[+value]}` }, WORDS[role][+value])];
    };
    return [...said("flagged", threshold, uncertainty > threshold, ["", "wrong"]), ...said("accept", most, uncertainty <= most, ["wrong", "right"])];
  }

  contributions() {
    const parts = this.model?.contributions(this.values);
    if (!parts) return [];
    const longest = Math.max(...parts.map(Math.abs), 1e-12);
    const middle = parts.some((part) => part < 0) ? 50 : 0; // percent from the left, where typical is
    return parts.map((part, k) => {
      const length = ((100 - middle) * Math.abs(part)) / longest;
      const fill = made("span", { className: part < 0 ? "below" : "above" });
      Object.assign(fill.style, { left: `${middle - (part < 0 ? length : 0)}%`, width: `${length}%` });
      const { name } = this.scores[k];
      return made("li", {}, made("bdi", { title: name }, short(name, 60)), made("span", { className: "track", ariaHidden: "true" }, fill), exact(part, `${part > 0 ? "+" : ""}${number(part, 3)}`));
    });
  }

  /** The other columns of the row, in full. */
  others() {
    const listed = this.rows.columns.flatMap(({ role, name }, k) => (["other", "row", "p_wrong", "wrong"].includes(role) ? [[name, this.row.group.rows[0].cells[k].textContent, this.row.values[k]]] : []));
    return made("dl", {}, ...listed.map(([name, shown, value]) => made("div", {}, made("dt", {}, made("bdi", {}, short(name, 60))), made("dd", {}, made("bdi", {}, typeof value === "string" ? plain(value) : shown)))));
  }
}

const exact = (value, text) => made("data", { value: String(value) }, text); // every digit is there for programs
const fact = (name, value, was, digits) => made("span", {}, `${name} `, made("strong", {}, exact(value, number(value, digits))),
  was === false ? null : made("small", {}, ` was ${number(was, digits)}`));

/** A text without letters that would turn what follows them around. */
const plain = (text) => text.replace(/[\p{Cc}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu, (letter) => (/[\n\t]/.test(letter) ? letter : "\ufffd"));
