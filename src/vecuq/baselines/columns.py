"""Which columns a combiner was fitted on, and how new rows are matched with them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from vecuq._check import Array
from vecuq.errors import ColumnError, TableError
from vecuq.table import ScoreTable

__all__ = ["FittedColumns", "is_named"]


@dataclass(frozen=True)
class FittedColumns:
    """Names and directions of the calibration columns; new rows are matched by name, or by position."""

    columns: tuple[str, ...]
    flipped: frozenset[str]
    named: bool

    def values_of(self, data: Any) -> Array:
        """Return the score columns of ``data``, (rows, columns), in the order and direction of the calibration."""
        if isinstance(data, ScoreTable):
            return self._values_of_table(data)
        if self.named and is_named(data):
            return ScoreTable.of(data, columns=self.columns, flip=self.flipped).values
        values = self._by_position(ScoreTable.of(data))
        return ScoreTable(self.columns, values).flip(self.flipped).values

    def _values_of_table(self, table: ScoreTable) -> Array:
        chosen = table.select(self.columns) if self.named else self._renamed(table)
        if chosen.flipped != self.flipped:
            wrong = sorted(chosen.flipped ^ self.flipped)
            raise ColumnError(
                f"The direction of {wrong} differs between calibration (flipped: {sorted(self.flipped)}) and these "
                f"rows (flipped: {sorted(chosen.flipped)}). Flip the same columns in both."
            )
        return chosen.values

    def _renamed(self, table: ScoreTable) -> ScoreTable:
        values, ours = self._by_position(table), dict(zip(table.columns, self.columns, strict=True))
        return ScoreTable(self.columns, values, flipped=frozenset(ours[name] for name in table.flipped))

    def _by_position(self, table: ScoreTable) -> Array:
        if len(table.columns) != len(self.columns):
            raise TableError(
                f"This combiner was fitted on {len(self.columns)} columns, {list(self.columns)}; "
                f"got {len(table.columns)}."
            )
        return table.values


def is_named(data: Any) -> bool:
    """Whether the columns of ``data`` have names."""
    if isinstance(data, ScoreTable) or type(data) is dict:
        return True
    # Asked of the type first: a lazy frame warns when it is asked itself, and is refused later.
    known = [name for name in ("column_names", "columns") if hasattr(type(data), name)]
    return bool(known) and all(isinstance(name, str) for name in getattr(data, known[0]))
