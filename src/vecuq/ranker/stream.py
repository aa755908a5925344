"""Fitting from more rows than memory holds: one pass over chunks of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from itertools import chain

from vecuq._check import warn_user
from vecuq._run import in_order, resolve_jobs
from vecuq.errors import CalibrationWarning, ConvergenceError, TableError
from vecuq.ranker.partial import PartialFit
from vecuq.ranker.ranker import Ranker
from vecuq.ranker.settings import Settings
from vecuq.table import ScoreTable, warn_of_columns
from vecuq.transport import named_reference

# So many chunks are gathered here before processes are started, which take a second each.
_ALONE = 16
Chunks = Callable[[], Iterable[ScoreTable]]


def fit_stream(
    chunks: Chunks,
    settings: Settings | None = None,
    *,
    n_rows: int | None = None,
    missing: str = "error",
    advance: Callable[[int], None] | None = None,
    n_jobs: int | None = None,
) -> Ranker:
    """Fit a ranker to rows that come in chunks, in memory that does not grow with their number.

    Parameters
    ----------
    chunks
        A function that yields all rows, as score tables, from the start each time it is called. It is called once; a
        second time only where a sketch turns out to be too coarse and a sample must serve.
    settings
        The choices of the method.
    n_rows
        About how many rows there are, if known.
    missing
        ``"error"``, or ``"drop"`` for rows with missing or infinite scores.
    advance
        Called with the number of rows after every chunk.
    n_jobs
        Processes that summarise chunks, as in scikit-learn: None is 1, -1 all cores. The bits do not depend on it.

    Examples
    --------
    >>> import numpy as np
    >>> rows = np.random.default_rng(0).random((3000, 2))
    >>> ranker = fit_stream(lambda: (ScoreTable.of(part) for part in np.split(rows, 3)))
    >>> ranker.diagnostics.n_map
    1500
    """
    return gather_and_fit(
        lambda start: sum_of_chunks(chunks(), start, advance=advance, n_jobs=n_jobs),
        PartialFit(settings=settings, missing=missing, n_rows=n_rows),
    )[0]


def gather_and_fit(gather: Callable[[PartialFit], PartialFit], start: PartialFit) -> tuple[Ranker, PartialFit]:
    """Fit what was gathered from an empty start; gather a sample where a sketch turns out to be too coarse."""
    whole = gather(start)
    try:
        return fit_and_warn(whole), whole
    except ConvergenceError:
        if whole.nodes is None or whole.rest is None:
            raise
    whole = gather(start.for_sample())
    return fit_and_warn(whole), whole


def fit_and_warn(whole: PartialFit) -> Ranker:
    """Fit, and warn if a sample of the rows fits the map."""
    ranker = whole.fit()
    n_sampled = ranker.diagnostics.n_sampled
    if n_sampled is not None:
        warn_user(
            f"These settings allow no sketch of {ranker.diagnostics.n_map:,} rows, so a random sample of "
            f"{n_sampled:,} fits the map. Use fewer columns, a larger epsilon or scaling='featurewise' to use all.",
            CalibrationWarning,
        )
    return ranker


def sum_of_chunks(
    chunks: Iterable[ScoreTable],
    start: PartialFit,
    *,
    advance: Callable[[int], None] | None = None,
    n_jobs: int | None = None,
) -> PartialFit:
    """Gather chunks one by one and add them, the same way whatever the number of processes."""
    total = start
    numbered = _numbered(_looked_at(chunks, start.settings), start)
    for made, n_rows in in_order(_gathered, numbered, n_jobs=resolve_jobs(n_jobs), alone=_ALONE):
        total = total + made
        if advance is not None:
            advance(n_rows)
    if total.columns is None:
        raise TableError("There are no rows to fit.")
    return total


def _numbered(chunks: Iterable[ScoreTable], start: PartialFit) -> Iterator[tuple[PartialFit, ScoreTable, int]]:
    first_row = 0
    for chunk in chunks:
        yield start, replace(chunk, others=None).stated(), first_row
        first_row += len(chunk)


def _gathered(task: tuple[PartialFit, ScoreTable, int]) -> tuple[PartialFit, int]:
    start, chunk, first_row = task
    return start.empty().update(chunk, first_row=first_row), len(chunk)


def _looked_at(chunks: Iterable[ScoreTable], settings: Settings) -> Iterator[ScoreTable]:
    """Yield every chunk; warn of the columns of the first one."""
    stream = iter(chunks)
    for first in stream:
        warn_of_columns(first, directions=not named_reference(settings.reference).signed)
        yield from chain([first], stream)
