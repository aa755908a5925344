"""What scoring came to: rows, rows without a score, flagged, selected and accepted ones; and what is warned of."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from vecuq._check import Array, warn_user
from vecuq.decide import Decided, Deciding
from vecuq.errors import MissingValueWarning
from vecuq.gate import warn_unlike
from vecuq.workflows.watch import Watch

if TYPE_CHECKING:
    import pyarrow as pa

# So many rows are compared with the labelled ones: more would find differences that do not matter.
_COMPARED = 20_000


@dataclass(frozen=True)
class Scored:
    """A ranked table on disk: how many rows were scored, and how many of them are what."""

    n_rows: int
    n_missing: int  # rows without a score; the column `flagged` is true for them, and `top` leaves them out
    n_flagged: int | None  # rows that are flagged for their p-value
    n_selected: int | None = None
    n_written: int | None = None  # rows in the table, if only the most uncertain are
    n_accepted: int | None = None  # rows that a gate accepts
    n_uncovered: int | None = None  # answers that are not accepted for another number of samples, if there are any

    def to_dict(self) -> dict[str, int | None]:
        """Return the counts by name; those of selected and written rows only where they say something."""
        optional = ("n_selected", "n_written", "n_accepted", "n_uncovered")
        return {name: count for name, count in vars(self).items() if name not in optional or count is not None}


class RowCounts:
    """What went by: rows, rows without a score, flagged, selected and accepted ones, and the scores of the first."""

    def __init__(self, deciding: Deciding) -> None:
        self.deciding = deciding
        self.names = [name for name in ("flagged", "selected", "accept") if name in deciding.added]
        self.counts: Counter[str] = Counter()
        self.scores: list[Array] = []

    def counted(self, batches: Iterable[tuple[pa.RecordBatch, Decided]], watch: Watch) -> Iterator[pa.RecordBatch]:
        """Pass the decided batches on, and count their rows."""
        for batch, found in batches:
            self.counts["rows"] += len(found)
            self.counts["missing"] += int(np.isnan(found.uncertainty).sum())
            for name in self.names:
                self.counts[name] += int(getattr(found, name).sum())
            self.look(found)
            yield batch
            if watch.rows is not None:
                watch.rows(len(batch))

    def look(self, found: Decided) -> None:
        """Remember the first scores, and how many rows were not made as the labelled ones."""
        if found.facts is not None:
            self.counts["uncovered"] += int((~found.alike).sum())
            if not self.has_seen_enough:
                self.scores.append(found.facts.scores[found.alike])

    @property
    def has_seen_enough(self) -> bool:
        """Whether more rows would not be compared with the labelled ones."""
        return sum(map(len, self.scores)) >= _COMPARED

    def warn_unlike(self) -> None:
        """Warn if the rows that were decided do not look like the labelled ones."""
        if self.deciding.gate is not None and self.scores:
            warn_unlike(self.deciding.gate.learned_, np.concatenate(self.scores))

    def scored(self) -> Scored:
        """Return the counts that say something."""
        asked, n_rows, n_missing = self.deciding.options, self.counts["rows"], self.counts["missing"]
        return Scored(
            n_rows,
            n_missing,
            self.counts["flagged"] - n_missing if asked.alpha is not None else None,
            self.counts["selected"] if asked.select is not None else None,
            min(asked.top, n_rows - n_missing) if asked.top is not None else None,
            self.counts["accept"] if "accept" in self.names else None,
            self.counts["uncovered"] or None,
        )


def warn_of_missing(done: Scored, absent: Sequence[str]) -> None:
    """Warn of columns that the table lacks, and of rows without a score."""
    if absent:
        warn_user(
            f"The table lacks {sorted(absent)}; rows are scored without, by missing='marginal'.", MissingValueWarning
        )
    if done.n_missing:
        warn_user(
            f"{done.n_missing:,} of {done.n_rows:,} rows have missing or infinite scores and got no uncertainty"
            f"{_fate_of_unscored(done)}.",
            MissingValueWarning,
        )


def _fate_of_unscored(done: Scored) -> str:
    if done.n_written is not None:
        return "; they are not among the most uncertain"
    if done.n_flagged is not None:
        return "; `flagged` is true for them, and the number of flagged rows leaves them out"
    return ""
