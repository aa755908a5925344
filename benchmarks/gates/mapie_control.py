"""MAPIE's control of several thresholds at once, for many draws: a row is accepted if no score exceeds its threshold.

The p-values are MAPIE's own function; its Holm procedure and its split fixed sequence are repeated here for many draws
at once, and :func:`same_as_mapie` compares the result with ``BinaryClassificationController`` itself.
"""

from __future__ import annotations

import itertools
import warnings

import numpy as np

from benchmarks.gates.draws import DELTA, Outcome
from benchmarks.gates.population import Population

HOLM, SEQUENCE = "bonferroni_holm", "split_fixed_sequence"
# The p-values that MAPIE looks for when it learns an order of thresholds.
_WANTED = np.logspace(-25, 0, 1000)


def mapie_grids(population: Population) -> dict[str, np.ndarray]:
    """Return sets of thresholds, one per column, from quantiles of other rows: crossed, or one column at a time."""
    held, m = population.held, len(population.columns)
    cut = np.quantile(held, (0.33, 0.67), axis=0, method="inverted_cdf")
    crossed = np.array(list(itertools.product(*np.vstack([cut, np.full(m, np.inf)]).T)))
    single = np.full((20 * m, m), np.inf)
    steps = np.quantile(held, np.arange(1, 21) / 20, axis=0, method="inverted_cdf")
    for k in range(m):
        single[20 * k : 20 * (k + 1), k] = steps[:, k]
    return {"crossed": crossed, "one column": single}


def accepts(values: np.ndarray, *limits: float) -> np.ndarray:
    """Return 1 where every score is at most its limit: the rule whose precision MAPIE controls."""
    return (values <= np.array(limits, dtype=float)).all(axis=1).astype(int)


def mapie(population: Population, n_labels: int, allowed: float, draws: int, rng: np.random.Generator) -> Outcome:
    """Return what MAPIE certifies with the grid and the procedure that suit the set best, known afterwards."""
    share = np.full(len(population.wrong), 1 / len(population.wrong))
    learn, rest = (rng.multinomial(size, share, size=draws) for size in (n_labels // 2, n_labels - n_labels // 2))
    found = []
    for grid in mapie_grids(population).values():
        found += [control(population, grid, learn + rest, allowed), control(population, grid, rest, allowed, learn)]
    return max(found, key=lambda one: float(one.coverage.mean()))


def control(
    population: Population, grid: np.ndarray, counts: np.ndarray, allowed: float, learn: np.ndarray | None = None
) -> Outcome:
    """Return what MAPIE certifies: by Holm's procedure, or in an order that the rows of ``learn`` teach.

    ``counts`` and ``learn`` say how often each row was drawn, (draws, rows).
    """
    kept = np.stack([accepts(population.values, *limits) for limits in grid], axis=1).astype(np.float32)
    risks, sizes = _risks(kept, counts, population.wrong)
    p_values = _p_values(risks, sizes, allowed, binary=True)
    if learn is None:
        valid = holm(p_values, DELTA)
    else:
        valid = sequence(_p_values(*_risks(kept, learn, population.wrong), allowed, binary=False), p_values, DELTA)
    # It takes the valid thresholds with the largest recall, of equals those with the larger risk.
    right = np.maximum(sizes, 0) * (1 - risks)
    best = np.argmax(np.where(valid, np.rint(right) + 1e-3 * risks, -1.0), axis=1)
    true, some = kept.sum(axis=0), valid.any(axis=1)
    error = (kept * population.wrong[:, None]).sum(axis=0) / np.maximum(true, 1)
    return Outcome(np.where(some, true[best] / len(kept), 0.0), some & (error[best] > allowed + 1e-9))


def _risks(kept: np.ndarray, counts: np.ndarray, wrong: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return one minus the precision of each threshold in each draw, and the rows it rests on, as MAPIE has them."""
    taken = (counts.astype(np.float32) @ kept).astype(float)
    right = ((counts * ~wrong).astype(np.float32) @ kept).astype(float)
    return np.where(taken > 0, 1 - right / np.maximum(taken, 1), 1.0), np.where(taken > 0, taken, -1.0)


def _p_values(risks: np.ndarray, sizes: np.ndarray, allowed: float, *, binary: bool) -> np.ndarray:
    from mapie.risk_control.methods import compute_hoeffding_bentkus_p_value

    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        found = compute_hoeffding_bentkus_p_value(risks.ravel(), sizes.ravel(), allowed, binary)
    return np.nan_to_num(found.reshape(risks.shape), nan=1.0)


def holm(p_values: np.ndarray, delta: float) -> np.ndarray:
    """Return which hypotheses Holm's procedure rejects, row by row."""
    order = np.argsort(p_values, axis=1)
    ranked = np.take_along_axis(p_values, order, axis=1)
    passes = np.logical_and.accumulate(ranked <= delta / np.arange(p_values.shape[1], 0, -1), axis=1)
    rejected = np.zeros_like(passes)
    np.put_along_axis(rejected, order, passes, axis=1)
    return rejected


def sequence(learned: np.ndarray, p_values: np.ndarray, delta: float) -> np.ndarray:
    """Return which hypotheses pass in a fixed sequence, row by row: first those that were surest in learning."""
    valid = np.zeros(p_values.shape, dtype=bool)
    for row, (known, found) in enumerate(zip(learned, p_values, strict=True)):
        order = list(dict.fromkeys(np.abs(known[None] - _WANTED[:, None]).argmin(axis=1).tolist()))
        failed = found[order] > delta
        valid[row, order[: int(failed.argmax()) if failed.any() else len(order)]] = True
    return valid


def same_as_mapie(
    population: Population, n_labels: int, allowed: float, rng: np.random.Generator, method: str = HOLM
) -> bool:
    """Whether MAPIE's own class covers as much on one draw, on the grid of single columns."""
    from mapie.risk_control import BinaryClassificationController

    rows, grid = rng.integers(0, len(population.wrong), n_labels), mapie_grids(population)["one column"]
    parts = [rows[: n_labels // 2], rows[n_labels // 2 :]] if method == SEQUENCE else [rows]
    own = BinaryClassificationController(
        accepts, "precision", 1 - allowed, confidence_level=1 - DELTA, list_predict_params=grid, fwer_method=method
    )
    labels = [(population.values[part], (~population.wrong[part]).astype(int)) for part in parts]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if method == SEQUENCE:
            own.learn_fixed_sequence_order(*labels[0])
        own.calibrate(*labels[-1])
    limits = own.best_predict_param
    theirs = 0.0 if limits is None else accepts(population.values, *limits).mean()
    counts = [np.bincount(part, minlength=len(population.wrong))[None] for part in parts]
    ours = control(population, grid, counts[-1], allowed, counts[0] if method == SEQUENCE else None)
    return bool(np.isclose(theirs, ours.coverage[0]))
