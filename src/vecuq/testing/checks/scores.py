"""What every model promises of every table: a row's score depends on that row alone, to the last bit."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vecuq._check import Array
from vecuq._load import load
from vecuq.errors import VecuqError
from vecuq.testing.attack import BrokenPromiseError
from vecuq.testing.checks.commands import last_lines

Score = Callable[[Any], Array]
# Rows that are scored one by one; all of a long table would take long.
_ALONE = 8


def check_scores(model: Any, tables: Iterable[Any]) -> int:
    """Raise if the scores of a model depend on anything but the row; return how many tables were scored.

    For each table: rows scored in two parts, one by one, or in reverse order get the same bits; a model that was saved
    and loaded gives the same bits; leaving out the rows without a score changes no other. A table that the model
    refuses with an error of vecuq is left out.

    Parameters
    ----------
    model
        A fitted model, ranker or pipeline: anything with ``uncertainty``, and perhaps ``to_bytes``.
    tables
        What ``model.uncertainty`` takes: arrays, frames of pandas or polars, pyarrow tables, outputs of a classifier
        as (members, rows, classes).

    Examples
    --------
    >>> import numpy as np
    >>> from vecuq import VecUQ
    >>> rows = np.random.default_rng(0).gamma(1.0, size=(200, 2))
    >>> check_scores(VecUQ().fit(rows), [rows[:20], rows[:1]])
    2
    """
    return sum(_check_one(model, table) for table in tables)


def _check_one(model: Any, table: Any) -> bool:
    score = _quiet(model.uncertainty)
    try:
        whole = score(table)
    except VecuqError as error:
        if "\n" in str(error):
            raise BrokenPromiseError("message", f"an error is one line; got {str(error)[:200]!r}") from error
        return False
    except Exception as error:
        raise BrokenPromiseError("traceback", last_lines(error)) from error
    places = np.arange(len(whole))
    for how, order in _orders(places, whole).items():
        _same(how, score(rows_of(table, order)), whole[order])
    for place in places[:_ALONE]:
        _same("one row alone", score(rows_of(table, places[[place]])), whole[[place]])
    if hasattr(model, "to_bytes"):
        _same("saved and loaded", _quiet(load(model.to_bytes()).uncertainty)(table), whole)
    return True


def _quiet(score: Score) -> Score:
    """Return the same function without its warnings of missing values; a warning of NumPy is an error."""

    def scored(table: Any) -> Array:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)
            warnings.simplefilter("error", RuntimeWarning)
            return np.asarray(score(table))

    return scored


def _orders(places: NDArray[np.intp], scores: Array) -> dict[str, NDArray[np.intp]]:
    """Return choices of rows, by what they test."""
    half = len(places) // 2
    choices = {
        "first part": places[:half],
        "second part": places[half:],
        "reverse order": places[::-1],
        "without the rows that got no score": places[~np.isnan(scores)],
    }
    return {how: order for how, order in choices.items() if len(order)}


def rows_of(table: Any, places: Any) -> Any:
    """Return some rows of a table of any library, in the order of ``places``."""
    if isinstance(table, np.ndarray):
        return table[:, places] if table.ndim == 3 else table[places]
    if isinstance(table, dict):
        return {name: np.asarray(column)[places] for name, column in table.items()}
    if isinstance(table, list):
        return [table[place] for place in places]
    import narwhals as nw

    return nw.from_native(table, eager_only=True)[places.tolist()].to_native()


def _same(how: str, found: Array, expected: Array) -> None:
    if not np.array_equal(found, expected, equal_nan=True):
        raise BrokenPromiseError("wrong score", f"{how}: {found[:4]} in place of {expected[:4]}")
