"""From scored, labelled rows to the rule that decides: one threshold per unit, with what the labels show there."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from vecuq._check import Array
from vecuq.conformal import (
    Acceptance,
    Ladder,
    accept_confidently,
    coverage_margin,
    error_rate_upper,
    group_means,
    mean_loss_upper,
    missed_p_values,
    walk_outwards,
)
from vecuq.gate.target import Target


@dataclass(frozen=True)
class Rule:
    """Which rows of one unit are accepted, and what the labels say of them."""

    unit: str  # a category, a pool of them, or "" for all rows
    threshold: float  # rows are accepted up to this score; minus infinity accepts none
    certified: bool
    n_labels: int
    n_groups: int  # 0 where rows are independent
    n_accepted: int  # labelled rows
    n_errors: float  # the sum of their losses
    bound: float  # an upper bound on the error rate (the mean loss) of accepted rows
    cost: float = 0.0  # per row, where there are prices; and an upper bound on it
    cost_bound: float = 0.0

    @property
    def coverage(self) -> float:
        """The share of the labelled rows that is accepted."""
        return self.n_accepted / self.n_labels if self.n_labels else 0.0

    def coverage_interval(self, delta: float) -> tuple[float, float]:
        """Return an interval for the share of all rows that is accepted."""
        margin = coverage_margin(self.n_groups or self.n_labels, delta)
        return max(0.0, self.coverage - margin), min(1.0, self.coverage + margin)


@dataclass(frozen=True)
class Labelled:
    """Labelled rows of one unit: scores, losses, the groups that they come in, and thresholds made without labels."""

    unit: str
    scores: Array
    losses: Array
    groups: NDArray[np.intp] | None
    ladder: Ladder

    def only(self, rows: NDArray[np.bool_], unit: str) -> Labelled:
        """Return some of the rows as a unit of their own."""
        groups = None if self.groups is None else np.unique(self.groups[rows], return_inverse=True)[1]
        return Labelled(unit, self.scores[rows], self.losses[rows], groups, self.ladder)

    @property
    def n_rows(self) -> int:
        """How many rows there are."""
        return len(self.scores)

    @property
    def n_groups(self) -> int:
        """How many groups there are; 0 where rows are independent."""
        return 0 if self.groups is None else len(np.unique(self.groups))

    def rule_at(self, threshold: float, *, certified: bool, bound: float) -> Rule:
        """Return the rule of a threshold, with what the labels show there."""
        accepted = self.scores <= threshold
        found = self.n_rows, self.n_groups, int(accepted.sum()), float(self.losses[accepted].sum())
        return Rule(self.unit, threshold, certified, *found, bound)


def decide(rows: Labelled, target: Target, delta: float) -> Rule:
    """Return the rule that keeps a target with confidence 1 - delta."""
    kinds = {
        "accuracy": _accuracy,
        "quality": _accuracy,
        "flag_recall": _flag_recall,
        "flag_precision": _flag_precision,
        "cost": _cost,
        "budget": _budget,
    }
    return kinds[target.kind](rows, target, delta)


def acceptance(rows: Labelled, allowed: float, delta: float) -> Acceptance:
    """Walk over the thresholds for a mean loss of at most ``allowed``."""
    how = {"allowed": allowed, "delta": delta}
    return accept_confidently(rows.scores, rows.losses, rows.ladder, groups=rows.groups, **how)


def _accuracy(rows: Labelled, target: Target, delta: float) -> Rule:
    found = acceptance(rows, target.allowed, delta)
    # What is proven is the target: a tighter bound at the threshold that was chosen would not hold.
    return rows.rule_at(found.threshold, certified=found.certified, bound=target.allowed if found.certified else 1.0)


def _flag_recall(rows: Labelled, target: Target, delta: float) -> Rule:
    """Accept as much as leaves a share of the wrong rows flagged: misses only grow outwards, so delta is not shared."""
    failed, steps, allowed = rows.losses > 0.5, len(rows.ladder.thresholds), 1.0 - target.value
    how = {"allowed": allowed, "delta": delta}
    p_values = missed_p_values(rows.scores, failed, rows.ladder, groups=rows.groups, **how)
    last = walk_outwards(p_values, delta * (np.arange(steps) == 0)).last
    threshold = float(rows.ladder.thresholds[last]) if last >= 0 else -np.inf
    return _bounded(rows, threshold, certified=last >= 0, delta=delta / max(steps, 1))


def _flag_precision(rows: Labelled, target: Target, delta: float) -> Rule:
    """Flag as much as is mostly wrong: the walk of accuracy, from the most uncertain rows inwards."""
    steps = rows.ladder.thresholds[::-1]
    # A row is flagged above a threshold, so the mirrored one lies just below its mirror.
    mirrored = Ladder(np.nextafter(-steps, -np.inf), 1.0 - rows.ladder.coverage[::-1])
    # A row without a score is flagged whatever the threshold.
    scores = np.where(np.isnan(rows.scores), -np.inf, -rows.scores)
    turned = Labelled(rows.unit, scores, 1.0 - rows.losses, rows.groups, mirrored)
    found = acceptance(turned, 1.0 - target.value, delta)
    threshold = float(steps[found.walk.last]) if found.certified else -np.inf
    return _bounded(rows, threshold, certified=found.certified, delta=delta / max(len(steps), 1))


def _cost(rows: Labelled, target: Target, delta: float) -> Rule:
    """Accept up to where errors and reviews cost least on the labelled rows; the bound holds for every threshold."""
    thresholds = np.concatenate([[-np.inf], rows.ladder.thresholds])
    places = np.searchsorted(thresholds, rows.scores, side="left")
    counts = np.bincount(places, minlength=len(thresholds) + 1).cumsum()[: len(thresholds)]
    lost = np.bincount(places, weights=rows.losses, minlength=len(thresholds) + 1).cumsum()[: len(thresholds)]
    n, share = max(rows.n_rows, 1), delta / (2 * len(thresholds))
    costs = (target.cost_wrong * lost + target.cost_review * (n - counts)) / n
    best = int(np.argmin(costs))
    worst = target.cost_wrong * _rate_upper(np.where(places <= best, rows.losses, 0.0), rows, share)
    worst += target.cost_review * _rate_upper((places > best).astype(float), rows, share)
    found = _bounded(rows, float(thresholds[best]), certified=False, delta=2 * share)
    return Rule(**{**vars(found), "cost": float(costs[best]), "cost_bound": float(worst)})


def _budget(rows: Labelled, target: Target, delta: float) -> Rule:
    """Accept what the budget leaves: the threshold needs no labels, so one bound has all of delta.

    Where rows without a score are more than the budget, they alone are reviewed.
    """
    steps = rows.ladder.thresholds
    first = int(np.searchsorted(rows.ladder.coverage, 1.0 - target.value - 1e-12))
    threshold = float(steps[min(first, len(steps) - 1)]) if len(steps) else -np.inf
    return _bounded(rows, threshold, certified=False, delta=delta)


def _bounded(rows: Labelled, threshold: float, *, certified: bool, delta: float) -> Rule:
    """Return the rule of a threshold with a bound on the loss of its accepted rows.

    Where labels chose the threshold, ``delta`` is what is left for each that they could have chosen.
    """
    accepted = rows.scores <= threshold
    if not accepted.any():
        bound = 1.0
    elif rows.groups is None:
        some = rows.only(accepted, rows.unit)
        bound = _rate_upper(some.losses, some, delta)
    else:
        expected = float(rows.ladder.coverage[rows.ladder.places_of(np.array([threshold]))[0]])
        lost, shares = (group_means(kept, rows.groups) for kept in (rows.losses * accepted, accepted.astype(float)))
        bound = mean_loss_upper(lost, delta, shares=shares, coverage=expected)
    return rows.rule_at(threshold, certified=certified, bound=bound)


def _rate_upper(losses: Array, rows: Labelled, delta: float) -> float:
    """Return an upper bound on the mean of other losses of the rows: exact for right or wrong, else by betting."""
    if rows.groups is None and np.isin(losses, (0.0, 1.0)).all():
        return float(error_rate_upper(losses.sum(), rows.n_rows, delta))
    return mean_loss_upper(losses if rows.groups is None else group_means(losses, rows.groups), delta)
