"""Which two columns a score map shows, and which rows."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from vecuq._check import Array, finite_rows, one_of
from vecuq.doctor import rank_correlations
from vecuq.errors import SettingError
from vecuq.ranker import Ranker

# A score map draws at most so many rows; more would hide each other.
MOST_POINTS = 4_000
# Enough rows to find the least correlated columns.
ENOUGH_ROWS = 50_000


def drawn_columns(ranker: Ranker, values: Array) -> tuple[str, ...]:
    """Return what a score map shows: the two least correlated columns of the rows, or the only one that varies.

    Parameters
    ----------
    ranker
        The fitted ranker.
    values
        Rows as ``ranker.values_of(rows)`` gives them, shape (rows, columns).

    Examples
    --------
    >>> from vecuq import fit_ranker
    >>> from vecuq.data import load_demo
    >>> calibration, new = load_demo()
    >>> ranker = fit_ranker(calibration)
    >>> drawn_columns(ranker, ranker.values_of(new))
    ('entropy', 'knn')
    """
    names = [ranker.columns[k] for k in ranker.active]
    if len(names) == 1:
        return (names[0],)
    varying = values[:, ranker.active]
    complete = varying[finite_rows(varying)]
    first, second = least_related(complete[:: 1 + len(complete) // ENOUGH_ROWS])
    return names[first], names[second]


def least_related(values: Array) -> tuple[int, int]:
    """Return the two columns whose rank correlation is nearest to zero; the first two if that is unknown.

    Examples
    --------
    >>> a, b = np.arange(5.0), np.array([2.0, 0.0, 1.0, 4.0, 3.0])
    >>> least_related(np.column_stack([a, 2 * a, b]))
    (0, 2)
    """
    if len(values) < 3:
        return 0, 1
    # A constant column has no correlation, and is the last choice.
    related = np.nan_to_num(np.abs(rank_correlations(values)), nan=2.0)
    first, second = np.triu_indices(len(related), k=1)
    best = int(related[first, second].round(12).argmin())
    return int(first[best]), int(second[best])


def checked_columns(ranker: Ranker, columns: Sequence[str]) -> tuple[str, ...]:
    """Return the columns that were named, if they can be drawn."""
    names = [ranker.columns[k] for k in ranker.active]
    wanted = [columns] if isinstance(columns, str) else list(columns)
    for name in wanted:
        one_of("columns", name, names)
    if len(set(wanted)) != min(2, len(names)) or len(wanted) > 2:
        raise SettingError(f"A score map shows two different columns; got {wanted}. Name two of {names}.")
    return tuple(wanted)


def some_rows(values: Array) -> NDArray[np.intp]:
    """Return which rows are drawn: all whose columns are finite; of very many, a fixed random sample."""
    rows = np.flatnonzero(finite_rows(values))
    if len(rows) <= MOST_POINTS:
        return rows
    return np.sort(np.random.default_rng(0).choice(rows, MOST_POINTS, replace=False))
