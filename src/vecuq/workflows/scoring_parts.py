"""From a model and a folder of part files to a folder of ranked ones, in processes and bounded memory."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import msgspec

from vecuq._run import Tick, ahead
from vecuq.decide import Deciding
from vecuq.errors import SettingError
from vecuq.gate import Gate
from vecuq.options import PLAIN, ScoreOptions
from vecuq.ranker import Ranker
from vecuq.table import PathLike, TableLike, TableReader, is_text_table, write_batches
from vecuq.workflows.decided_tables import DecidedTable
from vecuq.workflows.part_files import Counted, Part, PartJob, without
from vecuq.workflows.part_folder import job_folder
from vecuq.workflows.part_inputs import PartInputs, address_of, common_reader, rows_of, without_scheme
from vecuq.workflows.part_jobs import Engine, PartsDone, by_processes, run_parts
from vecuq.workflows.places import load_any_model
from vecuq.workflows.scored_rows import RowCounts, Scored, warn_of_missing
from vecuq.workflows.scoring import scorers_in
from vecuq.workflows.watch import NOBODY, Watch


@dataclass(frozen=True)
class ScoredParts:
    """Ranked part files on disk: the counts of all rows, and how many parts are what."""

    scored: Scored
    n_parts: int
    n_kept: int  # parts that an earlier run had finished
    skipped: tuple[str, ...]  # inputs that cannot be read

    def to_dict(self) -> dict[str, Any]:
        """Return the counts by name."""
        return {**self.scored.to_dict(), "n_parts": self.n_parts, "n_kept": self.n_kept, "skipped": list(self.skipped)}


@dataclass(frozen=True)
class ScorePart:
    """Scores the rows of one part in batches; the columns were matched once for all parts."""

    reader: TableReader
    table: DecidedTable

    def __call__(self, part: Part, target: Path, tick: Tick) -> Counted:
        """Write the ranked rows of a part, and return how many are what."""
        deciding = self.table.deciding
        overlap = ahead if (deciding.n_jobs or 1) > 1 else iter
        counts = RowCounts(deciding)
        with rows_of(self.reader, part) as rows:
            decided = overlap(map(self.table.scored, overlap(rows)))
            write_batches(target, counts.counted(decided, Watch(rows=tick)), formulas=deciding.options.formulas)
        return Counted({name: int(counts.counts[name]) for name in ("rows", "missing", *counts.names)})


def score_parts(
    model: PathLike | Ranker | Gate,
    new: TableLike,
    out: PathLike,
    asked: ScoreOptions = PLAIN,
    *,
    format: str | None = None,
    n_jobs: int | None = None,
    engine: Engine | None = None,
    resume: bool = False,
    force: bool = False,
    skip_bad: bool = False,
    watch: Watch = NOBODY,
) -> ScoredParts:
    """Score part files into a folder: one output per input, with its name, and a list of all.

    Every row has the numbers that :func:`score` gives it, to the bit.

    Parameters
    ----------
    model
        A ranker, or a gate that decides row by row; saved or in memory.
    new
        A folder, a pattern, files, or addresses of parquet files; the columns must be the same in all of them, in any
        order.
    out
        The folder, which is made if need be.
    asked
        What is added to every row; what depends on all rows is refused.
    format
        The ending of the outputs, such as ``"parquet"``; by default that of each input.
    n_jobs
        Number of processes; all cores by default.
    engine
        What makes the parts instead, such as a cluster.
    resume
        Go on with a job that was stopped; parts whose input or output has changed are made again.
    force
        Replace files of these names in a folder that is there, and begin again what was stopped.
    skip_bad
        Leave out inputs that cannot be read, and say so; otherwise the first one is an error.
    watch
        Called as rows are done.
    """
    inputs = PartInputs.of(new, format=format)
    refuse_read_folder(out, inputs.parts, new)
    by_default, n_threads = by_processes(inputs.parts, n_jobs)
    job = scoring_job(model, inputs, asked, format=format, n_threads=n_threads)
    done = run_parts(job, out, engine=engine or by_default, resume=resume, force=force, skip_bad=skip_bad, watch=watch)
    return scored_parts(job, done)


def scoring_job(
    model: PathLike | Ranker | Gate,
    inputs: PartInputs,
    asked: ScoreOptions,
    *,
    format: str | None,
    n_threads: int = 1,
) -> PartJob:
    """Return the job of scoring parts; raises, before any row is read, for what cannot be done."""
    about, found = _identified(model)
    deciding = replace(_row_by_row(found, about["name"], asked), n_jobs=n_threads)
    typed = not all(is_text_table(part.name) for part in inputs.parts)
    reader, bad = common_reader(inputs.source, deciding.ranker.columns, typed=typed)
    make = ScorePart(reader, DecidedTable.of(deciding, reader.schema.names))
    options = {**msgspec.structs.asdict(asked), "format": format}
    columns = [(column.name, str(column.type)) for column in reader.schema]
    shared = hashlib.sha256(repr(columns).encode()).hexdigest()
    return PartJob("score", inputs.parts, make, options, about, shared, bad)


def _identified(model: PathLike | Ranker | Gate) -> tuple[dict[str, str], Any]:
    """Return name and checksum of a model, which may be in memory, and the model."""
    if isinstance(model, Ranker | Gate):
        return {"name": type(model).__name__, "sha256": hashlib.sha256(model.to_bytes()).hexdigest()}, model
    found = load_any_model(model)
    return {"name": Path(model).name, "sha256": hashlib.sha256(Path(model).read_bytes()).hexdigest()}, found


def deciding_rows(model: PathLike | Ranker | Gate, asked: ScoreOptions) -> Deciding:
    """Return what decides row by row, from a file or from memory."""
    about, found = _identified(model)
    return _row_by_row(found, about["name"], asked)


def _row_by_row(found: Any, name: str, asked: ScoreOptions) -> Deciding:
    """Return how a loaded model decides; refuse what needs all rows at once."""
    for option in ("select", "sort", "top"):
        if getattr(asked, option):
            raise SettingError(
                f"`{option}` looks at all rows together, and part files are scored one by one; write one file instead, "
                f"such as ranked.parquet."
            )
    ranker, gate = scorers_in(found, name)
    if not isinstance(ranker, Ranker):
        raise SettingError(
            f"{name} holds a pipeline, which takes outputs of a classifier; measure them into part files first "
            f"(`vecuq measure`), and score those with a model."
        )
    deciding = Deciding(ranker, asked, gate)
    if deciding.by_batch:
        raise SettingError(
            f"{name} decides all rows of a batch together, and part files are scored one by one; write one file "
            f"instead, such as decided.parquet, or fit a gate with promise='confidence'."
        )
    return deciding


def refuse_read_folder(out: PathLike, parts: Sequence[Part], where: TableLike | Sequence[TableLike] = ()) -> None:
    """Raise if a file that the job reads lies in the folder that it writes, or that folder in one that it reads."""
    if address_of(out) is not None:
        return
    folder = Path(without_scheme(out)).resolve()
    named = [where] if isinstance(where, str | os.PathLike) else where if isinstance(where, Sequence) else []
    read = [one for one in named if isinstance(one, str | os.PathLike) and Path(one).is_dir()]
    around = next((one for one in read if folder.is_relative_to(Path(one).resolve())), None)
    if around is not None:
        raise SettingError(f"{out} lies in {around}, which this job reads; choose another folder for the outputs.")
    local = ((part, Path(part.path).resolve()) for part in parts if address_of(part.path) is None)
    ours = (folder, job_folder(out))
    inside = next((part for part, path in local if any(path.is_relative_to(one) for one in ours)), None)
    if inside is not None:
        raise SettingError(f"{out} holds {inside.source}, which this job reads; choose another folder for the outputs.")


def scored_parts(job: PartJob, done: PartsDone) -> ScoredParts:
    """Return what scoring came to, and warn of rows without a score."""
    make: Any = job.make
    table: DecidedTable = make.table
    counts = RowCounts(table.deciding)
    counts.counts.update(job.total(done.made))
    scored = counts.scored()
    warn_of_missing(scored, table.absent)
    if table.deciding.gate is not None:
        _warn_unlike(make, without(job.parts, {bad.source: bad.reason for bad in done.skipped}))
    return ScoredParts(scored, len(done.made), done.n_kept, tuple(bad.source for bad in done.skipped))


def _warn_unlike(make: ScorePart, parts: Sequence[Part]) -> None:
    """Warn if the first rows do not look like the labelled ones, as one file of all rows would."""
    counts = RowCounts(make.table.deciding)
    for part in parts:
        with rows_of(make.reader, part) as rows:
            while not counts.has_seen_enough and (batch := next(rows, None)) is not None:
                counts.look(make.table.scored(batch)[1])
        if counts.has_seen_enough:
            break
    counts.warn_unlike()
