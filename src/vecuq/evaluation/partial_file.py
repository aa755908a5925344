"""A saved summary: its header, its cells, and what they must be, by themselves and beside each other."""

from __future__ import annotations

from typing import Annotated, Any

import numpy as np
from msgspec import Meta, Struct

from vecuq._check import Array, unique_names
from vecuq._files import NOT_NEGATIVE, RISING, Count, Numbers, check_arrays, checked_header, refuse
from vecuq.conformal import FEWEST_CELLS, Cells
from vecuq.evaluation.adding_up import AddingUp
from vecuq.evaluation.fixed_point import floating
from vecuq.evaluation.partial import COLUMNS, P_WRONG, QUALITY, PartialEvaluation, refuse_too_many

KIND = "evaluation"
Shift = Annotated[int, Meta(ge=0, le=63)]


class CountedHeader(Struct):
    """What one set of cells counts, and at which resolution."""

    method: str
    what: str
    shift: Shift


class PartialHeader(Struct):
    """What the header of a summary states, and what its fields say of each other."""

    cells: Annotated[int, Meta(ge=FEWEST_CELLS, le=2**53)]
    quality_range: tuple[float, float]
    methods: tuple[str, ...]
    n_rows: Count
    n_left_out: Count
    without_score: dict[str, Count]
    counted: tuple[CountedHeader, ...]

    def __post_init__(self) -> None:
        unique_names(self.methods)
        if set(self.without_score) != set(self.methods):
            raise ValueError("the rows without a score are not those of the methods")
        if self.n_left_out > self.n_rows or any(count > self.n_left_out for count in self.without_score.values()):
            raise ValueError("more rows were left out than there are")
        if self.n_left_out > sum(self.without_score.values()):
            raise ValueError("more rows were left out than lack a score")
        self._check_counted()
        refuse_too_many(self.n_rows, [(one.method, one.what) for one in self.counted])

    def _check_counted(self) -> None:
        found = [(one.method, one.what) for one in self.counted]
        tasks = {what for _, what in found if what in ("ood", "error", "generation")}
        wanted = {(method, task) for method in self.methods for task in tasks}
        wanted |= {("", QUALITY)} if "generation" in tasks else set()
        if not (self.methods and tasks) and (self.methods or found or self.n_rows):
            raise ValueError("rows were counted without a label or a method")
        if len(set(found)) < len(found) or not wanted <= set(found):
            raise ValueError("what was counted does not belong to the methods")
        more = set(found) - wanted
        if more and (more != {("", P_WRONG)} or "error" not in tasks):
            raise ValueError("what was counted does not belong to the methods")


def parts_of(partial: PartialEvaluation) -> tuple[str, dict[str, Any], dict[str, Array]]:
    """Return kind, header and arrays of a file that holds a summary."""
    totals = {key: adding.total() for key, adding in sorted(partial.counted.items())}
    header = {
        "cells": partial.cells,
        "quality_range": list(partial.quality_range),
        "methods": list(partial.methods),
        "n_rows": partial.n_rows,
        "n_left_out": partial.n_left_out,
        "without_score": partial.without_score,
        "counted": [{"method": name, "what": what, "shift": cells.shift} for (name, what), cells in totals.items()],
    }
    arrays: dict[str, Any] = {}
    for place, cells in enumerate(totals.values()):
        arrays |= {f"{place}.keys": cells.keys, f"{place}.counts": cells.counts}
    return KIND, header, arrays


def partial_of(header: dict[str, Any], arrays: dict[str, Any]) -> PartialEvaluation:
    """Put a summary together again; raise if a part of it makes no sense, by itself or beside the others."""
    known = checked_header(header, PartialHeader)
    made = PartialEvaluation(cells=known.cells, quality_range=known.quality_range)
    made.methods, made.n_rows, made.n_left_out = known.methods, known.n_rows, known.n_left_out
    made.without_score = dict(known.without_score)
    for place, one in enumerate(known.counted):
        cells = _checked(arrays, place, one, known)
        made.counted[one.method, one.what] = AddingUp(cells)
    if len(arrays) != 2 * len(known.counted):
        raise ValueError("there are other arrays than the header names")
    _check_together(made)
    return made


def _checked(arrays: dict[str, Any], place: int, one: CountedHeader, known: PartialHeader) -> Cells:
    """Return one set of cells, once its numbers make sense."""
    keys, counts = f"{place}.keys", f"{place}.counts"
    table = {
        keys: Numbers("cells", RISING, dtype="uint64"),
        counts: Numbers(f"cells {COLUMNS[one.what]}", NOT_NEGATIVE, dtype="int64"),
    }
    n_cells = check_arrays(arrays, table)["cells"]
    found = Cells(arrays[keys], arrays[counts], one.shift, known.cells)
    if n_cells > known.cells or (one.shift and 2 * n_cells < known.cells):
        raise ValueError(f"{keys!r} holds {n_cells:,} cells at shift {one.shift}, of at most {known.cells:,}")
    refuse(keys, "within the bits that are left", found.keys > np.uint64(2**64 - 1) >> np.uint64(one.shift), n_cells)
    low, high = found.edges()
    refuse(keys, "the key of a number", found.of_no_number, n_cells)
    kinds = 1 if COLUMNS[one.what] == 3 else 2
    rows = found.counts[:, :kinds].sum(axis=1).astype(float)
    refuse(counts, "of at least one row", rows < 1, n_cells)
    if int(rows.sum()) > known.n_rows:
        raise ValueError(f"{counts!r} counts more rows than there are")
    _check_sums(found, one.what, rows, low, high)
    return found


def _check_sums(cells: Cells, what: str, rows: Array, low: Array, high: Array) -> None:
    """Raise if sums of numbers in [0, 1] are not possible for so many rows in such cells."""
    nothing, everything = np.zeros(len(rows)), np.ones(len(rows))
    within = {
        "generation": {1: (nothing, everything)},
        QUALITY: {1: (low, high)},
        P_WRONG: {2: (low, high), 4: (nothing, everything)},
    }
    for first, (least, most) in within.get(what, {}).items():
        mean = floating(cells.counts[:, first : first + 2]) / rows
        refuse(what, "a sum of numbers in its cell", (mean < least - 1e-9) | (mean > most + 1e-9), len(rows))


def _check_together(made: PartialEvaluation) -> None:
    """Raise if methods count different rows."""
    for task in ("ood", "error", "generation"):
        totals = {tuple(adding.total().totals) for (_, what), adding in made.counted.items() if what == task}
        if task == "generation" and totals:
            totals.add(tuple(made.cells_of("", QUALITY).totals))
        if len(totals) > 1:
            raise ValueError(f"the methods count different rows for {task!r}")
