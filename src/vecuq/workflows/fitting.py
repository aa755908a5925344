"""From a table file to a saved model; files of many rows are never read into memory as a whole."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from vecuq._run import ahead
from vecuq.errors import CalibrationWarning, ConvergenceError
from vecuq.ranker import Ranker, Settings, fit_ranker, fit_stream, stream_nodes
from vecuq.table import ScoreTable, count_rows, kind_of, read_batches, read_table
from vecuq.workflows.places import refuse_place
from vecuq.workflows.watch import NOBODY, PathLike, Watch

# From here on a file is streamed instead of read as a whole.
_MANY_ROWS = 500_000
_MANY_BYTES = 256 * 2**20


@dataclass(frozen=True)
class Fitted:
    """A model on disk, and the columns of its table that were set aside."""

    ranker: Ranker
    set_aside: tuple[str, ...]


def fit(
    calibration: PathLike,
    model: PathLike,
    settings: Settings | None = None,
    *,
    columns: Sequence[str] | None = None,
    flip: Sequence[str] = (),
    watch: Watch = NOBODY,
) -> Fitted:
    """Fit a ranker to a table file and save it."""
    refuse_place(model, "A model")
    done = _fit_streaming(calibration, settings or Settings(), columns, flip, watch)
    if done is None:
        table = read_table(calibration, columns=columns, flip=flip)
        _doubt_direction(table)
        ranker = fit_ranker(table, settings, progress=watch.sweep)
        done = Fitted(ranker, tuple(getattr(table.others, "column_names", ())))
    done.ranker.save(model)
    return done


def _fit_streaming(
    path: PathLike, settings: Settings, columns: Sequence[str] | None, flip: Sequence[str], watch: Watch
) -> Fitted | None:
    """Fit in bounded memory; None when the file is small, or the settings need all rows at once."""
    if not _has_many_rows(path, columns):
        return None
    first = ScoreTable.of(next(read_batches(path, columns=columns or ())), columns=columns, flip=flip)
    if stream_nodes(settings, len(first.columns)) is None:
        return None
    _doubt_direction(first)

    def chunks() -> Iterator[ScoreTable]:
        batches = ahead(read_batches(path, columns=first.columns, alone=True))
        return (ScoreTable.of(batch, columns=first.columns, flip=flip) for batch in batches)

    try:
        ranker = fit_stream(chunks, settings, n_rows=count_rows(path), advance=watch.read)
    except ConvergenceError:
        return None  # the kernel is too steep for a sketch: take the rows themselves
    return Fitted(ranker, tuple(getattr(first.others, "column_names", ())))


def _has_many_rows(path: PathLike, columns: Sequence[str] | None) -> bool:
    """Whether to stream: parquet states its rows; of text the size tells, once the score columns are named."""
    if kind_of(path) == ".parquet":
        return (count_rows(path) or 0) >= _MANY_ROWS
    return columns is not None and kind_of(path) != ".npz" and Path(path).stat().st_size >= _MANY_BYTES


def _doubt_direction(table: ScoreTable) -> None:
    """Warn of a confidence that is taken for an uncertainty; only the user can know."""
    doubtful = [name for name in table.columns if "confidence" in name.lower() and name not in table.flipped]
    if doubtful:
        warnings.warn(
            f"Higher is taken for more uncertain in every score column, and {doubtful} sounds like the contrary. "
            f"If so, name it in flip.",
            CalibrationWarning,
            stacklevel=4,
        )
