"""Claim: an exported model scores as the library does, to 1e-12, in onnxruntime and in JavaScript.

Ten thousand calibration rows, four columns, default settings, p-values included. Seconds are those of the processor, of
one thread; reading the model and the rows is not counted. Scores are compared too, near rows and far ones.
"""

from __future__ import annotations

import json
import shutil
import subprocess
from importlib.resources import files
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from benchmarks.measure import Claim, Spent, best_of
from vecuq import Ranker, fit_ranker

N_CALIBRATION, N_ROWS, N_SCRIPT, M = 10_000, 200_000, 50_000, 4
SCORER = files("vecuq.ranker.export") / "scorer.js"
# Scores all rows several times, and prints the best seconds of the processor and the scores.
SCRIPT = """
import { readFileSync } from "node:fs";
const { load } = await import(process.argv[1]);
const { json, rows, rounds } = JSON.parse(readFileSync(0, "utf-8"));
const model = load(json);
let [best, scores] = [Infinity, null];
for (let round = 0; round < rounds; round++) {
  const before = process.cpuUsage();
  scores = model.scores(rows);
  const { user, system } = process.cpuUsage(before);
  best = Math.min(best, (user + system) / 1e6);
}
console.log(JSON.stringify({ best, scores: scores.map((one) => [one.uncertainty, one.pValue]) }));
"""


def rows_like(n_rows: int) -> np.ndarray:
    """Return rows of which one in ten lies far out."""
    rng = np.random.default_rng(1)
    return rng.gamma(1.0, size=(n_rows, M)) * np.where(rng.random((n_rows, 1)) < 0.1, 1e3, 1.0)


def by_runtime(ranker: Ranker, rows: np.ndarray) -> tuple[Spent, Spent]:
    """Return what onnxruntime and the library take for the same rows, in turn."""
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    with TemporaryDirectory() as folder:
        ranker.to_onnx(f"{folder}/model.onnx")
        session = onnxruntime.InferenceSession(f"{folder}/model.onnx", options)
    blocks = np.array_split(rows, len(rows) // 1000)

    def run() -> np.ndarray:
        return np.concatenate([np.stack(session.run(None, {"scores": block}), axis=1) for block in blocks])

    def ours() -> np.ndarray:
        found = ranker.rank(rows, n_jobs=1)
        return np.stack([found.uncertainty, found.p_values], axis=1)

    best = best_of({"onnx": run, "ours": ours}, {"onnx": 5, "ours": 5})
    return best["onnx"], best["ours"]


def by_script(ranker: Ranker, rows: np.ndarray) -> tuple[float, np.ndarray] | None:
    """Return the seconds and the scores of the scorer in JavaScript; None without node."""
    node = shutil.which("node")
    if node is None:
        return None
    asked = json.dumps({"json": ranker.to_json(), "rows": rows.tolist(), "rounds": 5})
    words = [node, "--input-type=module", "-e", SCRIPT, str(SCORER)]
    done: Any = subprocess.run(words, input=asked, capture_output=True, text=True, check=True)  # noqa: S603 - our own
    found = json.loads(done.stdout)
    return found["best"], np.array(found["scores"])


def claims_of(name: str, seconds: float, found: np.ndarray, ours: Spent) -> list[Claim]:
    """Return how fast somebody is beside the library, and how far the scores are apart."""
    known = ours.result[: len(found)]
    rates = len(found) / seconds, len(ours.result) / ours.cpu
    worst = float((np.abs(found[:, 0] - known[:, 0]) / np.maximum(1.0, known[:, 0])).max())
    differ = int((found[:, 1] != known[:, 1]).sum())
    return [
        Claim(f"export, {name}", f"{rates[0]:,.0f} rows/s", f"library {rates[1]:,.0f} rows/s", rates[0] / rates[1]),
        Claim(f"export, {name}, error", f"{worst:.0e}", "library", worst, "", goal=1e-12, at_least=False),
        Claim(f"export, {name}, other p-values", f"{differ}", "library", differ, "", goal=0, at_least=False),
    ]


def run(quick: bool = False) -> list[Claim]:
    """Score the same rows by the library, by onnxruntime and by the scorer in JavaScript."""
    ranker = fit_ranker(np.random.default_rng(0).gamma(1.0, size=(N_CALIBRATION, M)))
    rows = rows_like(N_ROWS // 4 if quick else N_ROWS)
    with threadpool_limits(1):
        onnx, ours = by_runtime(ranker, rows)
    claims = claims_of("onnxruntime", onnx.cpu, onnx.result, ours)
    script = by_script(ranker, rows[:N_SCRIPT])
    return claims if script is None else [*claims, *claims_of("JavaScript", *script, ours)]
