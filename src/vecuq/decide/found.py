"""Decided: what is known of some rows, in columns; None where nobody asked, or the model cannot say."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vecuq._check import Array
from vecuq.decide.refused import BY_MAKING, Facts, reasons, refused_by

Mask = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Decided:
    """What is known of rows.

    Parameters
    ----------
    uncertainty
        Higher is more uncertain; NaN for a row without a score.
    p_value
        How often an in-distribution row is at least as uncertain; None where the model held back no rows.
    flagged, selected
        By ``alpha`` and ``select``; a row without a score is flagged, and not selected.
    accept, p_wrong
        What the gate says: which rows may be trusted, and how probably each is wrong.
    why, contributions
        With ``explain``: a sentence for each flagged row (without an alpha for all), and what each column adds.
    is_refused, facts
        Which rows the gate refuses whatever their score, and what it knew when it decided.
    """

    uncertainty: Array
    p_value: Array | None = None
    flagged: Mask | None = None
    selected: Mask | None = None
    accept: Mask | None = None
    p_wrong: Array | None = None
    why: list[str | None] | None = None
    contributions: Array | None = None
    is_refused: Mask | None = None
    facts: Facts | None = None

    def __len__(self) -> int:
        return len(self.uncertainty)

    @property
    def refused(self) -> list[str | None] | None:
        """Why the gate refuses a row, so that it is not accepted; None for one that its score decides."""
        if self.facts is None or self.is_refused is None:
            return None
        return reasons(self.facts) if self.is_refused.any() else [None] * len(self)

    @property
    def alike(self) -> Mask:
        """Which rows were made as the labelled ones, as far as anybody knows."""
        return np.ones(len(self), dtype=bool) if self.facts is None else ~refused_by(BY_MAKING, self.facts)

    def some(self, which: Any) -> Decided:
        """Return the same of some rows; ``which`` is a slice, a mask or row numbers."""
        columns = {one.name: getattr(self, one.name) for one in fields(self)}
        found = {name: column[which] for name, column in columns.items() if isinstance(column, np.ndarray)}
        if self.why is not None:
            found["why"] = [self.why[row] for row in np.arange(len(self))[which]]
        return replace(self, facts=None if self.facts is None else self.facts.some(which), **found)

    def accepting(self, accept: Mask | None) -> Decided:
        """Return the same with decisions that were made before; of rows that are refused now, none is accepted."""
        if accept is None or self.is_refused is None:
            return self
        return replace(self, accept=accept & ~self.is_refused)
