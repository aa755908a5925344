"""What is said of answers that were not made as the fitted ones: in a verdict, and as a warning."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from vecuq._check import warn_user
from vecuq.decide import Made, Making
from vecuq.errors import CalibrationWarning


@dataclass(frozen=True)
class Coverage:
    """What a pipeline knows of how its answers were made, as far as its measures depend on it.

    Parameters
    ----------
    made
        How the answers were made that certified the gate, or fitted the model where there is none; None if unknown.
    certified
        Whether there is a gate.
    counts_samples, reads_questions
        Whether some measure depends on the number of samples, and on the question.
    said
        What was warned of already.
    """

    made: Made | None
    certified: bool
    counts_samples: bool
    reads_questions: bool
    said: set[str] = field(default_factory=set)

    def reasons(self, making: Making) -> dict[str, str]:
        """Return how one answer differs from the fitted ones: in ``samples``, in ``question``."""
        found: dict[str, str] = {}
        if self.made is not None and self._others(making)[0]:
            about = "the certificate is about" if self.certified else "the model was fitted to"
            found["samples"] = f"{making.n_samples[0]:,} came; {about} answers with {self.made.samples_in_words()}"
        if self._unlike(making)[0]:
            came, had = ("one came", "none") if making.asked[0] else ("none came", "one")
            found["question"] = f"{came}; the fitted answers had {had}"
        return found

    def warn(self, making: Making) -> None:
        """Warn of answers that the certificate is not about; once of samples and once of questions."""
        if not self.certified or self.made is None:
            return
        others, unlike = int(self._others(making).sum()), int(self._unlike(making).sum())
        if others:
            self._once("samples", _others_in_words(others, self.made))
        if unlike:
            had = "a question each" if self.made.questions == "all" else "no question"
            these = "this one" if len(making) == 1 else f"{unlike:,} of these {len(making):,}"
            self._once(
                "question",
                f"The labelled answers had {had}, unlike {these}. Texts may compare differently then: judge answers "
                f"as they were labelled.",
            )

    def _others(self, making: Making) -> NDArray[np.bool_]:
        """Return which answers have another number of samples."""
        if self.made is None or not self.counts_samples:
            return np.zeros(len(making), dtype=bool)
        return ~self.made.has_as_many(making)

    def _unlike(self, making: Making) -> NDArray[np.bool_]:
        """Return which answers have a question where the fitted ones had none, or the reverse."""
        if self.made is None or not self.reads_questions:
            return np.zeros(len(making), dtype=bool)
        return ~self.made.is_asked_alike(making)

    def _once(self, what: str, message: str) -> None:
        if what not in self.said:
            self.said.add(what)
            warn_user(message, CalibrationWarning)


def _others_in_words(n_others: int, made: Made) -> str:
    """Say that answers with another number of samples are not accepted, and what to do."""
    are = "answer with another number of samples is" if n_others == 1 else "answers with another number of samples are"
    return (
        f"{n_others:,} {are} not accepted: the certificate is about answers with {made.samples_in_words()}. Draw as "
        f"many samples, or label answers as they come and fit again."
    )
