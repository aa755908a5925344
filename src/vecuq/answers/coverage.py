"""How many questions have a greedy answer, samples, or both, and what to say where some lack one."""

from __future__ import annotations

from dataclasses import dataclass

from vecuq.answers.schema import AnswerRecord


@dataclass
class Coverage:
    """Counts records as they go by."""

    n_questions: int = 0
    n_greedy: int = 0
    n_sampled: int = 0
    n_both: int = 0

    def count(self, record: AnswerRecord) -> None:
        """Count one record."""
        greedy, sampled = record.greedy is not None, bool(record.samples)
        self.n_questions += 1
        self.n_greedy += greedy
        self.n_sampled += sampled
        self.n_both += greedy and sampled

    @property
    def notes(self) -> list[str]:
        """One sentence if some questions lack what others have."""
        if not (self.n_greedy and self.n_sampled) or self.n_both == self.n_questions:
            return []
        return [
            f"{self.n_both:,} of {self.n_questions:,} questions have both a greedy answer and samples "
            f"({self.n_greedy:,} have the one, {self.n_sampled:,} the other); "
            f"if they should meet, give both the same ids or questions."
        ]
