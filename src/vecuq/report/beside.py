"""What may be known beside a ranking: a gate, labels, categories, calibration rows, and where everything came from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from vecuq._check import Array
from vecuq.gate import Gate
from vecuq.table import ScoreTable


@dataclass(frozen=True)
class Origin:
    """Where the model and the rows came from: for the provenance of a report, and for the commands that it proposes.

    Parameters
    ----------
    model, new, calibration
        The files as the user named them; without a model and new rows no command is proposed.
    labels
        The options that name the label columns, such as ``("--wrong", "is_error")``.
    options
        The other options that the commands must repeat, such as ``("--by", "subject")``.
    command
        What was typed.
    made
        Date and time, as ISO text.
    facts
        What is known of the model's file, by name: kind, checksum, who saved it.
    of_outputs
        Whether the new rows are a file of a classifier's outputs, which fewer commands take than a table.
    page
        Where the page goes: commands write it there again, and its link to the table of rows starts there.
    """

    model: str | None = None
    new: tuple[str, ...] = ()
    calibration: str | None = None
    labels: tuple[str, ...] = ()
    options: tuple[str, ...] = ()
    command: str | None = None
    made: str | None = None
    facts: Mapping[str, str] = field(default_factory=dict)
    of_outputs: bool = False
    page: str | None = None


@dataclass(frozen=True, eq=False)
class Beside:
    """What is known beside the ranking of new rows; each adds its part to a report.

    Parameters
    ----------
    gate
        The gate that decides the rows, fitted on the ranker of the report.
    by
        The column of the new table that holds categories: each is counted by itself, and a gate with a certificate per
        category decides by it.
    group
        The column that says which rows come together (session, document): intervals then count groups.
    labels
        What is true of the rows, by ``"error"`` (0 / 1), ``"ood"`` (0 / 1) and ``"quality"``; NaN where unknown.
    label_columns
        The columns of the table that hold these labels; they are shown beside the rows.
    calibration
        The calibration rows, for the comparison with other ways to combine columns and for the checks of the doctor.
    calibration_groups
        The group of each calibration row, if they come in groups.
    table
        The file that holds all rows of which the report shows the worst, if one was written.
    origin
        Where everything came from.
    """

    gate: Gate | None = None
    by: str | None = None
    group: str | None = None
    labels: Mapping[str, Array] = field(default_factory=dict)
    label_columns: tuple[str, ...] = ()
    calibration: ScoreTable | None = None
    calibration_groups: Any = None
    table: str | None = None
    origin: Origin = field(default_factory=Origin)

    @property
    def named_columns(self) -> tuple[str, ...]:
        """The columns that say something of a row beside its scores."""
        return tuple(dict.fromkeys(name for name in (self.by, self.group, *self.label_columns) if name))
