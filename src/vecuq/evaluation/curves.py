"""Risk-coverage and rejection curves: what remains when the most uncertain rows are left out."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vecuq._check import Array, one_of
from vecuq.conformal import group_codes
from vecuq.errors import SettingError, TableError
from vecuq.evaluation.bands import Band, kept_band
from vecuq.evaluation.generation import prediction_rejection_curve
from vecuq.evaluation.inputs import methods_of
from vecuq.evaluation.results import targets_of
from vecuq.evaluation.selective import risk_coverage_curve

BEST, CHANCE = "best order", "chance"
# The curve of each task, and what is looked at in it.
_CURVES: dict[str, Callable[[Array, Array], tuple[Array, Array]]] = {
    "generation": prediction_rejection_curve,
    "selective": risk_coverage_curve,
}


@dataclass(frozen=True, eq=False)
class SelectiveCurves:
    """The curve of each score on one task, on the same rows; made by :func:`selective_curves`.

    Parameters
    ----------
    task
        ``"generation"``: mean quality kept over the share rejected, higher is better; ``"selective"``: error rate
        over the share kept, lower is better.
    share
        The share rejected or kept, shape (rows,), in [0, 1].
    values
        The curve of each score by its name, shape (rows,).
    best
        The curve of the best order that exists, shape (rows,).
    chance
        The mean quality, or the error rate, of all rows; NaN if there are none.
    """

    task: str
    share: Array
    values: dict[str, Array]
    best: Array
    chance: float

    def lines(self) -> dict[str, Array]:
        """Return every curve by name, then the best order and chance; a score of such a name is called a column."""
        named = {self.name_of(score): values for score, values in self.values.items()}
        return {**named, BEST: self.best, CHANCE: np.full(len(self.share), self.chance)}

    def name_of(self, score: str) -> str:
        """Return what a score is called beside the best order and chance."""
        if score in (BEST, CHANCE):
            while score in self.values:
                score = f"{score} (column)"
        return score


def selective_curves(
    uncertainties: Mapping[str, Any], *, error: Any = None, ood: Any = None, quality: Any = None
) -> tuple[SelectiveCurves, ...]:
    """Curves of every score over the share of rows that is rejected or kept, with the best order and chance.

    The rows are those of :func:`evaluate`: rows to which any score is missing are left out for all, rows without a
    label of its task, and errors are looked at among in-distribution rows only.

    Parameters
    ----------
    uncertainties, error, ood, quality
        As in :func:`evaluate`; ``error`` gives :func:`risk_coverage_curve`, ``quality``
        :func:`prediction_rejection_curve`.

    Returns
    -------
    tuple of SelectiveCurves
        One for the quality and one for the errors, as far as they were given.

    Examples
    --------
    >>> curves, = selective_curves({"entropy": [0.1, 0.2, 0.3, 0.4]}, error=[0, 1, 0, 1])
    >>> curves.share, curves.values["entropy"].round(3), curves.best.round(3), curves.chance
    (array([0.25, 0.5 , 0.75, 1.  ]), array([0.   , 0.5  , 0.333, 0.5  ]), array([0.   , 0.   , 0.333, 0.5  ]), 0.5)
    """
    scores = methods_of(uncertainties)
    return tuple(
        _curves(task, {name: one[rows] for name, one in scores.items()}, target[rows])
        for task, target, rows in _judged(scores, error=error, ood=ood, quality=quality)
    )


def curve_bands(
    uncertainties: Mapping[str, Any],
    score: str,
    *,
    error: Any = None,
    ood: Any = None,
    quality: Any = None,
    groups: Any = None,
    level: float = 0.95,
) -> tuple[Band, ...]:
    """Intervals of one score's curves, over the shares and on the rows of :func:`selective_curves`.

    Parameters
    ----------
    score
        The name of the score.
    groups, level
        As in :func:`kept_band`, which says what the intervals promise.

    Examples
    --------
    >>> band, = curve_bands({"entropy": [0.1, 0.2, 0.3, 0.4]}, "entropy", error=[0, 0, 1, 0])
    >>> band.share, band.high.round(2)
    (array([0.25, 0.5 , 0.75, 1.  ]), array([0.98, 0.84, 0.91, 0.81]))
    """
    scores = methods_of(uncertainties)
    one_of("score", score, list(scores))
    codes = None if groups is None else group_codes(groups, len(scores[score]))
    return tuple(
        _band(task, scores[score][rows], target[rows], None if codes is None else codes[rows], level)
        for task, target, rows in _judged(scores, error=error, ood=ood, quality=quality)
    )


def _band(task: str, scores: Array, target: Array, groups: Any, level: float) -> Band:
    """Return the interval of the error rate by the share kept, or of the quality by the share rejected."""
    if task == "selective":
        return kept_band(scores, 1.0 - target, level=level, groups=groups)
    found = kept_band(scores, target, level=level, groups=groups)
    return Band(1.0 - found.share[::-1], found.low[::-1], found.high[::-1])


def _judged(
    scores: Mapping[str, Array], *, error: Any, ood: Any, quality: Any
) -> Iterator[tuple[str, Array, NDArray[np.bool_]]]:
    """Yield each task that has a curve, what it aims at, and on which rows that and every score are known."""
    if error is None and quality is None:
        raise SettingError("Curves need labels: give the quality of each answer, or which predictions are wrong.")
    scored = ~np.any([np.isnan(one) for one in scores.values()], axis=0)
    targets = targets_of(len(scored), error=error, ood=ood, quality=quality)
    for task in _CURVES:
        if task in targets:
            target, known = targets[task]
            yield task, target, scored & known


def _curves(task: str, scores: dict[str, Array], target: Array) -> SelectiveCurves:
    curve = _CURVES[task]
    with np.errstate(over="ignore"):
        share, best = curve(-target, target)
        values = {name: curve(one, target)[1] for name, one in scores.items()}
    if not all(np.isfinite(one).all() for one in (best, *values.values())):
        raise TableError("The quality is too large to be averaged; divide it by a large number first.")
    # All rows in the best order, not their mean as they come: the same bits in whatever order that is.
    everything = best[0 if task == "generation" else -1] if len(best) else np.nan
    return SelectiveCurves(task, share, values, best, float(everything))
