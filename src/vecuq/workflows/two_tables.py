"""Two tables in one command: whether they are the same, swapped, or no tables at all."""

from __future__ import annotations

import filecmp
import math
import os
from pathlib import Path

import numpy as np

from vecuq._check import Array, wanted_columns, warn_user
from vecuq._files import saved_kind
from vecuq.errors import CalibrationWarning, ColumnError, TableError
from vecuq.ranker import Ranker
from vecuq.table import TableLike, TableReader, TableSource, is_stdio
from vecuq.workflows.contents import WORDS
from vecuq.workflows.labels import Labels

_ORDER = "The calibration rows come first, then the new rows."
# New rows that are this much less uncertain than the calibration rows, and beyond any chance, make one wonder.
_SHARE = 0.55
_DEVIATIONS = 5.0


def refuse_wrong_tables(calibration: TableLike, new: TableLike) -> None:
    """Raise if both tables are standard input, or one of them is a saved model."""
    if is_stdio(calibration) and is_stdio(new):
        raise TableError("Standard input can be the calibration rows or the new rows, not both.")
    for where in (calibration, new):
        kind = saved_kind(where) if isinstance(where, str | os.PathLike) and Path(where).is_file() else None
        if kind is not None:
            raise TableError(
                f"{where} holds {WORDS.get(kind, f'a {kind}')}, and two tables are needed here. {_ORDER} "
                f"`vecuq score` ranks new rows by a saved model."
            )


def refuse_absent(labels: Labels | None, new: TableSource, calibration: TableSource) -> None:
    """Raise, before any long work, if a label column is not there; say so if the other table has it."""
    named = dict.fromkeys(labels.named().values() if labels else ())
    if not named:
        return
    present, others = (TableReader(table, typed=False).schema.names for table in (new, calibration))
    absent = [name for name in named if name not in present]
    if absent and all(name in others for name in named):
        raise ColumnError(f"{new} lacks {absent}, named as a label, and {calibration} has it. Swapped? {_ORDER}")
    wanted_columns(named, present, purpose="named as a label")


def doubt_same(calibration: TableSource, new: TableSource) -> None:
    """Warn if the new rows are the calibration rows."""
    files, others = ([part.path for part in table.parts] for table in (calibration, new))
    if len(files) == len(others) and all(map(_same_content, files, others)):
        warn_user(
            f"{new} holds the calibration rows themselves: p-values and flags say nothing about rows that the model "
            f"was fitted on. Rank other rows.",
            CalibrationWarning,
        )


def _same_content(one: Path, other: Path) -> bool:
    return one.samefile(other) or filecmp.cmp(one, other, shallow=False)


def doubt_order(ranker: Ranker, uncertainty: Array) -> None:
    """Warn if new rows are less uncertain than the held-back calibration rows: the two tables may be swapped.

    The share of pairs of a calibration row and a new row in which the first is more uncertain, ties counting half, is
    1/2 on average if nothing differs, with variance (n + m + 1) / (12 n m) at most (Mann and Whitney, 1947).
    """
    held, rows = np.sort(ranker.calibration_scores), uncertainty[~np.isnan(uncertainty)]
    n, m = len(held), len(rows)
    if not n or not m:
        return
    left, right = (np.searchsorted(held, rows, side=side) for side in ("left", "right"))
    share = 1.0 - float((left + right).mean()) / (2 * n)
    if share >= _SHARE and share - 0.5 > _DEVIATIONS * math.sqrt((n + m + 1) / (12 * n * m)):
        warn_user(
            f"The calibration rows are more uncertain than the new rows, in {share:.0%} of all pairs. Are the two "
            f"tables swapped? {_ORDER}",
            CalibrationWarning,
        )
