"""Subject: new rows, the model that ranked them, and what was decided about each; computed once for all parts."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from vecuq._check import Array, finite_rows
from vecuq._draw import shortened
from vecuq.decide import Decided, Deciding
from vecuq.errors import TableError
from vecuq.gate import EVERYTHING, Gate
from vecuq.options import ScoreOptions
from vecuq.ranker import Ranker, Ranking, as_ranker
from vecuq.report.beside import Beside
from vecuq.report.encoded import encoded

if TYPE_CHECKING:
    import pyarrow as pa

Mask = NDArray[np.bool_]
# What takes long looks at a seeded draw of so many rows.
ENOUGH_ROWS = 50_000


@dataclass(frozen=True, eq=False)
class Decision:
    """What a gate says of every row."""

    gate: Gate
    scores: Array  # by which it decides; NaN where there is none, or where the guard deferred
    accepted: Mask
    p_wrong: Array


@dataclass(frozen=True, eq=False)
class Subject:
    """What a report is about."""

    ranker: Ranker
    table: pa.Table
    ranking: Ranking
    beside: Beside

    @staticmethod
    def of(ranker: Ranker, table: pa.Table, ranking: Ranking, beside: Beside) -> Subject:
        """Check that the parts belong together."""
        if not hasattr(table, "schema") or not hasattr(table, "column_names"):
            raise TableError(
                f"A report takes new rows as a pyarrow.Table; got {type(table).__name__}. Of a pandas frame make one "
                f"by pyarrow.Table.from_pandas(frame), of a polars frame by frame.to_arrow()."
            )
        if len(table) != len(ranking.uncertainty):
            raise TableError(
                f"The table has {len(table):,} rows and the ranking {len(ranking.uncertainty):,}. "
                f"Give the table that was ranked."
            )
        _check_beside(table, beside)
        return Subject(as_ranker(ranker), table, ranking, beside)

    @property
    def uncertainty(self) -> Array:
        """One number per row; NaN for a row without a score."""
        return self.ranking.uncertainty

    @cached_property
    def values(self) -> Array:
        """The scores, (rows, columns), in the direction in which higher is more uncertain."""
        return self.ranker.values_of(self.table)

    @cached_property
    def scored(self) -> Mask:
        """Which rows have a score."""
        return np.isfinite(self.uncertainty)

    @cached_property
    def missing(self) -> str:
        """How rows with missing values were scored: ``"marginal"`` where some have a score, else ``"nan"``."""
        return "marginal" if bool((self.scored & ~finite_rows(self.values)).any()) else "nan"

    @property
    def n_rows(self) -> int:
        """How many rows there are."""
        return len(self.uncertainty)

    @cached_property
    def n_scored(self) -> int:
        """How many rows have a score."""
        return int(self.scored.sum())

    @property
    def has_held(self) -> bool:
        """Whether rows were held back, so that there are p-values and a false-alarm rate."""
        return bool(self.ranker.diagnostics.n_held)

    @property
    def rate(self) -> float:
        """The p-value up to which rows are flagged: the alpha of the settings, or the smallest that can be had."""
        return max(float(self.ranker.settings.alpha), 1.0 / (self.ranker.held.count + 1.0))

    @cached_property
    def threshold(self) -> float:
        """The uncertainty above which rows are flagged."""
        return self.ranker.threshold()

    @cached_property
    def flagged(self) -> Mask:
        """Which rows that have a score are flagged."""
        if self.decided.flagged is None:
            return np.asarray(self.scored & (np.nan_to_num(self.uncertainty) > self.threshold))
        return self.scored & self.decided.flagged

    @cached_property
    def deciding(self) -> Deciding:
        """What decides the rows, as ``vecuq score`` does."""
        gate = self.beside.gate
        by = self.beside.by if gate is not None and gate.learned_.units != EVERYTHING else None
        asked = ScoreOptions(alpha=self.rate if self.has_held else None, missing=self.missing, by=by)
        return Deciding(self.ranker, asked, gate)

    @cached_property
    def decided(self) -> Decided:
        """What is known of every row."""
        by = None if self.deciding.options.by is None else self.categories
        return self.deciding.ranked(self.ranking, self.values, by)

    @cached_property
    def decision(self) -> Decision | None:
        """What the gate says; None without one."""
        gate, found = self.beside.gate, self.decided
        if gate is None or found.facts is None:
            return None
        return Decision(gate, found.facts.scores, np.asarray(found.accept), np.asarray(found.p_wrong))

    @cached_property
    def chosen(self) -> Mask:
        """Which rows call for a look: those that the gate does not accept, or else those flagged; all have a score."""
        return self.flagged if self.decision is None else np.asarray(self.scored & ~self.decision.accepted)

    @cached_property
    def categories(self) -> list[Any] | None:
        """The category of every row; None where no column names them."""
        return None if self.beside.by is None else self.table[self.beside.by].to_pylist()

    @cached_property
    def groups(self) -> NDArray[np.int64] | None:
        """The group of every row as a number; None where rows do not come together."""
        return None if self.beside.group is None else encoded(self.table[self.beside.group])[1]

    def label(self, name: str) -> Array | None:
        """Return the labels of one name as floats, NaN where unknown; None where nobody gave them."""
        found = self.beside.labels.get(name)
        return None if found is None else np.asarray(found, dtype=float)

    def drawn(self, rows: NDArray[np.intp], most: int = ENOUGH_ROWS) -> NDArray[np.intp]:
        """Return row numbers, or a seeded draw of so many, in their order."""
        if len(rows) <= most:
            return rows
        return np.sort(np.random.default_rng(0).choice(rows, most, replace=False))


def _check_beside(table: pa.Table, beside: Beside) -> None:
    """Raise if labels are not one per row, or if a column that is named is not there."""
    for name, label in beside.labels.items():
        if len(label) != len(table):
            raise TableError(
                f"The labels {name!r} are {len(label):,}, and there are {len(table):,} rows. Give one each."
            )
    absent = [name for name in beside.named_columns if name not in table.column_names]
    if absent:
        raise TableError(
            f"The table of new rows has no column {absent[0]!r}; it has {shortened(table.column_names, 300)}."
        )
