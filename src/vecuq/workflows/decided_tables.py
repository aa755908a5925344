"""Tables through `decide`: batches become numbers, and what was decided becomes columns."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from vecuq._check import Array, wanted_columns
from vecuq.decide import Decided, Deciding, Making, Seen
from vecuq.errors import ColumnError
from vecuq.table import CONTRIBUTION, RESERVED, is_added
from vecuq.workflows.directions import with_directions

if TYPE_CHECKING:
    import pyarrow as pa

Columns = Mapping[str, Any]
_NOTHING: Columns = {}
_ARRAYS = ("uncertainty", "p_value", "flagged", "selected", "accept", "p_wrong")


@dataclass(frozen=True)
class Beside:
    """What a table has beside scores and categories, and what becomes of its rows when they are decided.

    Parameters
    ----------
    making_of
        How the answers of a batch were made.
    hidden
        Columns that are not written.
    needs
        Columns that must be there, and what for.
    record
        Called with every batch and what was decided; returns what holds (a row that came before keeps its decision)
        and further columns.
    adds
        The names of these columns.
    """

    making_of: Callable[[pa.RecordBatch], Making] | None = None
    hidden: tuple[str, ...] = ()
    needs: Mapping[str, str] = field(default_factory=dict)
    record: Callable[[pa.RecordBatch, Decided], tuple[Decided, Columns]] | None = None
    adds: tuple[str, ...] = ()


ALONE = Beside()


@dataclass(frozen=True)
class DecidedTable:
    """How every batch of one table is decided: its columns were matched once."""

    deciding: Deciding
    beside: Beside
    absent: tuple[str, ...]  # score columns that the table lacks
    dropped: tuple[str, ...]  # columns of an earlier scoring, and hidden ones

    @staticmethod
    def of(deciding: Deciding, present: Sequence[str], beside: Beside = ALONE) -> DecidedTable:
        """Match the columns of a table with those of the model."""
        absent = deciding.absent_from(present)
        deciding.refuse_by(present)
        for name, purpose in beside.needs.items():
            wanted_columns([name], present, purpose=purpose)
        replaced = tuple(filter(is_added, present)) if deciding.options.replace else ()
        made = DecidedTable(deciding, beside, absent, (*replaced, *beside.hidden))
        free = {*RESERVED, *made.written}
        _refuse_taken([name for name in present if name in free and name not in replaced])
        return made

    @property
    def written(self) -> list[str]:
        """The names of the added columns, in their order."""
        deciding, refused = self.deciding, ["refused"] if self.says_refused else []
        found = [name for name in deciding.added if name != "why"] + [*self.beside.adds, *refused]
        contributions = [CONTRIBUTION + name for name in deciding.ranker.columns]
        return [*found, "why", *contributions] if deciding.options.explain else found

    def settled(self, batches: Iterable[pa.RecordBatch]) -> DecidedTable:
        """Return how this table is decided when all of its rows were seen."""
        seen = Seen()
        for batch in batches:
            seen += self.deciding.look(*self._rows_of(batch))
        return replace(self, deciding=self.deciding.settle(seen))

    def scored(self, batch: pa.RecordBatch) -> tuple[pa.RecordBatch, Decided]:
        """Return the batch with what was decided in columns, and what that is; a row without a score has nulls."""
        found = self.decide(batch)
        found, more = (found, _NOTHING) if self.beside.record is None else self.beside.record(batch, found)
        return self.with_columns(batch, found, more), found

    def decide(self, batch: pa.RecordBatch) -> Decided:
        """Decide the rows of a batch."""
        return self.deciding.of(*self._rows_of(batch))

    def with_columns(self, batch: pa.RecordBatch, found: Decided, more: Columns = _NOTHING) -> pa.RecordBatch:
        """Return a batch with what was decided, and more, in columns."""
        dropped = [name for name in self.dropped if name in batch.schema.names]  # Dask sends what is needed only
        ranker, kept = self.deciding.ranker, batch.drop_columns(dropped) if dropped else batch
        added = columns_of(found, ranker.columns, more, says_refused=self.says_refused)
        _refuse_taken([name for name in kept.schema.names if name in added])  # only now is it known what is recorded
        for name, column in added.items():
            kept = kept.append_column(name, column)
        return with_directions(kept, ranker.columns, ranker.flipped)

    @property
    def says_refused(self) -> bool:
        """Whether a column says why rows are refused: where it is known how they were made."""
        return self.beside.making_of is not None and self.deciding.gate is not None

    def _rows_of(self, batch: pa.RecordBatch) -> tuple[Array, list[Any] | None, Making | None]:
        """Return values in the model's order and direction (what a batch lacks is missing), categories and making."""
        deciding = self.deciding
        matching = replace(deciding.ranker.matching, named=True)
        values = np.asarray(matching.values_of(batch, fill=bool(self.absent)), dtype=float)
        by, making_of = deciding.options.by, self.beside.making_of
        return values, None if by is None else batch[by].to_pylist(), None if making_of is None else making_of(batch)


def columns_of(
    found: Decided, scores: Sequence[str], more: Columns = _NOTHING, *, says_refused: bool = False
) -> dict[str, pa.Array]:
    """Return what was decided, and more, as columns in the order in which they are written."""
    import pyarrow as pa

    added = {name: getattr(found, name) for name in _ARRAYS} | dict(more)
    columns = {name: pa.array(column, from_pandas=True) for name, column in added.items() if column is not None}
    if says_refused:
        columns["refused"] = pa.array(found.refused, pa.string())
    if found.contributions is not None:
        columns["why"] = pa.array(found.why, pa.string())
        each = zip(scores, found.contributions.T, strict=True)
        columns |= {CONTRIBUTION + name: pa.array(column, from_pandas=True) for name, column in each}
    return columns


def _refuse_taken(taken: Sequence[str]) -> None:
    """Raise for columns that a table has already."""
    if taken:
        raise ColumnError(
            f"The table has columns {taken} already, which scoring adds. Rename or drop them, or replace them with "
            f"replace=True."
        )
