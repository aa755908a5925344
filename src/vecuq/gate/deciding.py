"""Decider: the rules of all units, and what they say of new scores."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from vecuq._check import Array
from vecuq.conformal import accepted_on_average
from vecuq.errors import SettingError
from vecuq.gate.rule import Labelled, Rule, decide
from vecuq.gate.target import Target


@dataclass(frozen=True)
class Decider:
    """One rule per unit: a threshold, or, where batches are decided, the labelled rows of the unit."""

    rules: tuple[Rule, ...]
    parts: tuple[Labelled, ...]
    target: Target
    promise: str

    @staticmethod
    def of(parts: Sequence[Labelled], target: Target, delta: float, *, promise: str) -> Decider:
        """Decide for every unit."""
        made = Decider((), tuple(parts), target, promise)
        rules = [decide(part, target, delta) if made.by_threshold else made._of_batches(part) for part in parts]
        return Decider(tuple(rules), tuple(parts), target, promise)

    @property
    def by_threshold(self) -> bool:
        """Whether a row is decided by itself; otherwise by what else is in its batch."""
        return self.promise == "confidence" and self.target.kind != "rows"

    def accept(self, scores: Array, places: NDArray[np.intp]) -> NDArray[np.bool_]:
        """Return which rows are accepted; ``places`` says which unit a row belongs to, -1 for none."""
        return accepted_below(scores, places, self.limits(scores, places))

    def limits(self, scores: Array, places: NDArray[np.intp]) -> Array:
        """Return up to which score each unit accepts: its threshold, or what follows from one batch of rows."""
        if self.by_threshold:
            return np.array([rule.threshold for rule in self.rules])
        if len(scores) == 1:
            word = "promise='average' is" if self.promise == "average" else "a budget of rows is"
            raise SettingError(
                f"{word} about one batch of rows, and a single row came. Decide rows together, or use "
                f"promise='confidence' with a target that holds for single rows."
            )
        return np.array([self._limit(scores[places == k], part) for k, part in enumerate(self.parts)])

    def together(self) -> Rule:
        """Return the counts of all units as one rule, which has no threshold."""
        rules = self.rules
        return Rule(
            unit="",
            threshold=-np.inf,
            certified=any(rule.certified for rule in rules),
            n_labels=sum(rule.n_labels for rule in rules),
            n_groups=sum(rule.n_groups for rule in rules),
            n_accepted=sum(rule.n_accepted for rule in rules),
            n_errors=sum(rule.n_errors for rule in rules),
            bound=max((rule.bound for rule in rules if rule.n_accepted), default=1.0),
            cost=sum(rule.n_labels * rule.cost for rule in rules) / max(sum(rule.n_labels for rule in rules), 1),
            cost_bound=max(rule.cost_bound for rule in rules),
        )

    def _limit(self, scores: Array, part: Labelled) -> float:
        """Return the largest score of a batch that is accepted; minus infinity if none is."""
        if self.promise == "average":
            taken = scores[accepted_on_average(scores, part.scores, part.losses > 0.5, self.target.allowed)]
        else:
            taken = scores[all_but(scores, int(self.target.value))]
        return float(taken.max(initial=-np.inf))

    def _of_batches(self, part: Labelled) -> Rule:
        """Return what a batch like the labelled rows would show: no threshold, and no bound for one set of labels."""
        known = part.scores <= self._limit(part.scores, part)
        bound = self.target.allowed if self.promise == "average" else 1.0
        lost = float(part.losses[known].sum())
        return Rule(part.unit, -np.inf, bool(known.any()), len(known), part.n_groups, int(known.sum()), lost, bound)


def accepted_below(scores: Array, places: NDArray[np.intp], limits: Array) -> NDArray[np.bool_]:
    """Return which rows have a score up to the limit of their unit; a row of no unit (-1) has none."""
    return np.asarray(scores <= np.append(limits, -np.inf)[places])


def all_but(scores: Array, k: int) -> NDArray[np.bool_]:
    """Return all rows but the k most uncertain; rows without a score are the most uncertain, equal rows stay together.

    Where equal rows do not fit into the budget, none of them is deferred.

    Examples
    --------
    >>> all_but(np.array([0.1, 0.9, 0.5, 0.5]), 2)
    array([ True, False,  True,  True])
    """
    unscored = np.isnan(scores)
    room = k - int(unscored.sum())
    if room <= 0:
        return ~unscored
    ranked = np.sort(scores[~unscored])
    limit = ranked[-room - 1] if room < len(ranked) else -np.inf
    return np.asarray(scores <= limit)
