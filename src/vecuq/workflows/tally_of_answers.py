"""What is counted while answers are measured: rows, gaps and their reasons, truncated entropies."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from vecuq._check import Array
from vecuq.errors import TableError
from vecuq.workflows.watch import Watch

if TYPE_CHECKING:
    import pyarrow as pa

    from vecuq.answers import AnswerReader


class Gap(NamedTuple):
    """Cells of one column that are missing: how many, and the reason that most of them share."""

    n_missing: int
    reason: str


@dataclass(frozen=True)
class MeasuredAnswers:
    """A table of scores on disk, and what it lacks.

    Parameters
    ----------
    n_rows, n_left_out
        Rows written, and rows left out because ``complete`` was asked for.
    columns
        The columns of numbers that were written.
    absent
        The columns that were not, since no answer allows them, and why.
    partly
        The columns that lack some cells.
    n_skipped, problems
        Lines that could not be read, and the first of these with their place and reason.
    entropy_top_k
        Over how many of the likeliest tokens entropies were taken, where not over the whole vocabulary.
    entropy_renormalised
        Whether the probabilities of these tokens were made to sum to 1; None where there is no such entropy, or where
        some were and others were not.
    notes
        What the reader of the files had to decide, a sentence each.
    """

    n_rows: int
    n_left_out: int
    columns: tuple[str, ...]
    absent: dict[str, str]
    partly: dict[str, Gap]
    n_skipped: int
    problems: tuple[str, ...]
    entropy_top_k: tuple[int, ...]
    entropy_renormalised: bool | None
    notes: tuple[str, ...]


class MeasuredChunk(NamedTuple):
    """Some answers: ids, values (answers, columns), and how often each reason left a cell empty.

    ``truncated`` tells of entropies over a part of the vocabulary: over how many tokens, and whether made to sum to 1.
    """

    ids: list[str]
    values: Array
    reasons: Counter[tuple[str, str]]
    truncated: set[tuple[int, bool]]


@dataclass
class Tally:
    """Counts chunks as they go by."""

    columns: tuple[str, ...]
    n_rows: int = 0
    reasons: Counter[tuple[str, str]] = field(default_factory=Counter)
    truncated: set[tuple[int, bool]] = field(default_factory=set)

    def noted(self, chunk: MeasuredChunk, watch: Watch) -> pa.RecordBatch:
        """Count a chunk and return it as rows of a table."""
        import pyarrow as pa

        self.n_rows += len(chunk.ids)
        self.reasons.update(chunk.reasons)
        self.truncated |= chunk.truncated
        if watch.rows is not None:
            watch.rows(len(chunk.ids))
        columns = {name: pa.array(chunk.values[:, k]) for k, name in enumerate(self.columns)}
        return pa.RecordBatch.from_pydict({"id": pa.array(chunk.ids, pa.string()), **columns})

    @property
    def gaps(self) -> dict[str, Gap]:
        """Every column that lacks cells."""
        found = {}
        for name in self.columns:
            told = Counter({why: count for (column, why), count in self.reasons.items() if column == name})
            if told:
                found[name] = Gap(told.total(), told.most_common(1)[0][0])
        return found

    @property
    def kept(self) -> tuple[str, ...]:
        """The columns that have cells."""
        gaps = self.gaps
        return tuple(name for name in self.columns if name not in gaps or gaps[name].n_missing < self.n_rows)

    @property
    def entropy_top_k(self) -> tuple[int, ...]:
        """Over how many tokens truncated entropies were taken."""
        return tuple(sorted({k for k, _ in self.truncated}))

    @property
    def entropy_renormalised(self) -> bool | None:
        """Whether these tokens were made to sum to 1, if that can be said of all."""
        told = {renormalised for _, renormalised in self.truncated}
        return told.pop() if len(told) == 1 else None

    @property
    def metadata(self) -> dict[str, str]:
        """What a table should say of its entropies, beside its columns."""
        if not self.truncated:
            return {}
        told = {True: "true", False: "false", None: "mixed"}[self.entropy_renormalised]
        return {
            "vecuq.entropy_top_k": ",".join(map(str, self.entropy_top_k)),
            "vecuq.entropy_renormalised": told,
        }

    def refuse_empty(self, measures: Iterable[str]) -> None:
        """Raise if no answer allows any measure."""
        gaps = self.gaps
        if not set(self.kept) & set(measures):
            told = "; ".join(f"{name}: {gaps[name].reason}" for name in measures)
            raise TableError(f"These {self.n_rows:,} answers allow none of the measures ({told}).")

    def told(self, reader: AnswerReader, left_out: int) -> MeasuredAnswers:
        """Return the whole outcome."""
        gaps, kept = self.gaps, self.kept
        return MeasuredAnswers(
            n_rows=self.n_rows - left_out,
            n_left_out=left_out,
            columns=kept,
            absent={name: gap.reason for name, gap in gaps.items() if name not in kept},
            partly={name: gap for name, gap in gaps.items() if name in kept},
            n_skipped=reader.n_skipped,
            problems=tuple(reader.problems),
            entropy_top_k=self.entropy_top_k,
            entropy_renormalised=self.entropy_renormalised,
            notes=tuple(reader.notes),
        )
