"""Which order? Other labels choose it, so that those which certify have not been looked at."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vecuq._check import Array
from vecuq.conformal import Ladder
from vecuq.errors import CalibrationError, VecuqError
from vecuq.gate.rule import Labelled, acceptance
from vecuq.gate.scoring import MODEL, WEIGHTED, Scoring, can_weigh, columns_in, inner, values_in
from vecuq.gate.settings import GateSettings

BEST = "best"
# The share of the labels that chooses, and the fewest that may.
_SHARE, _FEWEST = 0.25, 50
# Weights are learned from at least so many right and so many wrong rows.
_TO_LEARN = 20


def chosen_order(
    model: Any,
    rows: Any,
    losses: Array,
    usable: NDArray[np.bool_],
    settings: GateSettings,
    *,
    groups: NDArray[np.intp] | None = None,
) -> tuple[Scoring, NDArray[np.bool_]]:
    """Return the order with the lowest error over all coverages on some labels, and which labels are left.

    **Assumption.** The labelled rows, or the groups that they come in, are independent.

    **Promise.** The labels that are left are as if the order had been given: what they certify holds.

    **Theorem.** Sample splitting.
    """
    units = np.arange(len(losses)) if groups is None else groups
    candidates = np.unique(units[usable])
    size = int(_SHARE * len(candidates))
    if size < _FEWEST:
        raise CalibrationError(
            f"order='best' spends a quarter of the labels on the choice, which takes {int(_FEWEST / _SHARE)} labels; "
            f"there are {len(candidates):,}. Use order='model', or name a column."
        )
    pilot = np.isin(units, np.random.default_rng(settings.seed).choice(candidates, size, replace=False)) & usable
    orders = [Scoring(model, order, settings.guard) for order in (MODEL, *columns_in(model))]
    orders += _weighted(model, rows, losses, pilot, settings.guard)
    areas = [error_area(order.scores(rows)[pilot], losses[pilot]) for order in orders]
    return orders[int(np.argmin(areas))], ~pilot


def _weighted(model: Any, rows: Any, losses: Array, pilot: NDArray[np.bool_], guard: float | None) -> list[Scoring]:
    """Return the order by weights that the pilot's labels learn; none where they are too few, or not right or wrong."""
    wrong = losses[pilot] > 0.5
    if not can_weigh(model) or not np.isin(losses, (0.0, 1.0)).all() or min(wrong.sum(), (~wrong).sum()) < _TO_LEARN:
        return []
    from vecuq.ranker import learn_weights

    values = values_in(model, rows)
    complete = pilot & np.isfinite(values).all(axis=1)
    try:
        learned = learn_weights(inner(model).as_table(values[complete]), losses[complete] > 0.5)
    except VecuqError:  # nothing to learn from these rows
        return []
    return [Scoring(model, WEIGHTED, guard, {name: float(weight) for name, weight in learned.items()})]


def error_area(scores: Array, losses: Array) -> float:
    """Return the mean error rate over all coverages (AURC); equal scores share their mean loss.

    Examples
    --------
    >>> error_area(np.array([0.1, 0.2, 0.3]), np.array([0.0, 0.0, 1.0])).__round__(3)
    0.111
    """
    filled = np.where(np.isnan(scores), np.inf, scores)
    _, inverse, counts = np.unique(filled, return_inverse=True, return_counts=True)
    shared = (np.bincount(inverse, weights=losses) / counts)[inverse]
    ordered = shared[np.argsort(filled, kind="stable")]
    return float((np.cumsum(ordered) / np.arange(1, len(ordered) + 1)).mean())


def coverages(
    model: Any, settings: GateSettings, rows: Any, labelled: Labelled, kept: NDArray[np.bool_]
) -> dict[str, float]:
    """Return what each order would have covered with the same labels; only that of the gate is certified."""
    if settings.target.kind not in ("accuracy", "quality"):
        return {}
    return {
        order: coverage_of(again, settings.target.allowed, settings.delta)
        for order, again in _by_order(model, settings, rows, labelled, kept)
    }


def coverage_lines(
    model: Any, settings: GateSettings, rows: Any, labelled: Labelled, kept: NDArray[np.bool_]
) -> dict[str, list[tuple[float, float]]]:
    """Return, for every order, what it covers at each certified accuracy; each point holds by itself, not all at once.

    The accuracies reach from half to one, closer to each other where errors are rare.
    """
    return {
        order: coverage_line(again, settings.delta) for order, again in _by_order(model, settings, rows, labelled, kept)
    }


def coverage_line(rows: Labelled, delta: float) -> list[tuple[float, float]]:
    """Return what the order of labelled rows covers at each certified accuracy; each point holds by itself."""
    accuracies = 1.0 - np.geomspace(0.5, 0.005, 60)
    return [(float(a), coverage_of(rows, 1.0 - a, delta)) for a in accuracies]


def _by_order(
    model: Any, settings: GateSettings, rows: Any, labelled: Labelled, kept: NDArray[np.bool_]
) -> Iterator[tuple[str, Labelled]]:
    """Yield the labelled rows as each order scores them."""
    for order in [MODEL, *columns_in(model)]:
        scoring = Scoring(model, order, settings.guard)
        scores, known = scoring.scores(rows)[kept], scoring.unlabelled()
        ladder = Ladder.of(known if len(known) > 1 else scores)
        yield order, Labelled("", scores, labelled.losses, labelled.groups, ladder)


def coverage_of(rows: Labelled, allowed: float, delta: float) -> float:
    """Return the share of the rows that is accepted at a target; 0 where nothing is certified."""
    walked = acceptance(rows, allowed, delta)
    return int(walked.n_accepted[walked.walk.last]) / rows.n_rows if walked.certified else 0.0
