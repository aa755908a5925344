"""Weights: how much each column counts, by name; given by hand or learned from labels."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from vecuq._check import Array, in_range, unique_names, wanted_columns
from vecuq.errors import ColumnError, SettingError
from vecuq.table import Fingerprints

# Less than this share of the largest weight is none: the width of a column must be seen beside the others.
_LEAST = 1e-6


@dataclass(frozen=True, eq=False, repr=False)
class Weights(Mapping[str, float]):
    """How much each score column counts: numbers from 0 to 1 by name, the largest 1. A dict that cannot be changed.

    Learned by :func:`vecuq.learn_weights`, or made of a dict by :meth:`of`. Equal weights are the same as none. A
    column of weight 0 has no influence.

    Attributes
    ----------
    columns, numbers
        Names of the columns, and their weights.
    flipped
        The columns in which higher means more confident; None for weights that were given by hand.
    n_labels, n_wrong
        Labelled rows that the weights were learned from, and the wrong ones among them; 0 if they were given.
    prints
        Fingerprints of these rows: a decision with a promise needs other ones.

    Examples
    --------
    >>> Weights.of({"entropy": 2.0, "knn": 1.0, "msp": 0.0})
    Weights(entropy 1, knn 0.5, msp 0)
    """

    columns: tuple[str, ...]
    numbers: tuple[float, ...]
    flipped: frozenset[str] | None = None
    n_labels: int = 0
    n_wrong: int = 0
    prints: Fingerprints | None = None

    def __post_init__(self) -> None:
        unique_names(self.columns)
        given = [in_range(f"The weight of {name!r}", value, 0.0) for name, value in self.items()]
        if not given or max(given) == 0:
            raise SettingError("Weights must name every score column, and at least one must be above 0.")
        largest = max(given)
        scaled = (value / largest for value in given)
        object.__setattr__(self, "numbers", tuple(value if value >= _LEAST else 0.0 for value in scaled))

    @staticmethod
    def of(given: Any) -> Weights | None:
        """Return weights as they are, or made of a dict by column name; None for none."""
        if given is None or isinstance(given, Weights):
            return given
        if not isinstance(given, Mapping):
            raise SettingError(f"weights must be None, a dict by column name, or Weights; got {type(given).__name__}.")
        return Weights(tuple(map(str, given)), tuple(given.values()))

    @property
    def learned(self) -> bool:
        """Whether labels decided on the weights."""
        return self.n_labels > 0

    @property
    def equal(self) -> bool:
        """Whether all columns count alike."""
        return set(self.numbers) == {1.0}

    def __getitem__(self, name: str) -> float:
        try:
            return self.numbers[self.columns.index(name)]
        except ValueError:
            raise KeyError(name) from None

    def __iter__(self) -> Iterator[str]:
        return iter(self.columns)

    def __len__(self) -> int:
        return len(self.columns)

    def __hash__(self) -> int:
        return hash(frozenset(self.items()))

    def __repr__(self) -> str:
        shown = ", ".join(f"{name} {value:.3g}" for name, value in self.items())
        return f"Weights({shown}{f'; {self.source}' if self.learned else ''})"

    @property
    def source(self) -> str:
        """Where the weights come from, in a few words."""
        return f"learned from {self.n_labels:,} labels, {self.n_wrong:,} wrong" if self.learned else "given"

    def check_columns(self, columns: tuple[str, ...], flipped: frozenset[str]) -> None:
        """Raise unless these are the weights of the columns of a table, all pointing the same way."""
        wanted_columns(self.columns, columns, purpose="which have a weight", where="The choice of score columns")
        lacking = [name for name in columns if name not in self.columns]
        if lacking:
            raise ColumnError(f"`weights` lacks {lacking}. Give every score column a weight; 0 leaves one out.")
        if self.flipped is not None and self.flipped != flipped:
            wrong = sorted(self.flipped ^ flipped)
            raise ColumnError(
                f"The direction of {wrong} differs between the rows that the weights were learned from and these. "
                f"Flip the same columns in both."
            )


def active_weights(weights: Weights | None, columns: tuple[str, ...], active: Sequence[int]) -> Array | None:
    """Return the weights of the active columns, the largest 1; None if they are equal."""
    if weights is None:
        return None
    found = np.array([weights[columns[k]] for k in active])
    return None if np.ptp(found) == 0 else found / found.max()
