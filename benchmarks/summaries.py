"""Summaries of labelled rows: rows a second, bytes, and how far every metric is from the exact one.

Run with ``python -m benchmarks.summaries [rows in millions]``; the figures of docs/scale-decisions.md come from here.
The exact metrics are those of all rows in memory, on 10 million rows; beyond, what the summary says of itself.
CPU seconds, one process.
"""

from __future__ import annotations

import sys
import time
import warnings
from collections.abc import Callable, Iterator

import numpy as np

from vecuq import Gate, fit_ranker, load
from vecuq._check import Array
from vecuq.evaluation import Bootstrap, PartialEvaluation, SummaryEvaluation, evaluate
from vecuq.gate import PartialGate
from vecuq.monitor import DriftCounts

BATCH, MILLION = 500_000, 10**6
NO_INTERVALS = Bootstrap(resamples=0)
# For these the exact metrics are computed, too, which takes most of the time.
EXACT = ("uniform", "exponential", "three digits")
Draw = Callable[[np.random.Generator, int], Array]
SCORES: dict[str, Draw] = {
    "uniform": lambda rng, n: rng.random(n),
    "exponential": lambda rng, n: rng.exponential(size=n),
    "normal": lambda rng, n: rng.normal(size=n),
    "10 to 11": lambda rng, n: 10.0 + rng.random(n),
    "near 0": lambda rng, n: rng.beta(0.1, 2.0, size=n),
    "three digits": lambda rng, n: rng.random(n).round(3),
}


def batches(draw: Draw, n_rows: int) -> Iterator[tuple[Array, Array, Array]]:
    """Yield scores, errors and qualities; rows of high rank are wrong more often."""
    rng = np.random.default_rng(0)
    for _ in range(n_rows // BATCH):
        score = draw(rng, BATCH)
        rank = (score - 0.5) / (1.0 + np.abs(score - 0.5))
        chance = 0.05 + 0.3 * np.clip(rank + 0.3, 0.0, 1.0)
        yield score, rng.random(BATCH) < chance, np.clip(1.0 - chance + 0.1 * rng.normal(size=BATCH), 0.0, 1.0)


def counted(draw: Draw, n_rows: int, *, quality: bool) -> tuple[PartialEvaluation, float]:
    """Return the summary and the CPU seconds that counting took, without drawing the rows."""
    partial, spent = PartialEvaluation(), 0.0
    for score, wrong, good in batches(draw, n_rows):
        labels = {"error": wrong, "quality": good} if quality else {"error": wrong}
        start = time.process_time()
        partial.update(score, **labels)
        spent += time.process_time() - start
    return partial, spent


def beside_exact(n_rows: int) -> None:
    """Print the largest error that is stated, and the largest that is seen, for every law of scores."""
    print(f"{n_rows // MILLION} million rows, errors: rows/s, bytes, cells, stated and seen error, seconds to evaluate")
    for name, draw in SCORES.items():
        partial, spent = counted(draw, n_rows, quality=False)
        start = time.process_time()
        found = partial.evaluate(bootstrap=NO_INTERVALS)
        took = time.process_time() - start
        seen = "" if name not in EXACT else f"({_seen(draw, n_rows, found):.1e} seen)"
        area = found.estimate("uncertainty", "error roc_auc").error
        worst = max(found.rows(), key=lambda one: one["highest"] - one["lowest"])
        print(
            f"  {name:12s} {n_rows / spent:9.3g}  {len(partial.to_bytes()):9,}  "
            f"{len(partial.cells_of('uncertainty', 'error')):7,}  roc_auc {area:.1e}  "
            f"worst {found.error:.1e} {worst['metric']} {seen}  {took:.2f}",
            flush=True,
        )


def _seen(draw: Draw, n_rows: int, found: SummaryEvaluation) -> float:
    """Return how far the farthest metric is from that of all rows in memory."""
    rows = [np.concatenate(part) for part in zip(*batches(draw, n_rows), strict=True)]
    exact = evaluate({"uncertainty": rows[0]}, error=rows[1], bootstrap=NO_INTERVALS)
    pairs = zip(found.rows(), exact.rows(), strict=True)
    assert all(one["lowest"] - 1e-9 <= two["value"] <= one["highest"] + 1e-9 for one, two in pairs)
    return max(abs(one["value"] - two["value"]) for one, two in zip(found.rows(), exact.rows(), strict=True))


def alone(n_rows: int) -> None:
    """Print what the summary says of itself on more rows than are kept."""
    print(f"{n_rows // MILLION:,} million rows, errors and quality")
    for name in ("uniform", "exponential"):
        partial, spent = counted(SCORES[name], n_rows, quality=True)
        start = time.process_time()
        found = partial.evaluate()
        took = time.process_time() - start
        print(f"  {name}: {n_rows / spent:.3g} rows/s, {len(partial.to_bytes()):,} bytes, evaluated in {took:.1f} s")
        for row in found.rows():
            value = found.estimate("uncertainty", f"{row['task']} {row['metric']}")
            print(f"    {row['task']:10s} {row['metric']:28s} {value:.6f}  (error {value.error:.1e})", flush=True)


def gates(n_rows: int) -> None:
    """Print how fast rows are counted for a gate and for drift, scoring included, and how large the counts are."""
    rng = np.random.default_rng(1)
    ranker = fit_ranker(rng.gamma(1.0, size=(5_000, 4)))
    part, drift, spent = PartialGate(Gate(ranker, accuracy=0.9)), DriftCounts(ranker), [0.0, 0.0, 0.0]
    for _ in range(n_rows // BATCH):
        rows = rng.gamma(1.0, size=(BATCH, 4))
        right = rng.random(BATCH) > rows.sum(axis=1) / 30
        for k, count in enumerate((lambda r, _: ranker.uncertainty(r), part.update, lambda r, _: drift.update(r))):
            start = time.process_time()
            count(rows, right)
            spent[k] += time.process_time() - start
    print(
        f"{n_rows // MILLION} million rows x 4: scoring alone {n_rows / spent[0]:.3g} rows/s, counted for a gate "
        f"{n_rows / spent[1]:.3g} ({len(part.to_bytes()):,} bytes with the model), for drift {n_rows / spent[2]:.3g}"
    )
    start = time.process_time()
    made = part.fit()
    print(f"  gate fitted in {time.process_time() - start:.2f} s, coverage {made.coverage_:.3f}")
    assert load(made.to_bytes()).threshold_ == made.threshold_


def main() -> None:
    """Print all figures."""
    warnings.simplefilter("ignore", UserWarning)
    gates(2 * MILLION)
    alone(int(float(sys.argv[1]) * MILLION) if len(sys.argv) > 1 else 100 * MILLION)
    beside_exact(10 * MILLION)


if __name__ == "__main__":
    main()
