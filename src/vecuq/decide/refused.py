"""Why a gate refuses a row, whatever its score: one list, a reason per row."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vecuq._check import Array
from vecuq.decide.made import Made, Making

Mask = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Facts:
    """What a gate knows of rows when it decides them."""

    scores: Array  # by which it decides; NaN where there is none, or where the guard deferred
    units: NDArray[np.intp]  # -1 for a category that no label had
    guarded: Mask | None = None  # rows whose p-value is below the guard
    making: Making | None = None  # how answers were made
    made: Made | None = None  # how the labelled ones were, where their measures depend on it

    def some(self, which: Any) -> Facts:
        """Return the same of some rows."""
        guarded = None if self.guarded is None else self.guarded[which]
        making = None if self.making is None else self.making.some(which)
        return Facts(self.scores[which], self.units[which], guarded, making, self.made)


# One reason to refuse rows: which rows, and the words for each; None where it cannot apply.
Refusal = Callable[[Facts], tuple[Mask, Callable[[int], str]] | None]


def other_samples(facts: Facts) -> tuple[Mask, Callable[[int], str]] | None:
    """Refuse an answer with another number of samples than the labelled ones."""
    making, made = facts.making, facts.made
    if making is None or made is None:
        return None
    about = f"the certificate is about answers with {made.samples_in_words()}"
    return ~made.has_as_many(making), lambda row: f"{making.n_samples[row]:,} samples; {about}"


def no_score(facts: Facts) -> tuple[Mask, Callable[[int], str]] | None:
    """Refuse a row without a score, unless it has one and the guard turned it away."""
    unscored = np.isnan(facts.scores)
    return unscored if facts.guarded is None else unscored & ~facts.guarded, lambda row: "no score"


def below_guard(facts: Facts) -> tuple[Mask, Callable[[int], str]] | None:
    """Refuse a row whose p-value is below the guard."""
    return None if facts.guarded is None else (facts.guarded, lambda row: "its p-value is below the guard")


def unknown_category(facts: Facts) -> tuple[Mask, Callable[[int], str]] | None:
    """Refuse a row of a category that no label had."""
    return facts.units == -1, lambda row: "a category that no label had"


# Rows that were not made as the labelled ones: a score that they have does not count. The first that applies is said.
BY_MAKING: tuple[Refusal, ...] = (other_samples,)
# Rows that have no score to be decided by.
BY_SCORE: tuple[Refusal, ...] = (no_score, below_guard, unknown_category)
REFUSALS = (*BY_MAKING, *BY_SCORE)


def refused_by(refusals: Sequence[Refusal], facts: Facts) -> Mask:
    """Return which rows are refused for one of these reasons, whatever their score."""
    masks = [applies[0] for refusal in refusals if (applies := refusal(facts)) is not None]
    return reduce(np.logical_or, masks) if masks else np.zeros(len(facts.scores), dtype=bool)


def reasons(facts: Facts) -> list[str | None]:
    """Return why each row is refused; None for one that its score decides."""
    found: list[str | None] = [None] * len(facts.scores)
    for refusal in reversed(REFUSALS):
        applies = refusal(facts)
        if applies is not None:
            rows, in_words = applies
            for row in np.flatnonzero(rows).tolist():
                found[row] = in_words(row)
    return found
