"""What a gate adds to every batch of a table: which rows are accepted, and how probably each is wrong."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from vecuq._check import Array, wanted_columns
from vecuq.errors import SettingError
from vecuq.gate import EVERYTHING, Gate, accepted_below, warn_unlike
from vecuq.ranker import Ranking

if TYPE_CHECKING:
    import pyarrow as pa


# So many rows are compared with the labelled ones: more would find differences that do not matter.
_COMPARED = 20_000


@dataclass(frozen=True)
class Judge:
    """A gate on its walk through a table, whose categories, if it has any, are in one column."""

    gate: Gate
    by: str | None = None
    limits: Array | None = None  # up to which score each unit accepts; None until a batch gate has seen all rows
    seen: list[Array] = field(default_factory=list)  # scores of the first rows, to compare with the labelled ones
    covers: Callable[[pa.RecordBatch], NDArray[np.bool_]] | None = None  # rows that the certificate is about; else all
    hidden: tuple[str, ...] = ()  # columns that `covers` looks at and nobody else
    uncovered: list[int] = field(default_factory=list)  # how many rows of each batch were not accepted for that

    added: ClassVar[tuple[str, ...]] = ("accept", "p_wrong")

    def refuse(self, present: Sequence[str]) -> None:
        """Raise, before any row is read, if the gate needs a column of categories that is not named, or not there."""
        has_units = self.gate.learned_.units != EVERYTHING
        if has_units and self.by is None:
            raise SettingError("This gate has a certificate per category; name the column of categories with by=.")
        if not has_units and self.by is not None:
            raise SettingError("This gate was fitted without categories; leave by= out.")
        if self.by is not None:
            wanted_columns([self.by], present, purpose="named as by")

    @property
    def needs_all_rows(self) -> bool:
        """Whether the gate decides a batch, so that all rows must be seen before any is decided."""
        return not self.gate.learned_.decider.by_threshold

    def with_limits(self, scored: Iterable[tuple[pa.RecordBatch, Ranking, Array]]) -> Judge:
        """Return the judge that knows up to which score each unit of this table accepts."""
        parts = [
            (np.where(self._covered(batch), self._scores(ranking, values), np.nan), self._units(batch))
            for batch, ranking, values in scored
        ]
        scores, units = (np.concatenate([part[k] for part in parts]) for k in (0, 1))
        return replace(self, limits=self.gate.learned_.decider.limits(scores, units))

    def decided(self, batch: pa.RecordBatch, ranking: Ranking, values: Array) -> dict[str, Any]:
        """Return the columns that the gate adds to a batch."""
        import pyarrow as pa

        scores, units = self._scores(ranking, values), self._units(batch)
        covered = self._covered(batch)
        known = np.where(covered, scores, np.nan)
        limits = self.gate.learned_.decider.limits(known, units) if self.limits is None else self.limits
        accepted = accepted_below(known, units, limits)
        self.uncovered.append(int((~covered).sum()))
        if not self.has_seen_enough:
            self.seen.append(scores[covered])
        p_wrong = self.gate.p_wrong_of_scores(scores)
        return {"accept": pa.array(accepted), "p_wrong": pa.array(p_wrong, from_pandas=True)}

    @property
    def has_seen_enough(self) -> bool:
        """Whether more rows would not be compared with the labelled ones."""
        return sum(map(len, self.seen)) >= _COMPARED

    def warn_unlike(self) -> None:
        """Warn if the rows that were decided do not look like the labelled ones."""
        if self.seen:
            warn_unlike(self.gate.learned_, np.concatenate(self.seen))

    def _covered(self, batch: pa.RecordBatch) -> NDArray[np.bool_]:
        return np.ones(len(batch), dtype=bool) if self.covers is None else self.covers(batch)

    def _scores(self, ranking: Ranking, values: Array) -> Array:
        return self.gate.scoring.settled(ranking.uncertainty, values, ranking.p_values)

    def _units(self, batch: pa.RecordBatch) -> NDArray[np.intp]:
        by = None if self.by is None else batch[self.by].to_pylist()
        return self.gate.units_of(by, len(batch))
