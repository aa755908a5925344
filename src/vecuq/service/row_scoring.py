"""RowScorer: rows of numbers in, columns of an answer out, for one model and one set of options."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vecuq._check import Array, refuse_incomplete, wanted_columns
from vecuq.conformal import flagged
from vecuq.errors import SettingError
from vecuq.gate import Gate
from vecuq.ranker import Ranker
from vecuq.service.wire import ID, Options, RowCoder, row_coder, texts_of
from vecuq.workflows import Judge, Wanted

# So many scores are computed between two looks at other requests; more go to a thread of their own.
MOST_INLINE = 4_096
_MOST_EXACT = 10  # columns up to which contributions are exact, from 2 ** columns scores per row


@dataclass(frozen=True)
class ScoredColumns:
    """What was found about some rows."""

    uncertainty: Array
    p_value: Array | None
    flagged: NDArray[np.bool_] | None
    accept: NDArray[np.bool_] | None
    p_wrong: Array | None
    why: list[str | None] | None
    contributions: Array | None

    def some(self, which: slice) -> ScoredColumns:
        """Return the same of some rows."""
        found: dict[str, Any] = {name: None if one is None else one[which] for name, one in vars(self).items()}
        return ScoredColumns(**found)


@dataclass(frozen=True, eq=False)
class RowScorer:
    """A model, the gate on it if there is one, and what a request asks for; checked once, for many requests."""

    ranker: Ranker
    gate: Gate | None
    options: Options

    def __post_init__(self) -> None:
        self.wanted.refuse(self.ranker)
        options, columns = self.options, self.ranker.columns
        if self.judge is None and options.by is not None:
            raise SettingError("by is for a gate with categories; this is a model without a gate.")
        if self.judge is not None:
            self.judge.refuse([] if options.by is None else [options.by])
        if options.by is not None and options.by in (*columns, self.id_name):
            raise SettingError(f"by names {options.by!r}, which is a score column or the id; name another field.")
        if options.id in columns and options.id != ID:
            raise SettingError(f"id names {options.id!r}, which is a score column; name another field.")

    @cached_property
    def wanted(self) -> Wanted:
        """The same choices as those of `vecuq score`."""
        asked = self.options
        return Wanted(asked.alpha, asked.explain, asked.missing, replace=asked.replace, confidence=asked.confidence)

    @cached_property
    def judge(self) -> Judge | None:
        """What the gate adds to a table."""
        return None if self.gate is None else Judge(self.gate, self.options.by)

    @property
    def id_name(self) -> str | None:
        """The field with the id; where a score column has the usual name, rows have no ids."""
        return None if self.options.id in self.ranker.columns else self.options.id

    @cached_property
    def coder(self) -> RowCoder:
        """What reads rows from JSON."""
        return row_coder(self.ranker.columns, self.id_name, self.options.by)

    @cached_property
    def by_batch(self) -> bool:
        """Whether the gate decides the rows of one request together, so that requests cannot share a batch."""
        return self.judge is not None and self.judge.needs_all_rows

    @cached_property
    def _sign(self) -> Array | None:
        names = self.ranker.columns
        return (
            np.array([-1.0 if name in self.ranker.flipped else 1.0 for name in names]) if self.ranker.flipped else None
        )

    @cached_property
    def _rate(self) -> float:
        asked = self.options
        return self.ranker.flag_rate(asked.alpha, confidence=asked.confidence, missing=asked.missing)

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

    def refuse(self, rows: Sequence[Any], values: Array) -> None:
        """Raise for a column that no row has, and, if that is wanted, for a missing value."""
        self.refuse_absent(self.absent_from(rows))
        self.refuse_incomplete(values)

    def absent_from(self, rows: Sequence[Any]) -> set[int]:
        """Return the places of the columns that every one of the rows leaves out; null is not left out."""
        columns = zip(*map(self.coder.cells, rows), strict=True)
        return {k for k, column in enumerate(columns) if all(cell is not None and cell != cell for cell in column)}  # noqa: PLR0124

    def refuse_absent(self, absent: Collection[int]) -> None:
        """Raise for columns that no row has, unless the others may stand for them."""
        names = self.ranker.columns
        if absent and (self.options.missing != "marginal" or len(absent) == len(names)):
            present = [name for k, name in enumerate(names) if k not in absent]
            wanted_columns(names, present, purpose="needed as score columns", where="The body")

    def refuse_incomplete(self, values: Array) -> None:
        """Raise for a missing value, if that is wanted."""
        if self.options.missing == "error":
            refuse_incomplete(values, self.ranker.columns)

    def scored(self, values: Array, by: Sequence[Any] | None = None) -> ScoredColumns:
        """Return what is known of rows; the numbers are those of `vecuq score`, to the bit."""
        ranker, asked = self.ranker, self.options
        table = ranker.as_table(values if self._sign is None else values * self._sign)
        ranking = ranker.rank(table, missing=asked.missing, warn=False)
        flags = None if asked.alpha is None or ranking.p_values is None else flagged(ranking.p_values, self._rate)
        accept = p_wrong = why = contributions = None
        if self.gate is not None:
            scores = self.gate.scoring.settled(ranking.uncertainty, table.values, ranking.p_values)
            accept, p_wrong = self.gate.accept_scores(scores, by=by), self.gate.p_wrong_of_scores(scores)
        if asked.explain:
            contributions = ranker.explain(table, missing=asked.missing)
            chosen = np.ones(len(values), dtype=bool) if flags is None else flags
            found = iter(ranker.reasons(table.values[chosen], contributions[chosen], missing=asked.missing))
            why = [next(found) if one else None for one in chosen]
        return ScoredColumns(ranking.uncertainty, ranking.p_values, flags, accept, p_wrong, why, contributions)
