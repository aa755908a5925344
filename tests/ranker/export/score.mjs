// Loads a model and answers one question about it; both come as one JSON document from standard input.
import { readFileSync } from "node:fs";

const { load } = await import(process.argv[2]);
const { model, rows, changes } = JSON.parse(readFileSync(0, "utf-8"));
const said = {};
try {
  const loaded = load(model);
  said.scores = loaded.scores(rows);
  if (changes) {
    said.changed = rows.map((row) => loaded.whatIf(row, changes));
    said.contributions = rows.map((row) => loaded.contributions(row));
    said.baseline = loaded.baseline;
  }
} catch (error) {
  said.error = error.message;
}
console.log(JSON.stringify(said));
