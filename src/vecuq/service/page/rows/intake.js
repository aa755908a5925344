// Intake: what a dropped file or a pasted text is, and the way to its scores.

import { modelPath, send } from "../api.js";
import { decoded } from "./table.js";

export const ARROW = "application/vnd.apache.arrow.stream";
const PASTED = "pasted rows";
const [CSV, LINES] = ["text/csv", "application/x-ndjson"];
const TYPES = {
  csv: CSV, tsv: "tsv", txt: CSV, parquet: "application/vnd.apache.parquet", pq: "application/vnd.apache.parquet", jsonl: LINES, ndjson: LINES,
  json: "json", arrow: "application/vnd.apache.arrow.file", feather: "application/vnd.apache.arrow.file", arrows: ARROW, npz: "application/x-npz",
};
export const ENDINGS = [...Object.keys(TYPES), "gz"].map((each) => `.${each}`).join(",");

/** Return {name, body, type} of a file: what is sent. A .gz is unpacked here. */
export async function fromFile(file) {
  const packed = /\.gz$/i.test(file.name);
  const name = file.name.replace(/\.gz$/i, "");
  const body = packed ? await unpacked(file) : file;
  const ending = name.split(".").pop().toLowerCase();
  const type = (await byContent(body)) ?? TYPES[ending];
  if (!type) throw new Error(`${file.name} is no file that can be scored. Use csv, tsv, parquet, Arrow or jsonl.`);
  if (type === "tsv") return { name: file.name, body: commas(await body.text()), type: CSV };
  if (type === "json") return { ...fromText(await body.text()), name: file.name };
  return { name: file.name, body, type };
}

/** Return {name, body, type} of pasted rows: csv, cells of a spreadsheet, JSON or JSON lines. */
export function fromText(text) {
  const name = PASTED;
  const start = text.trimStart();
  if (!start) throw new Error("Nothing was pasted. Paste rows as csv, with the names of the columns in the first line, or as JSON.");
  if ("[{".includes(start[0])) return { name, body: lines(text), type: LINES };
  const header = start.split("\n", 1)[0];
  return { name, body: header.includes("\t") ? commas(start) : start, type: CSV };
}

/** Score what came; the answer is a table. progress: see send(). */
export async function scoredTable({ body, type }, model, { by = "", map = "", progress, signal }) {
  const query = new URLSearchParams({ record: "false", replace: "true", ...(by && { by }), ...(map && { map }) });
  if (!model.takesRows) query.set("explain", "true"); // reasons of single rows cannot be requested later
  if (model.isAnswers) query.set("texts", "true");
  const bytes = await send(modelPath(model.name, `/score?${query}`), body, { type, accept: ARROW, progress, signal });
  progress({ phase: "decoding", done: 0, total: 0 });
  await new Promise((done) => setTimeout(done)); // let the page say so
  return decoded(bytes, model);
}

/** Say the name of what was sent, where the service can only say "The body" or "The table". */
export function named(failure, { name }) {
  if (failure.status) failure.message = failure.message.replace(/\bThe body\b|^The table\b/g, name === PASTED ? "The pasted text" : name);
  return failure;
}

/** The map of fields that the service asks for, "" where it names none; null where it asks for no map. */
export const mapAsked = ({ message }) => (/\bmap\b/.test(message) ? (/map='([^']+)'/.exec(message)?.[1] ?? "") : null);

async function unpacked(file) {
  try {
    return await new Response(file.stream().pipeThrough(new DecompressionStream("gzip"))).blob();
  } catch {
    throw new Error(`${file.name} is no gzip file, or it is damaged.`);
  }
}

/** Parquet and Arrow begin with marks of their own, whatever the file is called. */
async function byContent(body) {
  const [a, b, c, d] = new Uint8Array(await body.slice(0, 4).arrayBuffer());
  const mark = String.fromCharCode(a, b, c, d);
  return { PAR1: TYPES.parquet, ARRO: TYPES.arrow, "\xff\xff\xff\xff": ARROW }[mark];
}

/** JSON lines of JSON: a list of rows, {"rows": [...]}, one row, or lines already. */
function lines(text) {
  let found;
  try {
    found = JSON.parse(text);
  } catch {
    if (text.trim().split("\n").every(isJson)) return text;
    throw new Error("What was pasted begins like JSON and is none. Paste a list of rows, or one row per line.");
  }
  const rows = Array.isArray(found) ? found : Array.isArray(found.rows) ? found.rows : [found];
  return rows.map((row) => JSON.stringify(row)).join("\n") + "\n";
}

function isJson(line) {
  try {
    return !line.trim() || typeof JSON.parse(line) === "object";
  } catch {
    return false;
  }
}

/** Cells parted by tabs as csv. */
function commas(text) {
  const cell = /("(?:[^"]|"")*"|[^\t\r\n]*)(\t|\r?\n|\r|$)/gy;
  const quoted = (each) => (/[",]/.test(each) && !each.startsWith('"') ? `"${each.replaceAll('"', '""')}"` : each);
  return text.replace(cell, (_, each, end) => quoted(each) + (end === "\t" ? "," : end));
}
