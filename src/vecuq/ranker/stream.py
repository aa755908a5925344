"""Fitting from more rows than memory holds: all chunks twice, or one chunk after the other."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from vecuq._check import Array, refuse_missing
from vecuq.errors import TableError
from vecuq.ranker.fit import MapRows, fit_map, held_back_rows
from vecuq.ranker.ranker import Ranker
from vecuq.ranker.settings import Settings
from vecuq.ranker.sketch import Ranges, Sketch, sketch
from vecuq.table import ScoreTable
from vecuq.transport import nodes_needed

__all__ = ["Gathered", "fit_stream", "gather"]

Chunks = Callable[[], Iterable[ScoreTable]]


def fit_stream(
    chunks: Chunks,
    settings: Settings | None = None,
    *,
    n_rows: int | None = None,
    advance: Callable[[int], None] | None = None,
) -> Ranker:
    """Fit a ranker to rows that come in chunks, in memory that does not grow with their number.

    Parameters
    ----------
    chunks
        A function that yields all rows, as score tables, from the start each time it is called. It is called twice, or
        three times when ``n_rows`` is not given.
    settings
        The choices of the method; the reference must be a grid and the scaling not ``"quantile"``.
    n_rows
        The number of rows, if known.
    advance
        Called with the number of rows after every chunk.

    Examples
    --------
    >>> import numpy as np
    >>> rows = np.random.default_rng(0).random((3000, 2))
    >>> ranker = fit_stream(lambda: (ScoreTable.of(part) for part in np.split(rows, 3)))
    >>> ranker.diagnostics.n_map
    1500
    """
    chosen = settings or Settings()
    total = sum(len(chunk) for chunk in chunks()) if n_rows is None else n_rows
    held_index = held_back_rows(total, chosen)
    low, high, held, columns = _extremes(_split(chunks(), held_index, total, advance))
    ranges = dict(zip(columns, zip(low, high, strict=True), strict=True))
    q = nodes_needed(1.0 / chosen.epsilon) + 2
    whole: Sketch | None = None
    for table, _ in _split(chunks(), held_index, total, advance):
        part = sketch(table, ranges=ranges, nodes=q) if len(table) else None
        whole = part if whole is None else whole if part is None else whole + part
    if whole is None:
        raise TableError("There are no rows to fit.")
    return fit_map(MapRows.of_sketch(whole), held, chosen)


def _split(
    chunks: Iterable[ScoreTable], held_index: NDArray[np.intp], total: int, advance: Callable[[int], None] | None
) -> Iterator[tuple[ScoreTable, Array]]:
    """Yield each chunk's rows for the map, and its held-back rows."""
    start = 0
    for chunk in chunks:
        refuse_missing(chunk.values, chunk.columns, first_row=start)
        bounds = np.searchsorted(held_index, [start, start + len(chunk)])
        yield _held_apart(chunk, held_index[bounds[0] : bounds[1]] - start)
        start += len(chunk)
        if advance is not None:
            advance(len(chunk))
    if start != total:
        raise TableError(f"{total:,} rows were announced, {start:,} came. The source changed while it was read.")


def _extremes(parts: Iterator[tuple[ScoreTable, Array]]) -> tuple[Array, Array, Array, tuple[str, ...]]:
    lows, highs, held = [], [], []
    columns: tuple[str, ...] = ()
    for table, aside in parts:
        columns = table.columns
        held.append(aside)
        if len(table):
            lows.append(table.values.min(axis=0))
            highs.append(table.values.max(axis=0))
    return np.min(lows, axis=0), np.max(highs, axis=0), np.concatenate(held), columns


def _held_apart(chunk: ScoreTable, held: NDArray[np.intp]) -> tuple[ScoreTable, Array]:
    """Cut a chunk into its rows for the map and its held-back rows."""
    mapped = np.ones(len(chunk), dtype=bool)
    mapped[held] = False
    return ScoreTable(chunk.columns, chunk.values[mapped], flipped=chunk.flipped), chunk.values[~mapped]


@dataclass(frozen=True, eq=False)
class Gathered:
    """What chunk after chunk leaves behind: a sketch of the map's rows, and the rows held back."""

    sketch: Sketch
    held: Array


def gather(before: Gathered | None, chunk: ScoreTable, settings: Settings, *, ranges: Ranges | None = None) -> Gathered:
    """Add a chunk to what was gathered before; the first chunk sets the ranges unless they are given."""
    refuse_missing(chunk.values, chunk.columns)
    seen = 0 if before is None else before.sketch.count + len(before.held)
    seed = (settings.random_state or 0) + seen  # another draw for every chunk
    rows, held = _held_apart(chunk, held_back_rows(len(chunk), replace(settings, random_state=seed)))
    if before is None:
        # The ranges may be twice as wide as what was seen so far: more nodes than a full pass needs.
        return Gathered(sketch(rows, ranges=ranges, nodes=nodes_needed(2.0 / settings.epsilon)), held)
    box = zip(before.sketch.box_low, before.sketch.box_high, strict=True)
    added = sketch(rows, ranges=dict(zip(chunk.columns, box, strict=True)), nodes=before.sketch.nodes)
    return Gathered(before.sketch + added, np.concatenate([before.held, held]))
