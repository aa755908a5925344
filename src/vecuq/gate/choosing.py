"""What other orders of the same labelled rows would have covered."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vecuq.conformal import Ladder
from vecuq.gate.rule import Labelled, acceptance
from vecuq.gate.scoring import MODEL, Scoring, columns_in
from vecuq.gate.settings import GateSettings


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
