"""How answers were made: with how many samples, and whether with a question; a certificate is about such answers."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from vecuq.errors import TableError

if TYPE_CHECKING:
    from vecuq.answers import AnswerRecord


class Made(NamedTuple):
    """How the labelled answers were made: least and most samples, and which of them had a question."""

    fewest_samples: int
    most_samples: int
    questions: str  # "all", "some" or "none"

    def samples_in_words(self) -> str:
        """Return how many samples an answer had.

        Examples
        --------
        >>> Made(10, 10, "all").samples_in_words(), Made(5, 10, "all").samples_in_words()
        ('10', '5 to 10')
        """
        few, many = self.fewest_samples, self.most_samples
        return f"{few:,}" if few == many else f"{few:,} to {many:,}"

    def has_as_many(self, making: Making) -> NDArray[np.bool_]:
        """Return which answers have a number of samples as it occurred."""
        counts = making.n_samples
        return np.asarray((counts >= self.fewest_samples) & (counts <= self.most_samples))

    def is_asked_alike(self, making: Making) -> NDArray[np.bool_]:
        """Return which answers have a question, or none, as all of these did; where only some did, both are alike."""
        if self.questions == "some":
            return np.ones(len(making), dtype=bool)
        return np.asarray(making.asked == (self.questions == "all"))


def made_in_words(made: Made | None) -> dict[str, str]:
    """Return how answers were made, as it is shown.

    Examples
    --------
    >>> made_in_words(Made(10, 10, "all"))
    {'samples per answer': '10', 'answers with a question': 'all'}
    """
    samples, questions = ("unknown", "unknown") if made is None else (made.samples_in_words(), made.questions)
    return {"samples per answer": samples, "answers with a question": questions}


@dataclass(frozen=True)
class Making:
    """How each of some answers was made, one value per answer."""

    n_samples: NDArray[np.int64]
    asked: NDArray[np.bool_]

    @staticmethod
    def of(answers: Iterable[Any]) -> Making:
        """Count the samples and questions of answers.

        Examples
        --------
        >>> answers = [{"text": "4", "samples": ["4", "5"]}, {"text": "6", "question": "3 + 3?"}]
        >>> Making.of(answers).over()
        Made(fewest_samples=0, most_samples=2, questions='some')
        """
        from vecuq.answers import record_of

        return Making.of_records([record_of(one) for one in answers])

    @staticmethod
    def of_records(records: Iterable[AnswerRecord]) -> Making:
        """Return how records were made."""
        made = [(len(record.samples), bool(record.question)) for record in records]
        counts, asked = [one[0] for one in made], [one[1] for one in made]
        return Making(np.array(counts, dtype=np.int64), np.array(asked, dtype=bool))

    def __len__(self) -> int:
        return len(self.n_samples)

    def some(self, rows: Any) -> Making:
        """Return how some of the answers were made."""
        return Making(self.n_samples[rows], self.asked[rows])

    def over(self, rows: Any = ...) -> Made:
        """Return what holds for the answers together, or for some of them; at least one."""
        counts, asked = self.n_samples[rows], self.asked[rows]
        return Made(int(counts.min()), int(counts.max()), "all" if asked.all() else "some" if asked.any() else "none")

    def refuse_other_length(self, n_rows: int) -> None:
        """Raise if these are not as many answers as a table has rows."""
        if len(self) != n_rows:
            raise TableError(f"making must be about each of {n_rows:,} answers; it is about {len(self):,}.")
