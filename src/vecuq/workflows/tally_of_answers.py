"""What is counted while answers are measured: rows, missing values and their reasons, truncated entropies."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from vecuq.errors import TableError

if TYPE_CHECKING:
    from vecuq.answers import AnswerReader
    from vecuq.measures import text

# Measures of what an answer has only if it was requested, so that their absence is no news.
UNUSUAL = ("non_contradiction", "cosine", "p_true", "verbalised_confidence", "linguistic_confidence")
# Why an answer has no quality where none was wanted; a table without any says nothing of it.
NO_VERDICT = "the file has no verdict on the answer"


class Gap(NamedTuple):
    """Missing values of one column: how many, and the most frequent reason."""

    n_missing: int
    reason: str


@dataclass(frozen=True)
class MeasuredAnswers:
    """A table of scores on disk, and what is missing in it.

    Parameters
    ----------
    n_rows, n_left_out
        Rows written, and rows left out by ``complete``.
    columns
        The columns of numbers that were written.
    absent
        The columns that were not written, since no answer allows them, and the reason.
    partly
        The columns with some missing values.
    n_skipped, problems
        Lines that could not be read, and the first of these with their place and reason.
    entropy_top_k
        Over how many of the most likely tokens entropies run, where not over the whole vocabulary.
    entropy_renormalised
        Whether the probabilities of these tokens were divided by their sum; None where there is no such entropy, or
        where some were and others were not.
    notes
        What the reader of the files decided, one sentence each.
    compared
        How texts were compared, and in how many questions.
    n_asked
        How many texts or pairs were sent to a model; None where there is no model.
    n_thinking
        Questions whose answers contain thinking that was not stripped.
    n_unfound
        Answers in which ``extract`` found nothing, so that they count as different from all in which it did.
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
    compared: dict[str, int]
    n_asked: int | None
    n_thinking: int
    n_unfound: int = 0


def compared_in_words(done: MeasuredAnswers) -> str:
    """Return how texts were compared, such as ``content words in 3 questions``."""
    how = ", ".join(f"{name} in {count:,}" for name, count in done.compared.items())
    asked = "" if done.n_asked is None else f"; {done.n_asked:,} sent to a model"
    return f"{how} {'question' if sum(done.compared.values()) == 1 else 'questions'}{asked}"


Reason = TypeVar("Reason", bound=Hashable)


def by_reason(reasons: Mapping[str, Reason]) -> dict[Reason, list[str]]:
    """Return the names that share each reason, in their order.

    Examples
    --------
    >>> by_reason({"msp": "no samples", "rde": "no tokens", "consistency": "no samples"})
    {'no samples': ['msp', 'consistency'], 'no tokens': ['rde']}
    """
    found: dict[Reason, list[str]] = {}
    for name, why in reasons.items():
        found.setdefault(why, []).append(name)
    return found


@dataclass
class AnswerTally:
    """Counts measured answers: how often each reason left a value missing, and which entropies were truncated.

    ``truncated`` holds pairs: over how many tokens an entropy runs, and whether their probabilities were renormalised.
    """

    columns: tuple[str, ...]
    n_rows: int = 0
    reasons: Counter[tuple[str, str]] = field(default_factory=Counter)
    truncated: set[tuple[int, bool]] = field(default_factory=set)
    compared: Counter[str] = field(default_factory=Counter)
    n_asked: int = 0
    n_thinking: int = 0
    n_unfound: int = 0
    settings: dict[str, Any] = field(default_factory=dict)

    def count(self, found: text.MeasuredAnswer) -> None:
        """Count one answer and the reasons of its missing values, by column."""
        self.n_rows += 1
        self.reasons.update(found.reasons.items())
        self.n_thinking += found.thinks
        if found.compared:
            self.compared[found.compared] += 1
        answer = found.answer
        if answer is not None and answer.entropy_top_k is not None:
            self.truncated.add((answer.entropy_top_k, answer.entropy_renormalised))

    def add(self, other: AnswerTally) -> None:
        """Add what was counted elsewhere."""
        self.n_rows += other.n_rows
        self.reasons.update(other.reasons)
        self.truncated |= other.truncated
        self.compared.update(other.compared)
        self.n_asked += other.n_asked
        self.n_thinking += other.n_thinking
        self.n_unfound += other.n_unfound

    @property
    def gaps(self) -> dict[str, Gap]:
        """Every column with missing values."""
        found = {}
        for name in self.columns:
            reasons = Counter({why: count for (column, why), count in self.reasons.items() if column == name})
            if reasons:
                found[name] = Gap(reasons.total(), reasons.most_common(1)[0][0])
        return found

    @property
    def kept(self) -> tuple[str, ...]:
        """The columns that have values."""
        gaps = self.gaps
        return tuple(name for name in self.columns if name not in gaps or gaps[name].n_missing < self.n_rows)

    @property
    def entropy_top_k(self) -> tuple[int, ...]:
        """Over how many tokens truncated entropies run."""
        return tuple(sorted({k for k, _ in self.truncated}))

    @property
    def entropy_renormalised(self) -> bool | None:
        """Whether the probabilities of these tokens were divided by their sum, if the same holds for all."""
        found = {renormalised for _, renormalised in self.truncated}
        return found.pop() if len(found) == 1 else None

    @property
    def metadata(self) -> dict[str, str]:
        """What the file says about how texts were compared and about its entropies, beside its columns."""
        found = {"vecuq.text_settings": json.dumps(self.settings), "vecuq.compared": json.dumps(dict(self.compared))}
        if not self.compared:
            found = {}
        if not self.truncated:
            return found
        return found | {
            "vecuq.entropy_top_k": ",".join(map(str, self.entropy_top_k)),
            "vecuq.entropy_renormalised": {True: "true", False: "false", None: "mixed"}[self.entropy_renormalised],
        }

    @property
    def _has_model(self) -> bool:
        return any(isinstance(self.settings.get(name), dict) for name in ("embed", "nli", "judge"))

    def refuse_empty(self, measures: Iterable[str], *, notes: Sequence[str] = ()) -> None:
        """Raise if no answer allows any measure; ``notes`` of the reader may say why."""
        gaps = self.gaps
        if not set(self.kept) & set(measures):
            lacking = [name for name in measures if name not in UNUSUAL] or list(measures)
            reasons = "; ".join(dict.fromkeys(gaps[name].reason for name in lacking))
            said = "".join(f" {one}" for one in notes)
            which = "this answer" if self.n_rows == 1 else f"these {self.n_rows:,} answers"
            raise TableError(
                f"No measure can be computed of {which}: {reasons}. Token log-probabilities, or several answers to a "
                f"question, would allow some.{said}"
            )

    def result(self, reader: AnswerReader, left_out: int) -> MeasuredAnswers:
        """Return the whole outcome."""
        gaps, kept = self.gaps, self.kept
        return MeasuredAnswers(
            n_rows=self.n_rows - left_out,
            n_left_out=left_out,
            columns=kept,
            absent={name: gap.reason for name, gap in gaps.items() if name not in kept and gap.reason != NO_VERDICT},
            partly={name: gap for name, gap in gaps.items() if name in kept},
            n_skipped=reader.n_skipped,
            problems=tuple(reader.problems),
            entropy_top_k=self.entropy_top_k,
            entropy_renormalised=self.entropy_renormalised,
            notes=tuple(reader.notes),
            compared=dict(self.compared.most_common()),
            n_asked=self.n_asked if self._has_model else None,
            n_thinking=self.n_thinking,
            n_unfound=self.n_unfound,
        )
