"""Which columns of new data are the fitted ones: by name or by position, and all pointing the same way."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from vecuq._check import Array
from vecuq.errors import ColumnError, TableError
from vecuq.table.frames import names_of
from vecuq.table.score_table import ScoreTable


@dataclass(frozen=True)
class Matching:
    """The fitted columns, whether new ones are matched by name, and which are flipped."""

    columns: tuple[str, ...]
    named: bool
    flipped: frozenset[str]

    def values_of(self, data: Any, *, fill: bool = False) -> Array:
        """Return the score columns of ``data``, (rows, columns), in this order and direction.

        With ``fill``, a named column that is not there is missing in every row.
        """
        if isinstance(data, ScoreTable) and (data.columns, data.flipped) == (self.columns, self.flipped):
            return data.values  # matched before
        if type(data) is np.ndarray and data.dtype == float and data.ndim == 2 and not self.flipped:
            return self._by_position(data)  # nothing to convert
        absent = self.absent_from(data) if fill else []
        if absent:
            return self._filled(data, absent)
        if isinstance(data, ScoreTable):
            return self._values_of_table(data)
        if self.named and names_of(data) is not None:
            return ScoreTable.of(data, columns=self.columns, flip=self.flipped).values
        values = self._by_position(ScoreTable.of(data).values)
        return ScoreTable(self.columns, values).flip(self.flipped).values if self.flipped else values

    def absent_from(self, data: Any) -> list[str]:
        """Return the fitted columns that named data lack; none if they lack all, for then something else is wrong."""
        names = data.columns if isinstance(data, ScoreTable) else names_of(data)
        if not self.named or names is None:
            return []
        known = set(map(str, names))
        absent = [name for name in self.columns if name not in known]
        return absent if len(absent) < len(self.columns) else []

    def _filled(self, data: Any, absent: list[str]) -> Array:
        present = tuple(name for name in self.columns if name not in absent)
        found = replace(self, columns=present, flipped=self.flipped & set(present)).values_of(data)
        values = np.full((len(found), len(self.columns)), np.nan)
        values[:, [self.columns.index(name) for name in present]] = found
        return values

    def _by_position(self, values: Array) -> Array:
        if values.shape[1] != len(self.columns):
            raise TableError(
                f"This model was fitted on {len(self.columns)} columns, {list(self.columns)}; got {values.shape[1]}."
            )
        return values

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
        values, ours = self._by_position(table.values), dict(zip(table.columns, self.columns, strict=True))
        return ScoreTable(self.columns, values, flipped=frozenset(ours[name] for name in table.flipped))


def is_named(data: Any) -> bool:
    """Whether all columns of ``data`` have names that are text, by which they can be matched."""
    if isinstance(data, ScoreTable):
        return True
    names = names_of(data)
    return names is not None and all(isinstance(name, str) for name in names)
