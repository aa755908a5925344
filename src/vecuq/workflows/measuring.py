"""From files of a classifier's outputs to a table of scores, ready to be fitted or ranked."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from vecuq._check import warn_user
from vecuq.errors import CalibrationWarning, MissingValueWarning, TableError
from vecuq.measures import fit_densities, predicted_classes, settled_embedding, warn_idle
from vecuq.measures import measure as compute
from vecuq.outputs import ClassifierOutputs, read_outputs
from vecuq.table import BATCH_ROWS, PathLike, write_batches
from vecuq.workflows.places import refuse_place
from vecuq.workflows.watch import NOBODY, Watch

if TYPE_CHECKING:
    import pyarrow as pa

DEFAULT_MEASURES = ("eat_m",)


@dataclass(frozen=True)
class Measured:
    """A table of scores on disk."""

    n_rows: int
    n_members: int
    n_classes: int
    columns: tuple[str, ...]
    n_errors: int | None


def measure(
    outputs: Sequence[PathLike],
    out: PathLike,
    *,
    train: Sequence[PathLike] = (),
    measures: Sequence[str] = DEFAULT_MEASURES,
    temperature: float = 1.0,
    embedding: str = "auto",
    formulas: bool = True,
    force: bool = False,
    watch: Watch = NOBODY,
) -> Measured:
    """Measure the outputs in some files, one per member or one for all, and write the scores as a table.

    Its columns: ``id``, the measures and, where the outputs hold labels, ``label``, ``prediction`` and ``is_error``.
    ``force`` replaces also a file that the job reads, or one that holds no table. Without ``formulas``, texts that a
    spreadsheet would compute get an apostrophe in front in csv and tsv files.
    """
    refuse_place(out, reads=[*outputs, *train], force=force)
    given = read_outputs(outputs, temperature=temperature)
    if not given.n_rows:
        raise TableError("The outputs have no rows, so there is nothing to measure.")
    how = Measuring.of(given, train, measures, temperature=temperature, embedding=embedding, formulas=formulas)
    return how.write(given, out, watch.rows)


@dataclass(frozen=True)
class Measuring:
    """How outputs are measured: what was learned from training outputs, and which columns are wanted."""

    measures: tuple[str, ...]
    embedding: str
    densities: dict[str, Any]
    classes: ClassifierOutputs | None  # training outputs, of which only the labels count from here on
    temperature: float
    formulas: bool

    @staticmethod
    def of(
        given: ClassifierOutputs,
        train: Sequence[PathLike],
        measures: Sequence[str],
        *,
        temperature: float,
        embedding: str,
        formulas: bool,
    ) -> Measuring:
        """Learn the densities that the measures need; ``given`` says whether embeddings are there."""
        known = read_outputs(train, temperature=temperature) if train else None
        chosen = settled_embedding(embedding, measures, known, given)
        densities = dict(fit_densities(measures, known, embedding=chosen))
        return Measuring(tuple(measures), chosen, densities, known, temperature, formulas)

    def write(self, given: ClassifierOutputs, out: PathLike, progress: Callable[[int], None] | None) -> Measured:
        """Measure outputs and write the scores as a table."""
        table = compute(given, self.measures, self.densities, embedding=self.embedding, progress=progress)
        _warn_missing(table.values)
        warn_idle(table, len(given.members))
        labels = columns_of_labels(given, self.classes)
        _write(out, {"id": plain_ids(given), **table.by_name(), **labels}, formulas=self.formulas)
        errors = int(labels["is_error"].sum()) if "is_error" in labels else None
        return Measured(given.n_rows, len(given.members), given.n_classes, table.columns, errors)


def _write(out: PathLike, columns: dict[str, Any], *, formulas: bool) -> None:
    import pyarrow as pa

    table: pa.Table = pa.table({name: pa.array(column) for name, column in columns.items()})
    batches = table.to_batches(max_chunksize=BATCH_ROWS) or [pa.RecordBatch.from_pylist([], schema=table.schema)]
    write_batches(out, batches, formulas=formulas)


def _warn_missing(values: Any) -> None:
    bad = int((~np.isfinite(values)).any(axis=1).sum())
    if bad:
        warn_user(
            f"{bad:,} of {len(values):,} rows have outputs that are no numbers; their scores are missing.",
            MissingValueWarning,
        )


def plain_ids(outputs: ClassifierOutputs) -> Any:
    """Return the ids of rows as whole numbers or text; without ids, the numbers of the rows."""
    return np.arange(outputs.n_rows) if outputs.ids is None else _plain(outputs.ids)


def _plain(values: Any) -> Any:
    """Return labels or ids as whole numbers or text, so that nobody takes them for scores."""
    if values.dtype.kind in "iu":
        return values
    if values.dtype.kind == "b" or (values.dtype.kind == "f" and (np.abs(values) < 2**53).all() and _whole(values)):
        return values.astype(np.int64)
    return np.char.decode(values, "utf-8", "replace") if values.dtype.kind == "S" else values.astype(str)


def _whole(values: Any) -> bool:
    return bool((values == np.floor(values)).all())


def columns_of_labels(outputs: ClassifierOutputs, train: ClassifierOutputs | None = None) -> dict[str, Any]:
    """Return label, prediction and whether they differ; names of classes are known by their sorted order."""
    if outputs.labels is None:
        return {}
    labels, predicted = _plain(outputs.labels), predicted_classes(outputs)
    if labels.dtype.kind in "iu":
        return {"label": labels, "prediction": predicted, "is_error": (labels != predicted).astype(np.int8)}
    seen = outputs.labels if train is None or train.labels is None else train.labels
    names = np.unique(_plain(seen))
    if len(names) != outputs.n_classes:
        warn_user(
            f"The labels name {len(names):,} classes and the outputs have {outputs.n_classes:,}, so they cannot be "
            f"matched, and there is no column `is_error`. Give labels as whole numbers from 0.",
            CalibrationWarning,
        )
        return {"label": labels, "prediction": predicted}
    predicted_names = names[predicted]
    return {"label": labels, "prediction": predicted_names, "is_error": (labels != predicted_names).astype(np.int8)}
