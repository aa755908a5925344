"""PartialFit: what one part of the calibration rows leaves behind; parts add up, in any order, on any machine."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from copy import copy
from dataclasses import replace
from typing import Any

import numpy as np

from vecuq._check import Array, finite_rows, one_of, refuse_missing, warn_user, whole_number
from vecuq._files import Source, tensor_bytes, write_tensors
from vecuq.conformal import MOST_HELD
from vecuq.errors import CalibrationError, CalibrationWarning, ColumnError, SettingError, TableError
from vecuq.ranker.describe import direction_of
from vecuq.ranker.fit import fit_map
from vecuq.ranker.forecast import Progress
from vecuq.ranker.hashed_rows import HashedRows, below
from vecuq.ranker.ranker import Ranker
from vecuq.ranker.rows import MapRows
from vecuq.ranker.sampled import Sampled
from vecuq.ranker.settings import Settings
from vecuq.ranker.sketches import Ranges, Sketch, box_of, sketch_values
from vecuq.ranker.stream_nodes import stream_nodes
from vecuq.table import Hashes, ScoreTable, id_hashes, place_hashes, warn_of_columns
from vecuq.transport import named_reference

# Up to here all rows are kept and fitted themselves.
FEW = 5_000
# How many more standard deviations of a count than could ever happen.
_SURELY = 10.0
PARTIAL_MISSING = ("error", "drop")


class PartialFit:
    """What calibration rows leave behind: counts, ranges, the rows held back, and a sketch or sample of the others.

    Parts of a table are summarised apart, on several machines, and added: ``sum(parts).fit()``. Which rows are held
    back depends on a hash of each row's id or place alone, so counts, ranges and held-back rows are the same in any
    order, and moments to 1e-12; added in the same order, to the bit.

    Parameters
    ----------
    columns
        Names of the score columns; None takes those of the first batch.
    settings
        The choices of the method. Where these allow no sketch (many columns, quantile scaling, a small epsilon), a
        random sample of 100,000 rows fits the map, and the diagnostics say so.
    flip
        Columns in which higher means more confident, as in :meth:`vecuq.ScoreTable.of`.
    ranges
        Smallest and largest value per column, before any flip, if known. They need not hold all rows; ranges twice as
        wide as the rows make a sketch too coarse.
    missing
        ``"error"``, or ``"drop"`` for rows with missing or infinite scores.
    part
        The number of this part, where rows are known by their place: parts that are added need different ones, or
        rows that are numbered through all parts (``first_row``).
    n_rows
        About how many rows all parts have, if known: then a part keeps fewer rows on its way.

    Attributes
    ----------
    count
        How many rows are in it.
    n_dropped
        How many incomplete rows were dropped.

    Examples
    --------
    >>> rows = np.random.default_rng(0).gamma(1.0, size=(3000, 2))
    >>> parts = [PartialFit(part=k).update(some) for k, some in enumerate(np.split(rows, 3))]
    >>> sum(parts).fit().diagnostics.n_held
    1500
    """

    def __init__(
        self,
        columns: Sequence[str] | None = None,
        settings: Settings | None = None,
        *,
        flip: Iterable[str] | None = None,
        ranges: Ranges | None = None,
        missing: str = "error",
        part: int = 0,
        n_rows: int | None = None,
    ) -> None:
        one_of("missing", missing, PARTIAL_MISSING)
        self.settings = settings or Settings()
        self.columns = None if columns is None else tuple(columns)
        self.flipped: frozenset[str] | None = None
        self.missing, self.part = missing, whole_number("part", part, 0)
        self.n_seen = self.n_dropped = 0
        self.held_by: str | None = None
        self.flip = None if flip is None else tuple(flip)
        self.ranges = ranges
        # Below which hash a row may be held back.
        self.cut = _cut(self.settings.share, n_rows)
        # All rows while they are few; then those that are held back, and the others in a sketch or a sample.
        self.few = n_rows is None or n_rows <= FEW
        self.sample_only = False
        self.rows: HashedRows | None = None
        self.rest: Sketch | Sampled | None = None

    @property
    def count(self) -> int:
        """How many rows are in it."""
        return self.n_held_or_kept + (0 if self.rest is None else self.rest.count)

    @property
    def n_held_or_kept(self) -> int:
        """How many rows it keeps by themselves: all while they are few, then those held back."""
        return 0 if self.rows is None else len(self.rows)

    def update(self, batch: Any, *, ids: Any = None, first_row: int | None = None) -> PartialFit:
        """Add rows, and return itself.

        Parameters
        ----------
        batch
            Anything a :class:`vecuq.ScoreTable` can be made of.
        ids
            One whole number or text per row, all different: which rows are held back then depends on these alone.
        first_row
            Where rows are known by their place: the number of the first one. By default one after the last.
        """
        table = self._table_of(batch)
        start = self.n_seen if first_row is None else whole_number("first_row", first_row, 0)
        hashes = self._hashes(len(table), ids, start)
        values = np.asarray(table.values, dtype=float)
        if self.missing == "error":
            refuse_missing(values, table.columns, first_row=start, hint="missing='drop' drops them.")
        self.held_by = "place" if ids is None else "id"
        if self.missing == "drop":
            complete = finite_rows(values)
            self.n_dropped += int((~complete).sum())
            if not complete.all():
                values, hashes = values[complete], hashes[complete]
        self.n_seen = start + len(table)
        if len(values):
            self._take(hashes, values)
        return self

    def __add__(self, other: PartialFit) -> PartialFit:
        """Return what the rows of both leave behind."""
        if not isinstance(other, PartialFit):
            return NotImplemented
        self._must_match(other)
        made = copy(self if self.columns is not None else other)
        made.flipped = other.flipped if self.flipped is None else self.flipped
        made.held_by = self.held_by or other.held_by
        made.n_seen, made.n_dropped = max(self.n_seen, other.n_seen), self.n_dropped + other.n_dropped
        made.cut, made.few = min(self.cut, other.cut), self.few and other.few
        made.rows, made.rest = _both(self.rows, other.rows), _both(self.rest, other.rest)
        made._settle()
        return made

    def __radd__(self, other: Any) -> PartialFit:
        """Start a ``sum()``."""
        return self if other == 0 else NotImplemented

    def fit(self, settings: Settings | None = None, *, named: bool = True, progress: Progress | None = None) -> Ranker:
        """Fit a ranker, by default with the settings that the rows were gathered for.

        Other settings need the same ``random_state``, the same ``holdback`` once there are more than 5,000 rows, and no
        more nodes than the sketch has.
        """
        chosen = self._fitting_settings(settings)
        known, held = self._split(chosen.share)
        self._warn_of_few_held(len(held), chosen.share)
        ranker = fit_map(known, held, chosen, named=named, progress=progress)
        return replace(ranker, diagnostics=replace(ranker.diagnostics, held_by=self.held_by or "draw"))

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write it to one file, whole or not at all; :func:`vecuq.load` reads it."""
        from vecuq.ranker.partial_file import partial_parts

        write_tensors(path, *partial_parts(self))

    def to_bytes(self) -> bytes:
        """Return what :meth:`save` would write."""
        from vecuq.ranker.partial_file import partial_parts

        return tensor_bytes(*partial_parts(self))

    @staticmethod
    def from_bytes(source: Source) -> PartialFit:
        """Read what :meth:`to_bytes` or :meth:`save` gave; :func:`vecuq.load` does the same."""
        from vecuq.ranker.partial_file import load_partial

        return load_partial(source)

    def describe(self) -> dict[str, Any]:
        """Return columns, rows and what is kept of them as plain values."""
        columns = [
            {"name": name, "direction": direction_of(name, self.flipped or frozenset())} for name in self.columns or ()
        ]
        kept = "all rows" if self.few else "a sketch" if isinstance(self.rest, Sketch) else "a sample"
        rows = {"all": self.count, "kept": self.n_held_or_kept, "dropped": self.n_dropped}
        return {"columns": columns, "rows": rows, "keeps": kept, "settings": self.settings.to_dict()}

    def __repr__(self) -> str:
        return f"PartialFit({self.count:,} rows of {', '.join(self.columns or ('no columns yet',))})"

    def empty(self) -> PartialFit:
        """Return one that gathers rows in the same way and has none."""
        made = copy(self)
        made.n_seen = made.n_dropped = 0
        made.held_by = made.rows = made.rest = None
        return made

    def for_sample(self) -> PartialFit:
        """Return one without rows that keeps a sample of them even where a sketch would do."""
        made = self.empty()
        made.sample_only = True
        return made

    @property
    def nodes(self) -> int | None:
        """Nodes per column of the sketch; None where a sample serves instead, or no column is known yet."""
        if self.columns is None or self.sample_only:
            return None
        found = stream_nodes(self.settings, len(self.columns))
        # Given ranges may be wider than the rows, which takes more nodes.
        return found if found is None or self.ranges is None else found + 2

    def _table_of(self, batch: Any) -> ScoreTable:
        """Return the score columns of a batch; the first one says which these are, and is looked at."""
        if isinstance(batch, ScoreTable):
            table = batch if self.columns is None else batch.select(self.columns)
        else:
            table = ScoreTable.of(batch, columns=self.columns, flip=self.flip)
        if self.flipped is None:
            self.columns, self.flipped = table.columns, table.flipped
            if len(table):
                warn_of_columns(table, directions=not named_reference(self.settings.reference).signed)
        elif table.flipped != self.flipped:
            raise ColumnError(
                f"The direction of {sorted(table.flipped ^ self.flipped)} differs between batches. Flip the same "
                f"columns in all."
            )
        return table

    def _hashes(self, n_rows: int, ids: Any, first_row: int) -> Hashes:
        """Return the hash of every row, by id or by place, but not now one and now the other."""
        by = "place" if ids is None else "id"
        if self.held_by not in (None, by):
            raise SettingError("Some batches came with ids and some without. Give ids to all of them, or to none.")
        seed = self.settings.random_state or 0
        if ids is None:
            return place_hashes(n_rows, first_row=first_row, part=self.part, seed=seed)
        found = id_hashes(ids, seed=seed)
        if len(found) != n_rows:
            raise TableError(f"ids needs one value per row, {n_rows:,} in all; got {len(found):,}.")
        return found

    def _take(self, hashes: Hashes, values: Array) -> None:
        """Put rows where they belong."""
        if self.few and self.count + len(values) <= FEW:
            self.rows = _both(self.rows, HashedRows.of(hashes, values))
            self._settle()
            return
        self.few = False
        bound = self.cut
        if self.rows is not None and len(self.rows) >= MOST_HELD:  # only a smaller hash has a place there now
            bound = min(bound, int(self.rows.hashes[-1]) + 1)
        inside = below(hashes, bound)
        self.rows = _both(self.rows, HashedRows.of(hashes[inside], values[inside]))
        self._settle()
        self._pour(hashes[~inside], values[~inside])

    def _settle(self) -> None:
        """Keep all rows while they are few; otherwise pour those that are not held back into the rest."""
        if self.held_by == "place" and self.rows is not None and self.rows.repeated:
            raise SettingError(
                "Two rows have the same place: a part was added twice, or two parts have the same number. Give every "
                "part a number of its own (part=1, part=2 ...), or number the rows through all parts (first_row=)."
            )
        self.few = self.few and self.count <= FEW
        if self.few or self.rows is None:
            return
        self.rows, others = self.rows.cut(min(self.rows.below(self.cut), MOST_HELD))
        self._pour(others.hashes, others.values)

    def _pour(self, hashes: Hashes, values: Array) -> None:
        """Add rows of the map to the sketch or the sample."""
        if not len(values):
            return
        table = self.table(values)
        more: Sketch | Sampled
        if self.nodes is None:
            more = Sampled.of(HashedRows.of(hashes, values))
        else:
            box = None if self.ranges is None else box_of(self.ranges, table)
            if isinstance(self.rest, Sketch):
                box = self.rest.box_low, self.rest.box_high
            more = sketch_values(table, self.nodes, box)
        self.rest = _both(self.rest, more)

    def table(self, values: Array) -> ScoreTable:
        """Return values in the direction of the columns as a table."""
        return ScoreTable(self.columns or (), values, flipped=self.flipped or frozenset())

    def _warn_of_few_held(self, n_held: int, share: float) -> None:
        """Warn where far fewer rows are held back than should be: ids come twice, or `n_rows` was far too large."""
        wanted = min(int(share * self.count), self.count - 2, MOST_HELD)
        if n_held < wanted / 2:
            warn_user(
                f"Only {n_held:,} of {self.count:,} rows are held back for p-values, instead of about {wanted:,}: ids "
                f"come more than once, or n_rows was given much too large. Gather the rows again without.",
                CalibrationWarning,
            )

    def _split(self, share: float) -> tuple[MapRows, Array]:
        """Return what is known of the map's rows, and the rows held back."""
        if self.rows is None or self.count < 2:
            raise CalibrationError(
                f"At least two calibration rows are needed; got n_samples = {self.count}. Hundreds make good p-values."
            )
        if self.rest is None:
            n_held = min(int(share * self.count), self.count - 2, MOST_HELD)
            held, mapped = self.rows.cut(n_held)
            return MapRows.of_rows(self.table(mapped.values), mapped.values), held.values
        if isinstance(self.rest, Sketch):
            return MapRows.of_sketch(self.rest), self.rows.values
        return MapRows.of_sample(self.rest, self.table(self.rows.values)), self.rows.values

    def _fitting_settings(self, settings: Settings | None) -> Settings:
        if settings is None:
            return self.settings
        same_seed = (settings.random_state or 0) == (self.settings.random_state or 0)
        # While all rows are kept, any share of them can be held back.
        if not same_seed or (settings.share != self.settings.share and self.rest is not None):
            raise SettingError("The rows were gathered with another holdback or random_state. Gather them again.")
        if isinstance(self.rest, Sketch):
            needed = stream_nodes(settings, len(self.rest.columns))
            if needed is None or needed > self.rest.nodes:
                raise SettingError(
                    "The rows were gathered in a sketch too small for these settings. Gather them again."
                )
        return settings

    def _must_match(self, other: PartialFit) -> None:
        """Raise if two parts were not gathered alike."""
        if None not in (self.columns, other.columns) and self.columns != other.columns:
            raise ColumnError(
                f"Only parts of the same columns add up: {list(self.columns or ())} and {list(other.columns or ())}."
            )
        if None not in (self.flipped, other.flipped) and self.flipped != other.flipped:
            raise ColumnError("Only parts with the same columns flipped add up.")
        if None not in (self.held_by, other.held_by) and self.held_by != other.held_by:
            raise SettingError("Only parts add up that both know their rows by id, or both by place.")
        if self.sample_only != other.sample_only:
            raise SettingError("Only parts add up that both keep a sketch, or both a sample.")
        if self.settings.to_dict() != other.settings.to_dict():
            raise SettingError("Only parts that were gathered with the same settings add up.")


def _cut(share: float, n_rows: int | None) -> int:
    """Return below which hash a row may be held back."""
    cut = int(share * 2.0**64)
    if n_rows is None or share * n_rows <= MOST_HELD:
        return cut
    enough = MOST_HELD + _SURELY * np.sqrt(MOST_HELD)
    return min(cut, int(enough / n_rows * 2.0**64))


def _both(one: Any, other: Any) -> Any:
    """Return the sum of two that may be None."""
    if one is None or other is None:
        return other if one is None else one
    return one + other
