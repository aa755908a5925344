"""Fitting from more rows than memory holds: all chunks twice, or one chunk after the other."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import reduce
from operator import add

import numpy as np
from numpy.typing import NDArray

from vecuq._check import Array, refuse_missing
from vecuq.conformal import MOST_HELD, draw_rows
from vecuq.errors import SettingError, TableError
from vecuq.ranker.fit import fit_map
from vecuq.ranker.ranker import Ranker
from vecuq.ranker.rows import MapRows, held_back_rows
from vecuq.ranker.settings import Settings
from vecuq.ranker.sketches import Ranges, Sketch, in_table_direction, sketch
from vecuq.ranker.solve import MOST_NODES
from vecuq.table import ScoreTable, warn_of_columns
from vecuq.transport import MAX_COLUMNS, Grid, auto_targets, named_reference, nodes_needed

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
    first, low, high, held = _extremes(_split(_looked_at(chunks(), chosen), held_index, total, advance))
    q = stream_nodes(chosen, len(first.columns))
    if q is None:
        raise SettingError(
            f"These settings and {len(first.columns)} columns need all rows at once: streaming wants a full grid, "
            f"featurewise or global scaling, few columns and a smooth kernel. Use fit_ranker."
        )
    ranges = dict(zip(first.columns, zip(*in_table_direction(low, high, first), strict=True), strict=True))
    parts = (table for table, _ in _split(chunks(), held_index, total, advance) if len(table))
    whole = reduce(add, (sketch(table, ranges=ranges, nodes=q) for table in parts))
    return fit_map(MapRows.of_sketch(whole), held, chosen)


def stream_nodes(settings: Settings, n_columns: int) -> int | None:
    """Return how many nodes per column a sketch for these settings needs; None if no sketch will do."""
    if settings.scaling not in ("featurewise", "global") or settings.grid == "authors" or n_columns > MAX_COLUMNS:
        return None
    if settings.solver not in ("auto", "sketch"):
        return None
    reference = named_reference(settings.reference)
    targets = reference.targets(n_columns, auto_targets(n_columns, settings.epsilon))
    if not isinstance(targets, Grid) or not targets.is_full:
        return None
    width = max(float(axis[-1] - axis[0]) for axis in targets.axes)
    evenly = all(np.ptp(np.diff(axis)) < 1e-9 for axis in targets.axes)
    q = nodes_needed(width / settings.epsilon) + (0 if evenly else 3)  # other laws have steeper maps
    return q if q**n_columns <= MOST_NODES else None


def _looked_at(chunks: Iterable[ScoreTable], settings: Settings) -> Iterator[ScoreTable]:
    """Yield every chunk; warn of the columns of the first one."""
    for number, chunk in enumerate(chunks):
        if not number:
            warn_of_columns(chunk, directions=not named_reference(settings.reference).signed)
        yield chunk


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


def _extremes(parts: Iterator[tuple[ScoreTable, Array]]) -> tuple[ScoreTable, Array, Array, Array]:
    """Return a table that shows the columns, the extremes of the map's rows, and the held-back rows."""
    lows, highs, held, shown = [], [], [], None
    for table, aside in parts:
        shown = table
        held.append(aside)
        if len(table):
            lows.append(table.values.min(axis=0))
            highs.append(table.values.max(axis=0))
    if shown is None:
        raise TableError("There are no rows to fit.")
    return shown, np.min(lows, axis=0), np.max(highs, axis=0), np.concatenate(held)


def _held_apart(chunk: ScoreTable, held: NDArray[np.intp]) -> tuple[ScoreTable, Array]:
    """Cut a chunk into its rows for the map and its held-back rows."""
    mapped = np.ones(len(chunk), dtype=bool)
    mapped[held] = False
    return ScoreTable(chunk.columns, chunk.values[mapped], flipped=chunk.flipped), chunk.values[~mapped]


@dataclass(frozen=True, eq=False)
class Gathered:
    """What chunk after chunk leaves behind: a sketch of the map's rows, and the rows held back.

    The map's rows themselves are kept while they are few, for then they may fill little of the given ranges.
    """

    sketch: Sketch
    held: Array
    rows: Array | None

    @property
    def known(self) -> MapRows:
        """What a map can be fitted to."""
        if self.rows is None:
            return MapRows.of_sketch(self.sketch)
        return MapRows.of_rows(ScoreTable(self.sketch.columns, self.rows, flipped=self.sketch.flipped), self.rows)


def gather(before: Gathered | None, chunk: ScoreTable, settings: Settings, *, ranges: Ranges | None = None) -> Gathered:
    """Add a chunk to what was gathered before; the first chunk sets the ranges unless they are given."""
    refuse_missing(chunk.values, chunk.columns)
    n_before, seen = (0, 0) if before is None else (len(before.held), before.sketch.count + len(before.held))
    # The share of all rows so far: a chunk of one row has no half, but every second one is held back.
    wanted = min(int(settings.share * (seen + len(chunk))), MOST_HELD)
    n_held = min(max(wanted - n_before, 0), len(chunk))
    rows, held = _held_apart(chunk, draw_rows(len(chunk), n_held, (settings.random_state or 0) + seen))
    if before is None:
        warn_of_columns(chunk, directions=not named_reference(settings.reference).signed)
        q = stream_nodes(settings, len(chunk.columns))
        if q is None:
            raise SettingError(
                "partial_fit keeps a sketch, and these settings or so many columns need all rows. Use fit."
            )
        return Gathered(sketch(rows, ranges=ranges, nodes=q + 2), held, rows.values)
    old = before.sketch
    if not len(rows):
        return replace(before, held=np.concatenate([before.held, held]))
    box = zip(*in_table_direction(old.box_low, old.box_high, old), strict=True)
    merged = old + sketch(rows, ranges=dict(zip(old.columns, box, strict=True)), nodes=old.nodes)
    kept = None if before.rows is None or merged.count > _FEW else np.concatenate([before.rows, rows.values])
    return Gathered(merged, np.concatenate([before.held, held]), kept)


# As long as there are fewer rows than this, they are fitted themselves.
_FEW = 5_000
