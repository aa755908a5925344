"""From table files to findings: is the calibration set any good, and are the new rows like it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from vecuq.doctor import Case, Finding, examine_case
from vecuq.ranker import Settings
from vecuq.table import TableLike, read_table
from vecuq.workflows.grouping import without_groups


@dataclass(frozen=True)
class Examined:
    """What the checks found, the worst first, and on how many rows."""

    findings: tuple[Finding, ...]
    columns: tuple[str, ...]
    n_rows: int
    n_new: int | None
    n_sampled: int | None  # rows that the slower checks looked at, if not all


def doctor(
    calibration: TableLike,
    new: TableLike | None = None,
    *,
    settings: Settings | None = None,
    columns: Sequence[str] | None = None,
    flip: Sequence[str] = (),
    group: str | None = None,
) -> Examined:
    """Look over a table file of calibration rows, and a table file of new rows beside it.

    ``group`` is the column that says which rows come together, as in :func:`fit`.
    """
    table, groups = without_groups(read_table(calibration, columns=columns, flip=flip), group, columns)
    others = None if new is None else read_table(new, columns=table.columns, flip=flip)
    case = Case.of(table, others, settings, groups)
    return Examined(
        examine_case(case),
        table.columns,
        len(table),
        None if others is None else len(others),
        len(case.sample) if case.is_sampled else None,
    )
