"""From a folder with outputs of a classifier to a folder of score tables: one table per file."""

from __future__ import annotations

import hashlib
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from vecuq._run import Tick
from vecuq.errors import TableError, VecuqWarning
from vecuq.outputs import ClassifierOutputs, read_outputs
from vecuq.table import PathLike
from vecuq.workflows.measuring import DEFAULT_MEASURES, Measured, Measuring
from vecuq.workflows.part_files import BadPartError, Counted, Part, PartJob, local_parts
from vecuq.workflows.part_jobs import PartsDone, by_processes, run_parts
from vecuq.workflows.scoring_parts import refuse_read_folder
from vecuq.workflows.watch import NOBODY, Watch


@dataclass(frozen=True)
class MeasuredParts:
    """Score tables on disk, one per file of outputs."""

    n_rows: int
    columns: tuple[str, ...]
    n_errors: int | None
    n_parts: int
    n_kept: int  # parts that an earlier run had finished
    skipped: tuple[str, ...]  # inputs that cannot be read


@dataclass(frozen=True)
class MeasurePart:
    """Measures one file of outputs, which holds all members."""

    how: Measuring

    def __call__(self, part: Part, target: Path, tick: Tick) -> Counted:
        """Write the scores of a part, and return how many rows there are and how many were predicted wrong."""
        try:
            given = read_outputs([part.path], temperature=self.how.temperature)
        except TableError as error:
            raise BadPartError(str(error)) from None
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always", VecuqWarning)
            done = self.how.write(given, target, tick)
        notes = tuple(str(one.message) for one in caught if issubclass(one.category, VecuqWarning))
        return Counted(_counts(done), notes)


def _counts(done: Measured) -> dict[str, int]:
    return {"rows": done.n_rows} | ({} if done.n_errors is None else {"errors": done.n_errors})


def measure_parts(
    outputs: Sequence[PathLike],
    out: PathLike,
    *,
    train: Sequence[PathLike] = (),
    measures: Sequence[str] = DEFAULT_MEASURES,
    temperature: float = 1.0,
    embedding: str = "auto",
    formulas: bool = True,
    format: str | None = None,
    n_jobs: int | None = None,
    resume: bool = False,
    force: bool = False,
    skip_bad: bool = False,
    watch: Watch = NOBODY,
) -> MeasuredParts:
    """Measure every file of outputs by itself: one table per file, with its name, and a list of all.

    Parameters
    ----------
    outputs
        Files with all members each.
    out
        The folder, which is made if need be.
    train, measures, temperature, embedding, formulas
        See :func:`measure`; densities are fitted once for all files.
    format
        The ending of the tables; parquet by default.
    n_jobs
        Number of processes; all cores by default.
    resume, force, skip_bad, watch
        See :func:`score_parts`.
    """
    parts = local_parts(outputs, format=format or "parquet")
    refuse_read_folder(out, parts, outputs)
    engine, _ = by_processes(parts, n_jobs)
    how = {"temperature": temperature, "embedding": embedding, "formulas": formulas}
    job = measuring_job(parts, train, measures, how)
    done = run_parts(job, out, engine=engine, resume=resume, force=force, skip_bad=skip_bad, watch=watch)
    return measured(job, done)


def measuring_job(
    parts: Sequence[Part], train: Sequence[PathLike], measures: Sequence[str], how: dict[str, Any]
) -> PartJob:
    """Return the job of measuring parts; densities are fitted now, the first readable file says what there is."""
    first, bad = _first_readable(parts, how["temperature"])
    measuring = Measuring.of(first, train, measures, **how)
    if measuring.classes is not None:  # the rest of the training outputs need not travel
        only = ClassifierOutputs((), labels=measuring.classes.labels)
        measuring = replace(measuring, classes=only)
    trained = [hashlib.sha256(Path(file).read_bytes()).hexdigest() for file in train]
    options = {"measures": list(measures), **how, "train": trained}
    return PartJob("measure", tuple(parts), MeasurePart(measuring), options, shared=measuring.embedding, bad=bad)


def _first_readable(parts: Sequence[Part], temperature: float) -> tuple[ClassifierOutputs, dict[str, str]]:
    """Return the first outputs that can be read, and what is wrong with those before them."""
    bad: dict[str, str] = {}
    for part in parts:
        try:
            return read_outputs([part.path], temperature=temperature), bad
        except TableError as error:
            bad[part.source] = str(error)
    raise TableError(next(iter(bad.values())))


def measured(job: PartJob, done: PartsDone) -> MeasuredParts:
    """Return what measuring came to."""
    from vecuq.measures import find_measures

    make: Any = job.make
    counts = job.total(done.made)
    columns = tuple(one.name for one in find_measures(make.how.measures))
    errors = counts.get("errors")
    skipped = tuple(bad.source for bad in done.skipped)
    return MeasuredParts(counts["rows"], columns, errors, len(done.made), done.n_kept, skipped)
