"""From a model and a folder of part files to a folder of ranked ones, in processes and bounded memory."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from vecuq._run import Tick, ahead
from vecuq.errors import SettingError, TableError
from vecuq.gate import Gate
from vecuq.ranker import Ranker
from vecuq.table import (
    PartFile,
    PathLike,
    TableLike,
    TableReader,
    TableSource,
    is_text_table,
    kind_of,
    write_batches,
)
from vecuq.workflows.judging import Judge
from vecuq.workflows.part_files import BadPartError, Counted, Part, PartJob, local_parts, without
from vecuq.workflows.part_jobs import PartsDone, by_processes, run_parts
from vecuq.workflows.part_store import LocalStore
from vecuq.workflows.places import load_any_model
from vecuq.workflows.scored_batches import BatchScorer, Wanted
from vecuq.workflows.scoring import RowCounts, Scored, scoring_model, warn_of_missing
from vecuq.workflows.watch import NOBODY, Watch

if TYPE_CHECKING:
    import pyarrow as pa


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
    scoring: BatchScorer

    def rows_of(self, part: Part) -> TableReader:
        """Return the reader of one part."""
        return self.reader.of_file(PartFile(Path(part.path), kind_of(part.path), part.source))

    def __call__(self, part: Part, target: Path, tick: Tick) -> Counted:
        """Write the ranked rows of a part, and return how many are what."""
        scoring = self.scoring.afresh()
        overlap = ahead if scoring.n_jobs > 1 else iter
        counts = RowCounts(scoring.wanted, scoring.judge)
        ranked = overlap(map(scoring.ranked, overlap(_readable(self.rows_of(part)))))
        write_batches(target, counts.counted(ranked, Watch(rows=tick)), formulas=scoring.wanted.formulas)
        return Counted({name: int(counts.counts[name]) for name in ("rows", "missing", *counts.names)})


def _readable(rows: TableReader) -> Iterator[pa.RecordBatch]:
    try:
        yield from rows.batches()
    except TableError as error:
        raise BadPartError(str(error)) from None


def score_parts(
    model: PathLike,
    new: TableLike,
    out: PathLike,
    wanted: Wanted,
    *,
    by: str | None = None,
    format: str | None = None,
    n_jobs: int | None = None,
    resume: bool = False,
    force: bool = False,
    skip_bad: bool = False,
    watch: Watch = NOBODY,
) -> ScoredParts:
    """Score part files into a folder: one output per input, with its name, and a manifest when all are finished.

    Every row has the numbers that :func:`score` gives it, to the bit.

    Parameters
    ----------
    model
        A saved ranker, or a gate that decides row by row.
    new
        A folder, a pattern, or files; the columns must be the same in all of them, in any order.
    out
        The folder, which is made if need be.
    wanted
        What is added to every row; what depends on all rows is refused.
    by
        For a gate with categories: the column that holds them.
    format
        The ending of the outputs, such as ``"parquet"``; by default that of each input.
    n_jobs
        Number of processes; all cores by default.
    resume, force, skip_bad, watch
        See :func:`run_parts`.
    """
    source = TableSource.of(new)
    if source.is_stdin:
        raise SettingError("Part files come from files; standard input (-) is one table, so write it to one file.")
    files = [part.path for part in source.parts]
    refuse_read_folder(out, files)
    parts = local_parts(files, format=format)
    engine, n_threads = by_processes(parts, n_jobs)
    job = scoring_job(model, source, parts, wanted, by=by, format=format, n_threads=n_threads)
    done = run_parts(job, LocalStore.of(out), engine=engine, resume=resume, force=force, skip_bad=skip_bad, watch=watch)
    return told(job, done)


def scoring_job(
    model: PathLike,
    source: TableSource,
    parts: Sequence[Part],
    wanted: Wanted,
    *,
    by: str | None,
    format: str | None,
    n_threads: int = 1,
) -> PartJob:
    """Return the job of scoring parts; raises, before any row is read, for what cannot be done."""
    ranker, judge = _loaded(model, wanted, by)
    typed = not all(is_text_table(part.name) for part in parts)
    reader, bad = common_reader(source, ranker.columns, typed=typed)
    scoring = BatchScorer.of(ranker, wanted, reader.schema.names, judge)
    make = ScorePart(reader, replace(scoring, n_jobs=n_threads))
    options = {**asdict(wanted), "by": by, "format": format}
    about = {"name": Path(model).name, "sha256": hashlib.sha256(Path(model).read_bytes()).hexdigest()}
    return PartJob("score", tuple(parts), make, options, about, bad)


def _loaded(model: PathLike, wanted: Wanted, by: str | None) -> tuple[Ranker, Judge | None]:
    """Return the model behind a file and what a gate adds; refuse what needs all rows at once."""
    for name in ("select", "sort", "top"):
        if getattr(wanted, name):
            raise SettingError(
                f"`{name}` looks at all rows together, and part files are scored one by one; write one file instead, "
                f"such as ranked.parquet."
            )
    found = load_any_model(model)
    judge = Judge(found, by) if isinstance(found, Gate) else None
    if judge is None and by is not None:
        raise SettingError("by= is for a gate with categories; this is a model without a gate.")
    if judge is not None and judge.needs_all_rows:
        raise SettingError(
            f"{model} decides all rows of a batch together, and part files are scored one by one; write one file "
            f"instead, such as decided.parquet, or fit a gate with promise='confidence'."
        )
    ranker = scoring_model(found if judge is None else judge.gate.model, model)
    if not isinstance(ranker, Ranker):
        raise SettingError(
            f"{model} holds a pipeline, which takes outputs of a classifier; measure them into part files first "
            f"(`vecuq measure`), and score those with a model."
        )
    wanted.refuse(ranker)
    return ranker, judge


def common_reader(source: TableSource, columns: Sequence[str], *, typed: bool) -> tuple[TableReader, dict[str, str]]:
    """Return the reader with the columns that all files share, and the files that cannot be opened, with the reason."""
    try:
        return TableReader(source, columns=columns, typed=typed), {}
    except TableError:
        bad = dict(_unreadable(source, columns, typed=typed))
        good = tuple(part for part in source.parts if part.shown not in bad)
        if not bad or not good:  # the files do not go together, or none can be opened
            raise
    return TableReader(TableSource(source.shown, good), columns=columns, typed=typed), bad


def _unreadable(source: TableSource, columns: Sequence[str], *, typed: bool) -> Iterator[tuple[str, str]]:
    for one in source.each():
        try:
            TableReader(one, columns=columns, typed=typed)
        except TableError as error:
            yield one.shown, str(error)


def refuse_read_folder(out: PathLike, files: Sequence[PathLike]) -> None:
    """Raise if a file that the job reads lies in the folder that it writes."""
    folder = Path(out).resolve()
    inside = next((file for file in files if folder in Path(file).resolve().parents), None)
    if inside is not None:
        raise SettingError(f"{out} holds {inside}, which this job reads; choose another folder for the outputs.")


def told(job: PartJob, done: PartsDone) -> ScoredParts:
    """Return what scoring came to, and warn of rows without a score."""
    make: Any = job.make
    scoring: BatchScorer = make.scoring
    counts = RowCounts(scoring.wanted, scoring.judge)
    counts.counts.update(job.total(done.made))
    scored = counts.scored()
    warn_of_missing(scored, scoring.absent)
    if scoring.judge is not None:
        _warn_unlike(make, without(job.parts, {bad.source: bad.reason for bad in done.skipped}))
    return ScoredParts(scored, len(done.made), done.n_kept, tuple(bad.source for bad in done.skipped))


def _warn_unlike(make: ScorePart, parts: Sequence[Part]) -> None:
    """Warn if the first rows do not look like the labelled ones, as one file of all rows would."""
    scoring = make.scoring.afresh()
    if scoring.judge is None:
        return
    batches = (batch for part in parts for batch in make.rows_of(part).batches())
    while not scoring.judge.has_seen_enough and (batch := next(batches, None)) is not None:
        scoring.ranked(batch)
    scoring.judge.warn_unlike()
