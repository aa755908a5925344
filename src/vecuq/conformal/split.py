"""Which rows are held back for p-values: a seeded draw of rows, or of whole groups."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from vecuq.errors import CalibrationError, TableError

# More held-back rows than this resolve nothing: p-values down to 1e-5.
MOST_HELD = 100_000


def split_rows(n_rows: int, holdback: float, seed: int) -> NDArray[np.intp]:
    """Return which rows are held back, increasing: a seeded draw that leaves at least two.

    Examples
    --------
    >>> split_rows(6, 0.5, 0)
    array([3, 4, 5])
    """
    if n_rows < 2:
        raise CalibrationError(
            f"At least two calibration rows are needed; got n_samples = {n_rows}. Hundreds make good p-values."
        )
    return draw_rows(n_rows, min(int(holdback * n_rows), n_rows - 2, MOST_HELD), seed)


def split_groups(codes: NDArray[np.int64], holdback: float, seed: int) -> NDArray[np.intp]:
    """Return which rows are held back, increasing: those of a seeded draw of whole groups that leaves one group.

    ``codes`` is what :func:`group_codes` returns.
    """
    sizes = np.bincount(codes)
    if len(sizes) < 2 and holdback:
        raise CalibrationError(
            "All calibration rows are in one group, so there is no other group to hold back for p-values. Give rows of "
            "many groups, or leave groups out."
        )
    drawn = draw_rows(len(sizes), min(int(holdback * len(sizes)), len(sizes) - 1), seed)
    fits = int((np.cumsum(sizes[drawn]) <= MOST_HELD).sum())
    return np.flatnonzero(np.isin(codes, drawn[: max(1, fits)]))


def draw_rows(n_rows: int, n_drawn: int, seed: int) -> NDArray[np.intp]:
    """Return a seeded draw of rows without replacement, increasing."""
    drawn = np.random.default_rng(seed).choice(n_rows, n_drawn, replace=False, shuffle=False)
    return np.sort(drawn).astype(np.intp)


def group_codes(groups: Any, n_rows: int) -> NDArray[np.int64]:
    """Return the groups of rows, whatever names them, as whole numbers from 0 in the order in which they come.

    Examples
    --------
    >>> group_codes(["b", "a", "b"], 3)
    array([0, 1, 0])
    """
    # A list of texts and NaN would become one of texts.
    names = np.asarray(groups) if hasattr(groups, "dtype") else np.asarray(groups, dtype=object)
    if names.ndim != 1 or len(names) != n_rows:
        raise TableError(f"groups needs one value per row, {n_rows:,} in all; got an array of shape {names.shape}.")
    listed = names.tolist()
    missing = [place for place, name in enumerate(listed) if _is_missing(name)]
    if missing:
        raise TableError(
            f"{len(missing):,} of {n_rows:,} rows have no group (the first: row {missing[0]:,}, counting from 0). Give "
            f"every row the name of its group; a row that stands alone is a group of its own."
        )
    known: dict[Any, int] = {}
    return np.array([known.setdefault(name, len(known)) for name in listed], dtype=np.int64)


def _is_missing(name: Any) -> bool:
    try:
        return name is None or name == "" or not bool(name == name)  # noqa: PLR0124 - NaN and NaT are not
    except TypeError:  # the NA of pandas compares with nothing
        return True
