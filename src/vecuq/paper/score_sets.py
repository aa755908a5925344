"""Scores of answers from an npz file, with the quality of each answer, whatever kind of quality that is.

For each set the file holds four arrays: ``NAME/x`` (answers, columns), higher = more uncertain; ``NAME/columns``, their
names; and ``NAME/quality`` (answers,), higher = better, or ``NAME/wrong`` (answers,), 0 or 1, which means quality
1 - wrong. Other arrays are ignored.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vecuq._check import Array, one_line
from vecuq._files import load_arrays
from vecuq.errors import TableError
from vecuq.paper.splits import MEAN, OURS, JudgedScores
from vecuq.transport import MAX_COLUMNS

_FEWEST_ROWS = 40
# A split whose evaluated answers are all of one quality has no PRR: one in a million with ten others.
_FEWEST_OTHERS = 10
_TAKEN = {*OURS, MEAN, "Method"}
_RUN = re.compile(r"(?:.*_)?run_\d+_(.+)")


@dataclass(frozen=True, eq=False)
class ScoreSets:
    """All sets of one file, by their column of the table; several runs of one task share a column."""

    components: tuple[str, ...]
    subjects: Mapping[str, tuple[JudgedScores, ...]]


def read_score_sets(path: Path, column: Callable[[str], str] = str) -> ScoreSets:
    """Return the sets of an npz file; ``column`` gives the name in the table of a set's or a task's name."""
    return sets_of(path, load_arrays(path), column)


def sets_of(path: Path, arrays: Mapping[str, NDArray[Any]], column: Callable[[str], str] = str) -> ScoreSets:
    """Return the sets of arrays that were read from a file, by the same rules for every kind of file."""
    names = [key.removesuffix("/x") for key in arrays if key.endswith("/x")]
    if not names:
        raise TableError(f"{path} needs an array NAME/x for each set of scores; it has {one_line(sorted(arrays))}.")
    found = {name: _judged(path, name, arrays) for name in names}
    components = tuple(found[names[0]].scores)
    subjects: dict[str, tuple[JudgedScores, ...]] = {}
    for name, judged in found.items():
        if tuple(judged.scores) != components:
            raise TableError(
                f"{path}: all sets of one file need the same columns that vary; {names[0]} has {list(components)}, "
                f"{name} has {list(judged.scores)}. Put them in files of their own."
            )
        run = _RUN.fullmatch(name)
        title = column(run[1] if run else name)
        if title in _TAKEN or _TAKEN.intersection(judged.scores):
            raise TableError(
                f"{path}: {name} and its columns need other names than {sorted(_TAKEN)}: the table has them."
            )
        subjects[title] = (*subjects.get(title, ()), judged)
    return ScoreSets(components, subjects)


def _judged(path: Path, name: str, arrays: Mapping[str, NDArray[Any]]) -> JudgedScores:
    """Return one set, without its constant columns and without rows that lack a value."""
    rows = _numbers(path, f"{name}/x", arrays, 2)
    columns = [str(one) for one in _array(path, f"{name}/columns", arrays).ravel()]
    quality = _quality(path, name, arrays)
    if rows.shape != (len(quality), len(columns)) or len(set(columns)) < len(columns):
        raise TableError(
            f"{path}: {name}/x must be (answers, columns), with a quality for each answer and a name of its own for "
            f"each column; got {rows.shape}, {len(quality)} and {len(set(columns))}."
        )
    whole = np.isfinite(rows).all(axis=1) & np.isfinite(quality)
    rows, quality = rows[whole], quality[whole]
    varying = [k for k in range(len(columns)) if len(np.unique(rows[:, k])) > 1]
    others = len(rows) - int(np.unique(quality, return_counts=True)[1].max(initial=0))
    if len(rows) < _FEWEST_ROWS or not 1 <= len(varying) <= MAX_COLUMNS or others < _FEWEST_OTHERS:
        raise TableError(
            f"{path}: {name} needs {_FEWEST_ROWS} complete answers, {_FEWEST_OTHERS} of them of another quality than "
            f"the most common one, and 1 to {MAX_COLUMNS} columns that vary; it has {len(rows):,} answers, {others:,} "
            f"of another quality and {len(varying)} such columns."
        )
    return JudgedScores({columns[k]: rows[:, k] for k in varying}, quality, int((~whole).sum()))


def _quality(path: Path, name: str, arrays: Mapping[str, NDArray[Any]]) -> Array:
    if f"{name}/quality" in arrays:
        return _numbers(path, f"{name}/quality", arrays, 1)
    if f"{name}/wrong" not in arrays:
        raise TableError(f"{path} needs {name}/quality (higher = better) or {name}/wrong (0 or 1); it has neither.")
    wrong = _numbers(path, f"{name}/wrong", arrays, 1)
    if not np.isin(wrong, (0.0, 1.0)).all():
        raise TableError(f"{path}: {name}/wrong must be 0 or 1. Save another kind of quality as {name}/quality.")
    return 1.0 - wrong


def _numbers(path: Path, key: str, arrays: Mapping[str, NDArray[Any]], n_axes: int) -> Array:
    array = _array(path, key, arrays)
    if array.ndim != n_axes or array.dtype.kind not in "fiub":
        raise TableError(f"{path}: {key} must be numbers with {n_axes} axes; got {array.dtype} of shape {array.shape}.")
    return array.astype(float)


def _array(path: Path, key: str, arrays: Mapping[str, NDArray[Any]]) -> NDArray[Any]:
    if key not in arrays:
        raise TableError(f"{path} needs the array {key}; it has {one_line(sorted(arrays))}.")
    return arrays[key]
