"""Calibration: whether rows to which a probability of being wrong is given are wrong that often.

All functions take ``probability``, the probability that each prediction is wrong (in [0, 1], no NaN), and ``wrong``,
which predictions were (booleans or 0 / 1). The rows must be others than those that the probability was fitted on.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from vecuq._check import Array, in_range, whole_number
from vecuq.conformal import error_rate_lower, error_rate_upper, group_codes
from vecuq.errors import TableError
from vecuq.evaluation.inputs import labels_of, scores_of
from vecuq.evaluation.shares import rows_counted

BINS = 10
# Draws of labels from the probabilities themselves: how large the error is where there is none.
_DRAWS = 1_000
# With more rows than this, the sum of labels over a bin is as good as normal.
_MANY = 20_000


class Reliability(NamedTuple):
    """A reliability curve: one point per bin of rows, lowest probability first."""

    n: NDArray[np.intp]  # (bins,), rows
    probability: Array  # (bins,), mean of the probability
    wrong: Array  # (bins,), share of rows that were wrong
    low: Array  # (bins,), lower end of its interval
    high: Array  # (bins,), upper end of its interval


@dataclass(frozen=True, eq=False)
class Calibration:
    """How well a probability of being wrong agrees with the labels; made by :func:`calibration`.

    Parameters
    ----------
    n
        Rows.
    ece
        :func:`expected_calibration_error`; NaN without rows.
    ece_by_chance
        What the error stays below, at the level of the intervals, if the probability is right: chance alone makes it
        larger than 0. NaN where rows come in groups, for which it is not known.
    brier
        :func:`brier_score`; NaN without rows.
    brier_of_constant
        That of giving every row the share of wrong rows: what a probability must stay below to be of use.
    curve
        :func:`reliability_curve`.
    """

    n: int
    ece: float
    ece_by_chance: float
    brier: float
    brier_of_constant: float
    curve: Reliability

    def rows(self) -> list[dict[str, Any]]:
        """Return the two numbers as plain rows, as those of :meth:`Evaluation.rows` but for ``p_wrong``."""
        numbers = {"expected_calibration_error": self.ece, "brier_score": self.brier}
        nothing = {"low": np.nan, "high": np.nan, "n": self.n, "reason": None}
        return [
            {"method": "p_wrong", "task": "calibration", "metric": name, "value": value, **nothing}
            for name, value in numbers.items()
        ]

    def to_dict(self) -> dict[str, Any]:
        """Return plain values."""
        curve = {name: values.tolist() for name, values in self.curve._asdict().items()}
        return {**{name: value for name, value in vars(self).items() if name != "curve"}, "curve": curve}


def brier_score(probability: Any, wrong: Any) -> float:
    """Mean squared distance between the probability of being wrong and what happened.

    ``mean (p - w)^2``; Brier (1950), "Verification of forecasts expressed in terms of probability". A proper score: it
    is lowest, on average, for the true probabilities.

    Returns
    -------
    float
        In [0, 1], lower is better; e (1 - e) for giving every row the share e of wrong rows. NaN without rows.

    Examples
    --------
    >>> round(brier_score([0.1, 0.2, 0.9], [0, 1, 1]), 6)
    0.22
    """
    given, was = checked_probability(probability, wrong)
    return float(np.mean((given - was) ** 2)) if len(given) else float("nan")


def expected_calibration_error(probability: Any, wrong: Any, *, bins: int = BINS) -> float:
    """Distance between the probability of being wrong and the share that was, averaged over bins of rows.

    ``ECE = sum_b (n_b / n) |mean of p in bin b - share of wrong rows in bin b|``; Naeini, Cooper and Hauskrecht (2015),
    "Obtaining well calibrated probabilities using Bayesian binning". Bins hold equal numbers of rows, lowest
    probability first; rows of equal probability stay together.

    Parameters
    ----------
    bins
        How many, at least 1.

    Returns
    -------
    float
        In [0, 1], lower is better. Chance alone makes it larger than 0, the more so the fewer rows a bin has:
        :func:`calibration` says how large. NaN without rows.

    Examples
    --------
    >>> expected_calibration_error([0.0, 0.0, 0.5, 0.5], [0, 1, 0, 1], bins=2)
    0.25
    """
    given, was = checked_probability(probability, wrong)
    return _error(given, was, _bins_of(given, bins)) if len(given) else float("nan")


def reliability_curve(
    probability: Any, wrong: Any, *, bins: int = BINS, level: float = 0.95, groups: Any = None
) -> Reliability:
    """Share of wrong rows, with its interval, in bins of rows of similar probability.

    DeGroot and Fienberg (1983), "The comparison and evaluation of forecasters". Bins are those of
    :func:`expected_calibration_error`; the interval of each share is that of Clopper and Pearson (1934).

    Parameters
    ----------
    bins
        How many, at least 1; fewer come out where many rows have one probability.
    level
        Of each interval by itself, in (0, 1).
    groups
        Which rows come together, one name per row. A bin then counts as many rows as independent rows would be needed
        for the variance that it has (Korn and Graubard 1998). None if the rows are independent.

    Returns
    -------
    Reliability
        Rows, mean probability, share of wrong rows, low and high by bin. A well calibrated probability lies inside
        most intervals.

    Examples
    --------
    >>> curve = reliability_curve([0.0, 0.0, 0.5, 0.5], [0, 0, 0, 1], bins=2)
    >>> curve.n, curve.probability, curve.wrong, curve.low.round(2), curve.high.round(2)
    (array([2, 2]), array([0. , 0.5]), array([0. , 0.5]), array([0.  , 0.01]), array([0.84, 0.99]))
    """
    given, was = checked_probability(probability, wrong)
    codes = np.arange(len(given)) if groups is None else group_codes(groups, len(given))
    delta = (1.0 - in_range("level", level, 0.0, 1.0, ends="()")) / 2.0
    places = _bins_of(given, bins)
    n = np.bincount(places)
    mean, share = np.bincount(places, given) / n, np.bincount(places, was) / n
    counted = np.array([rows_counted(was[places == bin_], codes[places == bin_]) for bin_ in range(len(n))])
    low, high = (bound(share * counted, counted, delta) for bound in (error_rate_lower, error_rate_upper))
    return Reliability(n, mean, share, low, high)


def calibration(
    probability: Any,
    wrong: Any,
    *,
    bins: int = BINS,
    level: float = 0.95,
    groups: Any = None,
    random_state: int | None = None,
) -> Calibration:
    """Return calibration error, Brier score and reliability curve, with what each would be by chance.

    Labels are drawn 1,000 times from the probabilities themselves to see how large the calibration error is where the
    probability is right (Brocker and Smith 2007, "Increasing the reliability of reliability diagrams").

    Examples
    --------
    >>> found = calibration([0.0, 0.1] * 50, [0] * 95 + [1] * 5)
    >>> round(found.ece, 3), found.ece <= found.ece_by_chance
    (0.04, True)
    """
    given, was = checked_probability(probability, wrong)
    places = _bins_of(given, bins)
    by_chance = float("nan")
    if len(given) and groups is None:
        by_chance = float(np.quantile(_errors_by_chance(given, places, random_state or 0), level))
    share = float(was.mean()) if len(was) else float("nan")
    return Calibration(
        n=len(given),
        ece=expected_calibration_error(given, was, bins=bins),
        ece_by_chance=by_chance,
        brier=brier_score(given, was),
        brier_of_constant=share * (1.0 - share),
        curve=reliability_curve(given, was, bins=bins, level=level, groups=groups),
    )


def checked_probability(probability: Any, wrong: Any) -> tuple[Array, Array]:
    """Return probabilities and labels of one length."""
    given = scores_of(probability, "probability")
    beyond = given[(given < 0.0) | (given > 1.0)]
    if len(beyond):
        raise TableError(f"A probability must lie in [0, 1]; got {beyond[0]:g}.")
    return given, labels_of(wrong, len(given), "wrong")


def _bins_of(given: Array, bins: int) -> NDArray[np.intp]:
    """Return the bin of each row, from 0 without gaps: equal numbers of rows, equal probabilities together."""
    most = whole_number("bins", bins, 1)
    _, place, sizes = np.unique(given, return_inverse=True, return_counts=True)
    middle = np.cumsum(sizes) - 0.5 * sizes  # of the rows of one probability, in the order of all
    wanted = np.floor(most * middle / max(len(given), 1)).astype(np.intp)
    return np.asarray(np.unique(wanted, return_inverse=True)[1][place], dtype=np.intp)


def _error(given: Array, was: Array, places: NDArray[np.intp]) -> float:
    """Return the calibration error over given bins."""
    return float(np.abs(np.bincount(places, given - was)).sum() / len(given))


def _errors_by_chance(given: Array, places: NDArray[np.intp], seed: int) -> Array:
    """Return the calibration error of labels drawn from the probabilities; of many rows, of normal sums over bins."""
    generator = np.random.default_rng(seed)
    if len(given) > _MANY:
        spread = np.sqrt(np.bincount(places, given * (1.0 - given)))
        return np.asarray(np.abs(generator.normal(size=(_DRAWS, len(spread))) @ np.diag(spread)).sum(1) / len(given))
    labels = ((generator.random(len(given)) < given).astype(float) for _ in range(_DRAWS))
    return np.array([_error(given, drawn, places) for drawn in labels])
