// Elements: how parts of the page are made and found, and numbers as people read them. No text is ever parsed as HTML.

const one = (selector, within = document) => within.querySelector(selector);
const all = (selector, within = document) => Array.from(within.querySelectorAll(selector));
const known = (id) => JSON.parse(document.getElementById(id)?.textContent ?? "null");

/** Return an element: made("button", {type: "button", ariaLabel, onclick}, "text", child). */
function made(tag, traits = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(traits)) {
    if (name.startsWith("aria")) element.setAttribute(`aria-${name.slice(4).toLowerCase()}`, value);
    else element[name] = value;
  }
  element.append(...children.filter((child) => child !== null));
  return element;
}

/** Tell a screen reader what happened. */
function say(text) {
  one("#status").textContent = text;
}

/** A measured number: four digits, no noise. */
function number(value, digits = 4) {
  if (value === null || value === undefined || !Number.isFinite(value)) return "–";
  if (value === 0) return "0";
  const size = Math.abs(value);
  const text = size >= 1e6 || size < 1e-4 ? value.toExponential(digits - 1) : String(+value.toPrecision(digits));
  return text.replace("-", "−");
}

const count = (n) => n.toLocaleString("en");
const rowsWord = (n) => `${count(n)} ${n === 1 ? "row" : "rows"}`;

/** Copy a text; where the browser refuses, by a selection, as in former times. */
async function copy(text, what) {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    const place = made("textarea", { value: text, className: "unseen" });
    document.body.append(place);
    place.select();
    document.execCommand("copy");
    place.remove();
  }
  say(`${what} copied`);
}

/** Show for a moment, on the button itself, that it did its work. */
function confirm(button, word) {
  const before = button.dataset.word ?? button.textContent;
  button.dataset.word = before;
  button.textContent = word;
  setTimeout(() => { button.textContent = before; }, 1500);
}
