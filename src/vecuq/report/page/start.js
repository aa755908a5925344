// Start: what the page does once it is read. Without this script it is a page to read.

/** The model, with what sliders need: medians and ranges as the user has the values. */
function opened(json) {
  if (!json) return null;
  const model = load(json);
  const sign = (k) => (model.flipped.includes(model.columns[k]) ? -1 : 1);
  const explained = (values) => (json.medians && values.every(Number.isFinite) ? model.contributions(values) : null);
  return {
    score: (values) => model.score(values),
    contributions: explained,
    active: json.active,
    medians: json.medians?.map((value, k) => sign(k) * value),
    range: (k) => calibrationRange(json, k)?.map((value) => sign(k) * value).sort((a, b) => a - b),
  };
}

/** The calibration range of a column, in the direction of the model; null where its scaling does not keep it. */
function calibrationRange({ active, scaling, settings }, k) {
  const place = active.indexOf(k);
  if (place < 0 || settings.scaling !== "featurewise") return null;
  return [scaling.lower[place], scaling.lower[place] + scaling.span[place]];
}

function startRows() {
  const data = known("rows-data");
  const table = one("#rows-table");
  if (!table) return;
  const rows = new Rows(data, table);
  addSorting(rows, table.tHead.rows[0]);
  addTools(rows, one(".tools"), one(".more"));
  const panel = new Panel(rows, one(".panel"), { model: opened(known("model-data")), data });
  for (const row of rows.all) {
    const cell = row.group.rows[0].cells[0];
    cell.append(made("button", { type: "button", className: "choose", onclick: () => panel.open(row) }, ...cell.childNodes));
  }
  rows.update();
}

function startCommands() {
  for (const button of all(".copy")) {
    button.hidden = false;
    button.addEventListener("click", async () => {
      await copy(button.previousElementSibling.textContent, "Command");
      confirm(button, "Copied");
    });
  }
}

/** On paper everything that is folded is read; afterwards it is as it was. */
function startPrinting() {
  let folded = [];
  addEventListener("beforeprint", () => {
    folded = all("details:not([open])");
    for (const each of folded) each.open = true;
  });
  addEventListener("afterprint", () => { for (const each of folded) each.open = false; });
}

/** A link to something folded opens it. */
function startFolded() {
  const unfold = () => { const found = document.getElementById(decodeURIComponent(location.hash.slice(1))); if (found?.tagName === "DETAILS") found.open = true; };
  addEventListener("hashchange", unfold);
  unfold();
}

document.documentElement.classList.add("scripted");
for (const each of all(".with-script")) each.hidden = false;
startRows();
startCommands();
startPrinting();
startFolded();
