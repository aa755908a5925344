r"""Accepting rows with a promise about those accepted: one threshold with confidence, or one batch on average.

The confident promise tests thresholds from the most certain rows outwards. Each has a share of delta; a threshold that
passes hands all it had to the next one, a threshold that fails loses it. Only two thresholds have a share of their own,
the *starts*: the first at which labels could pass at all with one error among them, and the square root of its
coverage, for orders whose few most certain rows are not their best.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vecuq._check import Array
from vecuq.conformal.bounds import error_rate_p_values, mean_loss_p_values, stakes_for
from vecuq.conformal.groups import group_means
from vecuq.conformal.p_values import SLACK
from vecuq.conformal.selection import selected
from vecuq.conformal.ties import last_equal

# So many coverages are tried: finer steps change the certified coverage by less than a hundredth.
N_LEVELS = 100
# Bets on wrong rows suit this share of them, and a sixteenth of it as well.
_USUAL_ERROR = 0.2


@dataclass(frozen=True)
class Ladder:
    """Thresholds from the most certain rows outwards, and the share of unlabelled rows at or below each."""

    thresholds: Array  # (steps,), increasing; scores that are equal to nine digits are on one side
    coverage: Array  # (steps,)

    @staticmethod
    def of(unlabelled: Array, n_levels: int = N_LEVELS) -> Ladder:
        """Return the quantiles of unlabelled scores at equal steps of coverage; rows without a score count, last.

        The scores must not be those of the labelled rows: thresholds have to be independent of the labels.

        Examples
        --------
        >>> Ladder.of(np.arange(1.0, 11.0), n_levels=2).coverage
        array([0.5, 1. ])
        """
        scores = np.sort(unlabelled)  # NaN comes last
        places = np.ceil(np.arange(1, n_levels + 1) / n_levels * len(scores)).astype(int) - 1
        found = scores[places] if len(scores) else scores
        thresholds = np.unique(last_equal(found[~np.isnan(found)]))
        coverage = np.searchsorted(scores, thresholds, side="right") / max(len(scores), 1)
        return Ladder(thresholds, coverage)

    def places_of(self, scores: Array) -> NDArray[np.intp]:
        """Return the first step that accepts each score; ``len(thresholds)`` where none does, as for NaN."""
        return np.searchsorted(self.thresholds, scores, side="left")


@dataclass(frozen=True)
class Walk:
    """How a walk over the thresholds went: the last that passed, -1 for none, and the level each was tested at."""

    last: int
    levels: Array


def fewest_labels(allowed: float, delta: float, errors: int = 0) -> int:
    """Return how many accepted labels, with so many errors among them, show an error rate of at most ``allowed``.

    Examples
    --------
    >>> fewest_labels(0.05, 0.1), fewest_labels(0.05, 0.05, errors=1)
    (45, 93)
    """
    high = errors + 1
    while error_rate_p_values(errors, high, allowed) > delta * (1 + SLACK):
        high *= 2
    low = high // 2
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if error_rate_p_values(errors, middle, allowed) <= delta else (middle, high)
    return max(high, errors + 1)


def shares_of_delta(ladder: Ladder, n_labels: int, *, allowed: float, delta: float) -> Array:
    """Return the share of delta that each threshold has of its own: half at either start.

    The starts follow from the number of labels, delta and the target alone. Where labels are too few for one error,
    the only start is the widest threshold.
    """
    shares = np.zeros(len(ladder.thresholds))
    if not len(shares):
        return shares
    first = min(1.0, fewest_labels(allowed, delta / 2, errors=1) / max(n_labels, 1))
    for start in (first, np.sqrt(first)):
        step = min(int(np.searchsorted(ladder.coverage, start * (1 - SLACK))), len(shares) - 1)
        shares[step] += delta / 2
    return shares


def walk_outwards(p_values: Array, shares: Array) -> Walk:
    """Test thresholds from the most certain outwards; return the last that passes.

    **Assumption.** Each p-value is valid by itself: if the threshold accepts too many errors, P(p <= a) <= a for
    every a. Thresholds and shares do not depend on the labels.

    **Promise.** With probability 1 - delta, delta the sum of the shares, no threshold that passes accepts too many.

    **Theorem.** The fallback procedure: Wiens (2003), Wiens and Dmitrienko (2005); a case of the graphical procedures
    of Bretz, Maurer, Brannath and Posch (2009), and of *Learn then test*, Angelopoulos, Bates, Candes, Jordan and Lei
    (2021). To walk the other way and stop at the first that passes is not valid.

    Examples
    --------
    >>> walk_outwards(np.array([0.01, 0.09, 0.04, 0.2]), np.array([0.05, 0.0, 0.05, 0.0])).last
    2
    """
    levels, level, last = np.empty(len(shares)), 0.0, -1
    for step, (p, share) in enumerate(zip(p_values, shares, strict=True)):
        levels[step] = level = level + share
        if p <= level * (1 + SLACK) and level > 0:
            last = step
        else:
            level = 0.0
    return Walk(last, levels)


@dataclass(frozen=True)
class Acceptance:
    """Which threshold the labels certify, and what they show at every step of the ladder."""

    ladder: Ladder
    walk: Walk
    n_labels: int  # rows with a label, or groups of them
    n_accepted: Array  # (steps,), labelled rows at or below each threshold
    losses: Array  # (steps,), the sum of their losses: errors, where a row is right or wrong

    @property
    def certified(self) -> bool:
        """Whether any threshold passed."""
        return self.walk.last >= 0

    @property
    def threshold(self) -> float:
        """The score up to which rows are accepted; minus infinity where nothing is certified."""
        return float(self.ladder.thresholds[self.walk.last]) if self.certified else -np.inf


def accept_confidently(
    scores: Array,
    losses: Array,
    ladder: Ladder,
    *,
    allowed: float,
    delta: float,
    groups: NDArray[np.intp] | None = None,
) -> Acceptance:
    """Find the widest threshold at which, with confidence 1 - delta, accepted rows lose at most ``allowed`` on average.

    **Assumption.** The labelled rows (with ``groups``, the groups) are independent draws of what is to be decided, and
    the ladder was made without their labels, from other rows.

    **Promise.** With probability 1 - delta over the labelled rows, the mean loss of accepted rows is at most
    ``allowed``; where a row is right or wrong, this is their error rate. With ``groups`` it is the rate over a random
    row of a random group.

    **Theorem.** :func:`walk_outwards` over :func:`error_rate_p_values`; for graded losses and groups, over
    :func:`mean_loss_p_values`.

    Parameters
    ----------
    scores
        Uncertainty of the labelled rows; NaN is never accepted.
    losses
        1 where the answer is wrong and 0 where it is right, or anything between.
    ladder
        The thresholds.
    allowed, delta
        The mean loss that is allowed, and the probability with which the promise may fail.
    groups
        The number of the group of every row, from 0 on; None if rows are independent.

    Examples
    --------
    >>> scores = np.arange(1000.0)
    >>> found = accept_confidently(scores, scores >= 500, Ladder.of(scores + 0.5), allowed=0.1, delta=0.1)
    >>> found.threshold > 500, found.threshold < 560
    (True, True)
    """
    losses = np.asarray(losses, dtype=float)
    places, steps = ladder.places_of(scores), len(ladder.thresholds)
    n_labels = len(scores) if groups is None else int(groups.max(initial=-1)) + 1
    n_accepted = np.bincount(places, minlength=steps + 1).cumsum()[:steps]
    lost = np.bincount(places, weights=losses, minlength=steps + 1).cumsum()[:steps]
    if groups is None and ((losses == 0) | (losses == 1)).all():
        p_values = error_rate_p_values(np.rint(lost), n_accepted, allowed)
    else:
        units = np.arange(len(scores)) if groups is None else groups
        stakes = stakes_for(n_labels, ladder.coverage, allowed, delta)
        p_values = mean_loss_p_values(_accepted(places, losses - allowed, units, steps), allowed, stakes)
    shares = shares_of_delta(ladder, n_labels, allowed=allowed, delta=delta)
    return Acceptance(ladder, walk_outwards(p_values, shares), n_labels, n_accepted, lost)


def missed_p_values(
    scores: Array,
    wrong: NDArray[np.bool_],
    ladder: Ladder,
    *,
    allowed: float,
    delta: float,
    groups: Any = None,
) -> Array:
    """Return for every threshold a p-value of "more than a share ``allowed`` of all wrong rows is accepted".

    **Assumption.** As for :func:`accept_confidently`.

    **Promise.** If the share is larger, then P(p <= a) <= a for every a. With ``groups``, the share is that over a
    random row of a random group. It only grows outwards, so the first threshold may have all of delta.

    **Theorem.** :func:`error_rate_p_values` among the wrong rows; for groups, :func:`mean_loss_p_values`.

    Examples
    --------
    >>> scores, wrong = np.arange(200.0), np.arange(200) >= 100
    >>> missed_p_values(scores, wrong, Ladder(np.array([100.0, 150.0]), np.ones(2)), allowed=0.2, delta=0.1).round(3)
    array([0., 1.])
    """
    places, steps = ladder.places_of(scores), len(ladder.thresholds)
    if groups is None:
        missed = np.bincount(places[wrong], minlength=steps + 1).cumsum()[:steps]
        return error_rate_p_values(missed, np.full(steps, wrong.sum()), allowed)
    missed = _accepted(places, wrong.astype(float), groups, steps)
    excess = missed - allowed * group_means(wrong.astype(float), groups)[:, None]
    return mean_loss_p_values(excess, allowed, stakes_for(len(missed), np.full(steps, _USUAL_ERROR), allowed, delta))


def _accepted(places: NDArray[np.intp], excess: Array, units: NDArray[np.intp], steps: int) -> Array:
    """Return the mean excess of the accepted rows of each unit at each step, (units, steps); other rows count as 0."""
    sizes = np.bincount(units)
    sums = np.zeros((len(sizes), steps + 1))
    np.add.at(sums, (units, places), excess)
    return np.asarray(sums.cumsum(axis=1)[:, :steps] / np.maximum(sizes, 1)[:, None])


def acceptance_p_values(scores: Array, labelled: Array, wrong: NDArray[np.bool_]) -> Array:
    """Return ``p = (1 + #{labelled rows that are wrong and at most as uncertain}) / (n + 1)``; NaN for NaN.

    **Assumption.** New and labelled rows are exchangeable.

    **Promise.** P(p <= alpha and the row is wrong) <= alpha for every alpha.

    **Theorem.** Jin and Candes, *Selection by prediction with conformal p-values*, JMLR (2023), theorem 3.

    Examples
    --------
    >>> acceptance_p_values(np.array([0.1, 0.5]), np.array([0.2, 0.3, 0.6]), np.array([True, False, True]))
    array([0.25, 0.5 ])
    """
    failed = np.sort(labelled[wrong & ~np.isnan(labelled)])
    before = np.searchsorted(failed, last_equal(np.nan_to_num(scores, posinf=np.inf)), side="right")
    # A wrong row without a score would never be accepted, and counts only among the n.
    return np.where(np.isnan(scores), np.nan, (1.0 + before) / (len(labelled) + 1.0))


def accepted_on_average(scores: Array, labelled: Array, wrong: NDArray[np.bool_], allowed: float) -> NDArray[np.bool_]:
    """Return which rows of one batch are accepted, so that on average a share of at most ``allowed`` is wrong.

    **Assumption.** New and labelled rows are exchangeable, and independent.

    **Promise.** The mean of wrong / max(accepted, 1) over batches is at most ``allowed``. It is a promise about one
    batch: rows accepted from many small batches, taken together, are wrong more often. A row without a score is not
    accepted, and counts in the size of the batch as it does among the labelled rows.

    **Theorem.** Benjamini and Hochberg's rule on :func:`acceptance_p_values`: Jin and Candes (2023), theorem 6;
    *Conformal alignment*, Gui, Jin and Ren (2024).

    Examples
    --------
    >>> labelled, wrong = np.arange(100.0), np.arange(100) >= 90
    >>> accepted_on_average(np.array([1.0, 50.0, 89.0, 99.0]), labelled, wrong, allowed=0.1)
    array([ True,  True,  True, False])
    """
    return selected(np.nan_to_num(acceptance_p_values(scores, labelled, wrong), nan=1.0), allowed)
