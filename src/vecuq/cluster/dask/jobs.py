"""Fit and score with Dask: the same numbers as on one machine, on as many machines as there are."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from vecuq._check import one_of, wanted_columns, warn_user
from vecuq.cluster.dask.client import connected, distributed
from vecuq.cluster.dask.frames import is_frame, scored_frame
from vecuq.cluster.dask.gathering import Gathered
from vecuq.cluster.dask.parts import engine_of
from vecuq.cluster.dask.sources import Calibration, Files, Frame
from vecuq.errors import SettingError, VecuqWarning
from vecuq.gate import Gate
from vecuq.options import ScoreOptions
from vecuq.ranker import PartialFit, Ranker, Settings, gather_and_fit
from vecuq.table import PathLike, ScoreTable, warn_of_columns
from vecuq.transport import named_reference
from vecuq.workflows import (
    FIT_MISSING,
    DecidedTable,
    Engine,
    Fitted,
    Watch,
    deciding_rows,
    score_parts,
)

__all__ = ["fit", "fit_files", "part_engine", "score"]


@dataclass(frozen=True)
class FittedParts:
    """A ranker, and what became of the rows."""

    ranker: Ranker
    set_aside: tuple[str, ...]  # columns that are no scores
    n_dropped: int
    skipped: tuple[str, ...]  # inputs that cannot be read


def fit(
    frame_or_paths: Any,
    settings: Settings | None = None,
    *,
    columns: Sequence[str] | None = None,
    flip: Sequence[str] | None = None,
    ids: str | None = None,
    missing: str = "error",
    skip_bad: bool = False,
    client: Any = None,
    progress: Callable[[int], None] | None = None,
) -> Ranker:
    """Fit a ranker to a Dask DataFrame or to part files; every part leaves a small summary, and these are added.

    Parameters
    ----------
    frame_or_paths
        A Dask DataFrame; or a folder, a pattern, files, or addresses such as ``s3://bucket/folder``, which all
        workers can reach.
    settings
        The choices of the method.
    columns, flip
        As in :meth:`vecuq.ScoreTable.of`; by default the columns of decimal numbers.
    ids
        A column with another whole number or text in every row: which rows are held back for p-values then depends on
        these alone. Without it, on the places of rows in parquet files, as on one machine; in other files and in
        frames on the number of the part and the place in it.
    missing
        ``"error"``, or ``"drop"`` for rows with missing or infinite scores.
    skip_bad
        Whether files that cannot be read are left out, with a warning.
    client
        A ``distributed.Client``; without it the one in use, or worker processes on all cores of this machine, for
        this call only.
    progress
        Called with numbers of rows as they are done.
    """
    chosen: dict[str, Any] = {"columns": columns, "flip": flip, "ids": ids, "missing": missing, "skip_bad": skip_bad}
    with connected(client) as found:
        return _fit(found, frame_or_paths, settings or Settings(), progress, **chosen).ranker


def fit_files(
    where: Any,
    model: PathLike,
    settings: Settings | None = None,
    *,
    scheduler: str | None = None,
    watch: Watch = Watch(),  # noqa: B008 - frozen
    force: bool = False,
    **chosen: Any,
) -> Fitted:
    """Fit to part files as :func:`fit` does and save the model; for the command line."""
    from vecuq.workflows import refuse_place

    refuse_place(model, writes="model", reads=[where], force=force)
    with connected(scheduler=scheduler) as client:
        done = _fit(client, where, settings or Settings(), watch.read, **chosen)
    done.ranker.save(model)
    return Fitted(done.ranker, done.set_aside, done.n_dropped)


def _fit(
    client: Any,
    rows: Any,
    settings: Settings,
    advance: Callable[[int], None] | None,
    *,
    columns: Sequence[str] | None = None,
    flip: Sequence[str] | None = None,
    ids: str | None = None,
    missing: str = "error",
    skip_bad: bool = False,
) -> FittedParts:
    one_of("missing", missing, FIT_MISSING)
    source: Calibration = Frame(client, rows) if is_frame(rows) else Files.of(client, rows, columns, skip_bad=skip_bad)
    first = _first_table(source.first_rows(columns), columns, flip, ids)
    warn_of_columns(first, directions=not named_reference(settings.reference).signed)
    found: list[Gathered] = []

    def gather(start: PartialFit) -> PartialFit:
        found.append(source.gather(start, first, ids, advance))
        return found[-1].partial

    n_rows = None if missing == "drop" else source.n_rows  # who knows how many are left
    start = PartialFit(first.columns, settings, missing=missing, n_rows=n_rows)
    ranker, whole = gather_and_fit(gather, start)
    skipped = (*source.bad, *(bad.source for bad in found[-1].bad))
    _warn_of_skipped(skipped)
    return FittedParts(ranker, tuple(getattr(first.others, "column_names", ())), whole.n_dropped, skipped)


def _first_table(rows: Any, columns: Sequence[str] | None, flip: Sequence[str] | None, ids: str | None) -> ScoreTable:
    """Return the first rows as a table, which says what all score columns and directions are."""
    table = ScoreTable.of(rows, columns=columns, flip=flip)
    if ids is None:
        return table
    present = rows.schema.names if hasattr(rows, "schema") else list(rows.columns)
    wanted_columns([ids], present, purpose="named as ids")
    return table.select([name for name in table.columns if name != ids])


def _warn_of_skipped(skipped: Sequence[str]) -> None:
    if skipped:
        more = f" and {len(skipped) - 1:,} more" if len(skipped) > 1 else ""
        warn_user(f"{skipped[0]}{more} cannot be read, and the fit is without it.", VecuqWarning)


def score(
    model: PathLike | Ranker | Gate,
    frame_or_paths: Any,
    out: PathLike | None = None,
    *,
    alpha: float | None = None,
    explain: bool = False,
    missing: str = "nan",
    replace: bool = False,
    confidence: float | None = None,
    by: str | None = None,
    format: str | None = None,
    resume: bool = False,
    force: bool = False,
    skip_bad: bool = False,
    client: Any = None,
    progress: Callable[[int], None] | None = None,
) -> Any:
    """Score a Dask DataFrame into another one, or part files into a folder of part files, to the same bits.

    Parameters
    ----------
    model
        A ranker, or a gate that decides row by row; saved or in memory.
    frame_or_paths
        A Dask DataFrame: returned is one with columns added, and nothing is computed yet. Or a folder, a pattern,
        files, or addresses of parquet files: scored now into ``out``, one output per input, and counts are returned.
    out
        A folder or an address, which all workers can reach.
    alpha, explain, missing, replace, confidence, by
        As in :class:`vecuq.options.ScoreOptions`.
    format, resume, force, skip_bad
        As in :func:`vecuq.workflows.score_parts`.
    client, progress
        As in :func:`fit`.
    """
    asked = ScoreOptions(alpha=alpha, explain=explain, missing=missing, replace=replace, confidence=confidence, by=by)
    if is_frame(frame_or_paths):
        if out is not None:
            raise SettingError("A frame is scored into a frame; leave `out` out, and write it as Dask does.")
        distributed()
        table = DecidedTable.of(deciding_rows(model, asked), list(frame_or_paths.columns))
        return scored_frame(frame_or_paths, table)
    if out is None:
        raise SettingError("Part files are scored into a folder; name it with out=.")
    how: dict[str, Any] = {"format": format, "resume": resume, "force": force, "skip_bad": skip_bad}
    with connected(client) as found:
        return score_parts(
            model, frame_or_paths, out, asked, **how, engine=engine_of(found), watch=Watch(rows=progress)
        )


@contextmanager
def part_engine(scheduler: str | None = None) -> Iterator[Engine]:
    """Yield what makes parts on the workers of a scheduler, or of a cluster on this machine that ends with it."""
    with connected(scheduler=scheduler) as client:
        yield engine_of(client)
