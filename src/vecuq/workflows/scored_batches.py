"""How every batch of a table is scored: what is wanted, which columns were matched, what is added to the rows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from vecuq._check import Array, in_range, one_of, wanted_columns, whole_number
from vecuq.conformal import flagged, largest_selected
from vecuq.errors import ColumnError, SettingError
from vecuq.ranker import MISSING_CHOICES, Ranker, Ranking
from vecuq.table import CONTRIBUTION, RESERVED, ScoreTable, is_added
from vecuq.workflows.directions import with_directions
from vecuq.workflows.judging import Judge

if TYPE_CHECKING:
    import pyarrow as pa

# The third choice of Ranker.select, "none", is the column `flagged`.
SELECT = ("bh", "by")


@dataclass(frozen=True)
class Wanted:
    """What is added to every row, what becomes of rows with missing scores, and how the rows are written."""

    alpha: float | None = None
    explain: bool = False
    missing: str = "nan"
    select: str | None = None
    replace: bool = False
    sort: bool = False
    top: int | None = None
    formulas: bool = True
    confidence: float | None = None

    def __post_init__(self) -> None:
        one_of("missing", self.missing, MISSING_CHOICES)
        if self.confidence is not None:
            in_range("confidence", self.confidence, 0.0, 1.0, ends="()")
            if self.alpha is None:
                raise SettingError("confidence needs a rate to be confident of. Give alpha=0.05, for example.")
        if self.alpha is not None:
            in_range("alpha", self.alpha, 0.0, 1.0, ends="()")
        if self.top is not None:
            whole_number("top", self.top, 1)
        if self.select is not None:
            one_of("select", self.select, SELECT)
            if self.alpha is None:
                raise SettingError(
                    f"select={self.select!r} needs a rate. Give alpha=0.1, for example: the share of selected rows "
                    f"that may be wrong."
                )

    def refuse(self, ranker: Ranker) -> None:
        """Raise, before any row is read, for what the model cannot deliver."""
        if self.alpha is not None:
            ranker.flag_rate(self.alpha, confidence=self.confidence)
        if self.missing == "marginal":
            ranker.require_kept_rows()
        if self.explain:
            ranker.baseline  # noqa: B018 - old models keep no medians

    def added(self, ranker: Ranker) -> list[str]:
        """Return the columns that a table gets."""
        names = ["uncertainty", *(["p_value"] if ranker.diagnostics.n_held else [])]
        names += [name for name, wanted in (("flagged", self.alpha), ("selected", self.select)) if wanted is not None]
        return [*names, "why", *(CONTRIBUTION + name for name in ranker.columns)] if self.explain else names


PLAIN = Wanted()


@dataclass(frozen=True)
class BatchScorer:
    """How every batch of one table is scored: its columns were matched once."""

    ranker: Ranker
    wanted: Wanted
    absent: tuple[str, ...]  # score columns that the table lacks
    dropped: tuple[str, ...]  # columns of an earlier scoring
    cutoff: float | None = None  # the largest p-value of a row that is selected, once all rows were seen
    judge: Judge | None = None  # what a gate adds
    n_jobs: int = -1  # threads that a batch is shared among

    @staticmethod
    def of(ranker: Ranker, wanted: Wanted, present: Sequence[str], judge: Judge | None = None) -> BatchScorer:
        """Match the columns of a table with those of the model."""
        absent = tuple(name for name in ranker.columns if name not in present)
        if absent and (wanted.missing != "marginal" or len(absent) == len(ranker.columns)):
            wanted_columns(ranker.columns, present, purpose="needed as score columns")
        ours = {*RESERVED, *wanted.added(ranker)} if not wanted.replace else set()
        if judge is not None:
            judge.refuse(present)
            ours |= set() if wanted.replace else {*judge.added}
        taken = [name for name in present if name in ours]
        if taken:
            raise ColumnError(
                f"The table has columns {taken} already, which scoring adds. Rename or drop them, or replace them with "
                f"replace=True."
            )
        dropped = tuple(filter(is_added, present)) if wanted.replace else ()
        dropped += () if judge is None else judge.hidden
        return BatchScorer(ranker, wanted, absent, dropped, judge=judge)

    def afresh(self) -> BatchScorer:
        """Return the same for other rows: what a gate has seen so far is forgotten."""
        return replace(self, judge=None if self.judge is None else replace(self.judge, seen=[], uncovered=[]))

    def with_cutoff(self, batches: Iterable[pa.RecordBatch]) -> BatchScorer:
        """Find the largest p-value of a row that is selected among all rows of all batches."""
        counts: Counter[float] = Counter()
        n_rows = 0
        for batch in batches:
            p_values = np.asarray(self._rank(self._table_of(batch)).p_values)
            found, times = np.unique(p_values[~np.isnan(p_values)], return_counts=True)
            counts.update(dict(zip(found.tolist(), times.tolist(), strict=True)))
            n_rows += len(batch)
        method = str(self.wanted.select)
        rate = self.ranker.rate_of(self.wanted.alpha, method=method, n_rows=n_rows)
        values = np.array(sorted(counts))
        times = np.array([counts[value] for value in values], dtype=np.intp)
        cutoff = largest_selected(values, times, rate, method)
        if not cutoff:
            self.ranker.warn_none_selected(rate, method=method, n_rows=int(times.sum()))
        return replace(self, cutoff=cutoff)

    def with_limits(self, batches: Iterable[pa.RecordBatch]) -> BatchScorer:
        """Let the gate look at all rows, where it decides one batch: here that is the whole table."""
        if self.judge is None:
            return self
        scored = ((batch, self._rank(table), table.values) for batch in batches for table in [self._table_of(batch)])
        return replace(self, judge=self.judge.with_limits(scored))

    def ranked(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """Return the batch with its scores added; a row without a score has nulls there."""
        table = self._table_of(batch)
        ranking = self._rank(table)
        added, flags = {"uncertainty": _nullable(ranking.uncertainty)}, None
        if ranking.p_values is not None:
            added["p_value"] = _nullable(ranking.p_values)
            if self.wanted.alpha is not None:
                flags = flagged(ranking.p_values, self._rate)
                added["flagged"] = _nullable(flags)
            if self.cutoff is not None:
                added["selected"] = _nullable(ranking.p_values <= self.cutoff)
        if self.judge is not None:
            added |= self.judge.decided(batch, ranking, table.values)
        if self.wanted.explain:
            added |= self._reasons(table, flags)
        batch = batch.drop_columns(list(self.dropped)) if self.dropped else batch
        for name, column in added.items():
            batch = batch.append_column(name, column)
        return with_directions(batch, self.ranker.columns, self.ranker.flipped)

    @cached_property
    def _rate(self) -> float:
        """The p-value up to which rows are flagged."""
        wanted = self.wanted
        return self.ranker.flag_rate(wanted.alpha, confidence=wanted.confidence, missing=wanted.missing)

    def _table_of(self, batch: pa.RecordBatch) -> ScoreTable:
        """Convert a batch, once: into the model's columns and direction; what it lacks is missing."""
        matching = replace(self.ranker.matching, named=True)
        return self.ranker.as_table(matching.values_of(batch, fill=bool(self.absent)))

    def _rank(self, table: ScoreTable) -> Ranking:
        # One count for the whole table, instead of one warning per piece.
        return self.ranker.rank(table, missing=self.wanted.missing, n_jobs=self.n_jobs, warn=False)

    def _reasons(self, table: ScoreTable, flags: NDArray[np.bool_] | None) -> dict[str, Any]:
        """Return the columns that say why: a sentence for flagged rows, and every column's contribution."""
        import pyarrow as pa

        missing = self.wanted.missing
        contributions = self.ranker.explain(table, missing=missing, n_jobs=self.n_jobs)
        chosen = np.ones(len(table), dtype=bool) if flags is None else flags
        sentences = iter(self.ranker.reasons(table.values[chosen], contributions[chosen], missing=missing))
        added = {"why": pa.array([next(sentences) if one else None for one in chosen], type=pa.string())}
        names = enumerate(self.ranker.columns)
        return added | {CONTRIBUTION + name: _nullable(contributions[:, k]) for k, name in names}


def _nullable(values: Array | NDArray[np.bool_]) -> Any:
    import pyarrow as pa

    return pa.array(values, from_pandas=True)
