"""Which rows fit the map, which learn its weights, and which certify: no row does two of these."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vecuq._check import Array, binary_labels
from vecuq.conformal import group_codes
from vecuq.errors import TableError
from vecuq.table import ScoreTable

# Of the labelled rows, a third fits the map. Labels gain most where they certify (decision 40), so a tenth learns
# weights, and only where that is at least so many rows.
_MAP, _WEIGHTS, _FEWEST_TO_WEIGH = 1 / 3, 1 / 10, 200
Rows = NDArray[np.intp]


@dataclass(frozen=True)
class Split:
    """The rows of each part, by their places, increasing."""

    map: Rows
    weights: Rows
    gate: Rows

    def counts(self) -> dict[str, int]:
        """Return how many rows each part has."""
        return {name: len(rows) for name, rows in vars(self).items()}


def labels_of(wrong: Any, correct: Any, n_rows: int) -> Array | None:
    """Return 1 where an answer is wrong, 0 where it is right, NaN where nobody knows; None if there are no labels.

    Examples
    --------
    >>> labels_of(None, [True, None, False], 3)
    array([ 0., nan,  1.])
    """
    if wrong is not None and correct is not None:
        raise TableError("Labels come once: give wrong= or correct=, not both.")
    name, given = ("correct", correct) if wrong is None else ("wrong", wrong)
    if given is None:
        return None
    listed = np.asarray(given, dtype=object)
    if listed.shape != (n_rows,):
        raise TableError(f"{name} must be one label for each of {n_rows:,} answers; got shape {listed.shape}.")
    known = np.array([one is not None and one == one for one in listed], dtype=bool)  # noqa: PLR0124 - NaN is not
    found = np.full(n_rows, np.nan)
    found[known] = binary_labels(name, listed[known], int(known.sum())) == (name == "wrong")
    if not known.any():
        raise TableError(f"None of the {n_rows:,} answers has a label in {name}; label some, or leave it out.")
    return found


def split_rows(wrong: Array | None, groups: Any, n_rows: int, seed: int) -> Split:
    """Draw at random which labelled rows do what; rows without a label fit the map, and so do all without labels.

    Rows of one group stay together, so unlabelled rows beside labelled ones that certify are not used at all.

    Examples
    --------
    >>> split_rows(np.zeros(300), None, 300, 0).counts()
    {'map': 100, 'weights': 0, 'gate': 200}
    """
    units = np.arange(n_rows) if groups is None else group_codes(groups, n_rows)
    if wrong is None:
        return Split(np.arange(n_rows), *(np.empty(0, dtype=np.intp),) * 2)
    labelled = ~np.isnan(wrong)
    sizes = np.bincount(units, weights=labelled).astype(int)  # labelled rows of each unit
    shuffled = np.random.default_rng(seed).permutation(np.flatnonzero(sizes))
    n_labelled, n_free = int(labelled.sum()), int((sizes[units] == 0).sum())
    for_weights = int(_WEIGHTS * n_labelled) if _WEIGHTS * n_labelled >= _FEWEST_TO_WEIGH else 0
    ends = np.cumsum([max(round(_MAP * n_labelled) - n_free, 0), for_weights])
    part = np.zeros(len(sizes), dtype=int)  # units without a label fit the map
    # A group belongs to the part in which it begins.
    part[shuffled] = np.searchsorted(ends, np.cumsum(sizes[shuffled]) - sizes[shuffled], side="right")
    return Split(*(np.flatnonzero((part[units] == k) & (labelled | (k == 0))) for k in range(3)))


def rows_of(table: ScoreTable, rows: Rows) -> ScoreTable:
    """Return some rows of a table."""
    return ScoreTable(table.columns, table.values[rows])


def some_of(given: Any, rows: Rows) -> list[Any] | None:
    """Return what was given for some rows; None if nothing was."""
    listed = None if given is None else list(given)
    return None if listed is None else [listed[row] for row in rows]
