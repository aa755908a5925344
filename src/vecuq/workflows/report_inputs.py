"""What a report is made of: a saved model or gate, new rows in the columns that a page needs, and calibration rows."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from vecuq._check import wanted_columns
from vecuq._files import saved_header
from vecuq.errors import SettingError
from vecuq.gate import EVERYTHING, Gate
from vecuq.ranker import Ranker
from vecuq.table import PathLike, ScoreTable, TableLike, TableReader, TableSource, read_table
from vecuq.workflows.grouping import without_groups
from vecuq.workflows.labels import Labels, label_columns
from vecuq.workflows.places import load_any_model, refuse_answers
from vecuq.workflows.scoring import MeasuredOutputs, scoring_model

if TYPE_CHECKING:
    import pyarrow as pa

    from vecuq.report import Beside, Origin

NO_LABELS = Labels()


@dataclass(frozen=True)
class About:
    """What a report may use beside the model and the new rows.

    Parameters
    ----------
    labels
        Which columns of the new table hold labels.
    group
        The column of new rows that come together, for intervals.
    by
        The column of categories, each of which is counted by itself.
    calibration
        The calibration table, for the comparison with other combiners and the checks of the doctor.
    calibration_group
        The column of calibration rows that come together, for the checks; by default that of the new rows.
    command
        What was typed, for the provenance.
    """

    labels: Labels = NO_LABELS
    group: str | None = None
    by: str | None = None
    calibration: TableLike | None = None
    calibration_group: str | None = None
    command: str | None = None

    @property
    def named(self) -> list[str]:
        """The columns of the new table that are named, beside the scores."""
        found = [*self.labels.named().values(), self.group, self.by]
        return list(dict.fromkeys(name for name in found if name))

    @property
    def label_options(self) -> tuple[str, ...]:
        """The options that name the labels on the command line."""
        given = self.labels
        return _options(
            {"--wrong": given.error, "--correct": given.correct, "--ood": given.ood, "--quality": given.quality}
        )

    @property
    def other_options(self) -> tuple[str, ...]:
        """The options that name groups and categories."""
        return _options({"--group": self.group, "--by": self.by})


NOTHING_MORE = About()


def _options(given: dict[str, str | None]) -> tuple[str, ...]:
    return tuple(word for name, column in given.items() if column for word in (name, column))


@dataclass(frozen=True)
class ReportModel:
    """The ranker that a report is about, and the gate or pipeline around it."""

    ranker: Ranker
    gate: Gate | None = None
    pipeline: Any = None  # a VecUQPipeline, whose rows are files of outputs

    @staticmethod
    def load(path: PathLike) -> ReportModel:
        """Read a ranker, a pipeline, or a gate on either; refuse any other saved kind."""
        found = load_any_model(path)
        refuse_answers(found, path)
        gate = found if isinstance(found, Gate) else None
        inside = scoring_model(found if gate is None else gate.model, path)
        return ReportModel(inside, gate) if isinstance(inside, Ranker) else ReportModel(inside.ranker_, gate, inside)

    def at(self, alpha: float | None) -> ReportModel:
        """Return the same with another false-alarm rate."""
        if alpha is None:
            return self
        return replace(self, ranker=replace(self.ranker, settings=replace(self.ranker.settings, alpha=alpha)))

    def refuse(self, about: About) -> None:
        """Raise, before any row is read, if the gate needs a column of categories that is not named."""
        if self.gate is not None and self.gate.learned_.units != EVERYTHING and about.by is None:
            raise SettingError("This gate has a certificate per category; name the column of categories with by=.")


@dataclass(frozen=True)
class ReportRows:
    """New rows on disk, in the columns that a report needs."""

    model: ReportModel
    where: TableLike
    about: About
    missing: str = "nan"

    @cached_property
    def reader(self) -> TableReader | MeasuredOutputs:
        """All columns; for a pipeline, the measures of its file of outputs."""
        if self.model.pipeline is not None:
            return MeasuredOutputs(self.model.pipeline, self.where, labels=True)
        return TableReader(self.where, columns=self.model.ranker.columns)

    @cached_property
    def table(self) -> pa.Table:
        """The score columns, labels, groups and the few columns that a page shows."""
        from vecuq.report import other_columns

        columns, schema = self.model.ranker.columns, self.reader.schema
        wanted_columns(self.about.named, schema.names, purpose="named as a label, group or category")
        others = other_columns(schema, columns, self.about.named)
        narrow = [name for name in schema.names if name in {*columns, *others, *self.about.named}]
        table = self.reader.only(narrow).whole()
        return with_every_column(table, self.model.ranker) if self.missing == "marginal" else table

    @property
    def labels(self) -> Labels:
        """The labels that are named, or else those that a file of outputs holds."""
        if self.model.pipeline is None or self.about.labels.named() or "is_error" not in self.reader.schema.names:
            return self.about.labels
        return Labels(error="is_error")

    def beside(self, origin: Origin, *, table: str | None = None) -> Beside:
        """Return what is known beside the ranking of these rows."""
        from vecuq.report import Beside

        about, labels = self.about, self.labels
        known = label_columns(self.table, labels, scores=self.model.ranker.columns) if labels.named() else {}
        calibration, groups = self._calibration()
        return Beside(
            gate=self.model.gate,
            by=about.by,
            group=about.group,
            labels=known,
            label_columns=tuple(dict.fromkeys(labels.named().values())),
            calibration=calibration,
            calibration_groups=groups,
            table=table,
            origin=origin,
        )

    def _calibration(self) -> tuple[ScoreTable | None, Any]:
        """Return the calibration rows, and their groups where the model was fitted with groups."""
        where, ranker = self.about.calibration, self.model.ranker
        if where is None:
            return None, None
        if self.model.pipeline is not None:
            return ScoreTable.of(MeasuredOutputs(self.model.pipeline, where).whole(), columns=ranker.columns), None
        rows = read_table(where, columns=ranker.columns, flip=ranker.flipped)
        group = self.about.calibration_group or self.about.group
        grouped = ranker.n_groups is not None and group in getattr(rows.others, "column_names", [])
        return without_groups(rows, group) if grouped else (rows, None)


def with_every_column(table: pa.Table, ranker: Ranker) -> pa.Table:
    """Return the table with nothing but missing values in the columns that it lacks."""
    import pyarrow as pa

    for name in ranker.columns:
        if name not in table.column_names:
            table = table.append_column(name, pa.nulls(len(table), pa.float64()))
    return table


def facts_of_file(model: PathLike) -> dict[str, str]:
    """Return what the header of a saved model states, for the provenance of a report."""
    header = saved_header(Path(model))
    said = {"saved by": f"vecuq {header.get('library')}, format {header.get('format')}"}
    return {"kind": str(header.get("kind")), "checksum": str(header.get("checksum")), **said}


def names_of(where: TableLike) -> tuple[str, ...]:
    """Return the files as the user named them."""
    if isinstance(where, TableSource):
        return (str(where),)
    return (
        (str(where),)
        if isinstance(where, str | Path) or not isinstance(where, list | tuple)
        else tuple(map(str, where))
    )
