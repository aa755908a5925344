"""Labelled rows that the model has seen before: they must not certify what it does."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vecuq._check import warn_user
from vecuq.errors import CalibrationError, CalibrationWarning
from vecuq.gate.scoring import inner, values_in

# A few equal rows among the held-back ones are no reason to look for other thresholds.
_FEW = 0.02


@dataclass(frozen=True)
class Seen:
    """Which labelled rows may certify, and whether thresholds must come from other rows than those held back."""

    usable: NDArray[np.bool_]
    among_held_back: bool


@dataclass(frozen=True)
class SeenCounts:
    """How many labelled rows match those that a model was made of; see :class:`vecuq.ranker.overlap.Overlap`."""

    n_rows: int = 0
    map_rows: int = 0
    map_known: int = 0  # rows for which that is known
    weight_rows: int = 0
    weight_known: int = 0
    held: int = 0

    @property
    def among_held_back(self) -> bool:
        """Whether so many rows are among those held back that these cannot set the thresholds."""
        return self.held / max(self.n_rows, 1) > _FEW


def unseen_rows(model: Any, rows: Any, n_rows: int) -> Seen:
    """Leave out labelled rows that fitted the map, where more match it than chance explains; refuse the weights' rows.

    Discrete scores match honestly: the held-back rows of the model show how often.
    """
    counts, map_rows = _seen_in(model, rows, n_rows)
    left_out = _leave_out(model, counts)
    usable = ~map_rows if left_out else np.ones(n_rows, dtype=bool)
    return Seen(usable, among_held_back=counts.among_held_back)


def _seen_in(model: Any, rows: Any, n_rows: int) -> tuple[SeenCounts, NDArray[np.bool_]]:
    """Return how many labelled rows match those that a model was made of, and which match the map's or may do so.

    Of many rows a model remembers a random sample only; of the others nobody knows.
    """
    inside = inner(model)
    if not hasattr(inside, "overlap"):
        return SeenCounts(n_rows), np.zeros(n_rows, dtype=bool)
    found, trained = inside.overlap(inside.as_table(values_in(model, rows))), _trained_on(model, rows, n_rows)
    of_map, decided = found.map.rows | trained, found.map.decided | trained
    matched = (of_map, decided, found.weights.rows, found.weights.decided, found.held)
    return SeenCounts(n_rows, *(int(one.sum()) for one in matched)), found.map_rows | of_map | ~decided


def _trained_on(model: Any, rows: Any, n_rows: int) -> NDArray[np.bool_]:
    """Return which rows the classifier inside a model was trained on; none where no model says so."""
    return np.asarray(model.trained_on(rows)) if hasattr(model, "trained_on") else np.zeros(n_rows, dtype=bool)


def _leave_out(model: Any, counts: SeenCounts) -> bool:
    """Return whether rows that match the map's are left out, with a warning; raise where none may certify."""
    inside = inner(model)
    if not hasattr(inside, "overlap"):
        return False
    nothing = inside.overlap(inside.as_table(np.empty((0, len(inside.columns)))))
    if _unusual(nothing.weights, counts.weight_rows, counts.weight_known):
        raise CalibrationError(
            f"{counts.weight_rows:,} of {counts.n_rows:,} labelled rows have learned the model's weights, so they "
            f"cannot certify it as well. Give other labelled rows."
        )
    if not _unusual(nothing.map, counts.map_rows, counts.map_known):
        return False
    unknown = counts.n_rows - counts.map_known
    more = f" So are {unknown:,} of which the model does not remember whether they have." if unknown else ""
    warn_user(
        f"{counts.map_rows:,} of {counts.n_rows:,} labelled rows have fitted the model and are left out: they "
        f"cannot certify it.{more} Label rows that it has not seen.",
        CalibrationWarning,
    )
    if counts.map_rows + unknown == counts.n_rows:
        raise CalibrationError(
            "All labelled rows have fitted the model, or may have, so none can certify it. Label other rows."
        )
    return True


def _unusual(matches: Any, n_matches: int, n_known: int) -> bool:
    """Return whether so many matches are more than usual: the test of the ranker, whose sums are all it looks at."""
    return bool(replace(matches, rows=np.array([n_matches]), decided=np.array([n_known])).unusual)
