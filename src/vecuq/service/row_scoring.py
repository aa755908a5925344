"""RowScorer: rows of numbers in, columns of an answer out, for one model and one set of options."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from vecuq._check import Array
from vecuq.decide import Decided, Deciding
from vecuq.errors import SettingError
from vecuq.gate import Gate
from vecuq.ranker import Ranker
from vecuq.service.wire import ID, Options, RowCoder, row_coder, texts_of

# So many scores are computed between two looks at other requests; more go to a thread of their own.
MOST_INLINE = 4_096
_MOST_EXACT = 10  # columns up to which contributions are exact, from 2 ** columns scores per row


@dataclass(frozen=True, eq=False)
class RowScorer:
    """A model, the gate on it if there is one, and what a request asks for; checked once, for many requests."""

    ranker: Ranker
    gate: Gate | None
    options: Options

    def __post_init__(self) -> None:
        options, columns = self.options, self.ranker.columns
        self.deciding.refuse_by([] if options.by is None else [options.by])
        if options.by is not None and options.by in (*columns, self.id_name):
            raise SettingError(f"by names {options.by!r}, which is a score column or the id; name another field.")
        if options.id in columns and options.id != ID:
            raise SettingError(f"id names {options.id!r}, which is a score column; name another field.")

    @cached_property
    def deciding(self) -> Deciding:
        """What decides the rows."""
        return Deciding(self.ranker, self.options, self.gate)

    @property
    def id_name(self) -> str | None:
        """The field with the id; where a score column has the usual name, rows have no ids."""
        return None if self.options.id in self.ranker.columns else self.options.id

    @cached_property
    def coder(self) -> RowCoder:
        """What reads rows from JSON."""
        return row_coder(self.ranker.columns, self.id_name, self.options.by)

    @cached_property
    def _sign(self) -> Array | None:
        columns, flipped = self.ranker.columns, self.ranker.flipped
        return np.where([name in flipped for name in columns], -1.0, 1.0) if flipped else None

    @cached_property
    def scores_per_row(self) -> int:
        """How many scores one row takes."""
        if not self.options.explain:
            return 1
        n = len(self.ranker.active)
        return 1 + (2**n if n <= _MOST_EXACT else 2 * (n + 1))

    def ids_of(self, rows: Sequence[Any]) -> list[str | None]:
        """Return the ids of decoded rows as texts; None where there is none."""
        id_of = self.coder.id_of
        return [None] * len(rows) if id_of is None else texts_of(list(map(id_of, rows)))

    def categories_of(self, rows: Sequence[Any]) -> list[Any] | None:
        """Return the categories of decoded rows, if the gate has any."""
        category_of = self.coder.category_of
        return None if category_of is None else list(map(category_of, rows))

    def values_of(self, rows: Sequence[Any]) -> Array:
        """Return decoded rows as numbers, (rows, columns), as they came."""
        return np.array(list(map(self.coder.cells, rows)), dtype=float)

    def absent_from(self, rows: Sequence[Any]) -> set[int]:
        """Return the places of the columns that every one of the rows leaves out; null is not left out."""
        columns = zip(*map(self.coder.cells, rows), strict=True)
        return {k for k, column in enumerate(columns) if all(cell is not None and cell != cell for cell in column)}  # noqa: PLR0124

    def refuse_absent(self, absent: Collection[int]) -> None:
        """Raise for columns that no row has, unless the others may stand for them."""
        present = [name for k, name in enumerate(self.ranker.columns) if k not in absent]
        self.deciding.absent_from(present, where="The body")

    def decided(self, values: Array, by: Sequence[Any] | None = None) -> Decided:
        """Decide rows as they came; the numbers are those of `vecuq score`, to the bit."""
        return self.deciding.of(values if self._sign is None else values * self._sign, by)
