"""How far a run of questions is: what was answered, refused, or left without a confidence."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import NamedTuple

from vecuq.answers import RefusedQuestionError
from vecuq.workflows.asking_budget import Budget
from vecuq.workflows.asking_replies import Reply


class AskProgress(NamedTuple):
    """How far a run is: questions done, questions in all, and the tokens of the last answers or why it was refused."""

    done: int
    total: int
    tokens: int = 0
    refused: RefusedQuestionError | None = None


@dataclass(frozen=True)
class Asked:
    """A file of answers on disk.

    ``refused`` maps the ids of the questions that it lacks to the reasons, ``n_left`` counts those that were not
    started because of ``Prices.most``, ``missing`` says how many answers lack which confidence, and why. ``usage`` is
    None where the answerer counts no tokens, ``cost`` where no prices were given.
    """

    n_questions: int
    n_asked: int
    n_tokens: int
    seconds: float
    refused: dict[str, str]
    n_left: int = 0
    missing: dict[str, int] = field(default_factory=dict)
    usage: dict[str, int] | None = None
    cost: float | None = None


class Tally:
    """Counts what was done."""

    def __init__(self) -> None:
        self.n_asked, self.n_tokens = 0, 0
        self.refused: dict[str, str] = {}
        self._missing = Counter[str]()
        # Tokens of the last answers, and why they were refused if they were.
        self.last: tuple[int, RefusedQuestionError | None] = (0, None)

    @property
    def n_done(self) -> int:
        """Questions answered or refused."""
        return self.n_asked + len(self.refused)

    @property
    def missing(self) -> dict[str, int]:
        """How many answers lack which confidence, with the reason."""
        return dict(self._missing)

    def add(self, name: str, kept: Reply | RefusedQuestionError) -> None:
        """Count one question, by its id."""
        if isinstance(kept, RefusedQuestionError):
            self.refused[name] = kept.words
            self.last = (0, kept)
            return
        self.n_asked += 1
        self.n_tokens += kept.n_tokens
        self._missing.update(f"{kind}: {why}" for kind, why in kept.confidence.missing.items())
        self.last = (kept.n_tokens, None)

    def result(self, total: int, left: int, seconds: float, budget: Budget) -> Asked:
        """Return what was done of ``total`` questions."""
        return Asked(total, self.n_asked, self.n_tokens, seconds, self.refused, left, self.missing, *budget.spent())
