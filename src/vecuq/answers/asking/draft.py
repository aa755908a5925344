"""An unfinished answer: its tokens so far, their text, and where it ends."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from vecuq.answers.asking.choice import Chosen
from vecuq.answers.schema import Answer

_UNFINISHED = "\N{REPLACEMENT CHARACTER}"


@dataclass
class Draft:
    """One sequence so far.

    Parameters
    ----------
    spell
        Maps tokens to text; an unfinished character at the end becomes the replacement character.
    stop, max_tokens
        When the answer ends at the latest.
    """

    spell: Callable[[Sequence[int]], str]
    stop: tuple[str, ...]
    max_tokens: int
    tokens: list[int] = field(default_factory=list)
    finish: str | None = None
    _chosen: list[Chosen] = field(default_factory=list)
    # How much text there is after each token.
    _ends: list[int] = field(default_factory=list)
    _text: str = ""

    def add(self, chosen: Chosen, *, ends: bool) -> None:
        """Add one token; ``ends`` says that it is the model's end of sequence."""
        self.tokens.append(chosen.token)
        self._chosen.append(chosen)
        if ends:
            self.finish = "stop"
        else:
            self._text = self.spell(self.tokens)
            self._stop_at_text()
        self._ends.append(len(self._text.rstrip(_UNFINISHED)))
        if self.finish is None and len(self.tokens) == self.max_tokens:
            self.finish = "length"

    def _stop_at_text(self) -> None:
        found = [place for place in (self._text.find(text) for text in self.stop) if place >= 0]
        if found:
            self._text, self.finish = self._text[: min(found)], "stop"

    def answer(self) -> Answer:
        """Return the finished answer; the pieces of its tokens add up to its text, but for blanks around it."""
        text = self._text.rstrip(_UNFINISHED)
        ends = [min(end, len(text)) for end in self._ends]
        pieces = [text[start:end] for start, end in zip([0, *ends], ends, strict=False)]
        return Answer(
            text=text.strip(),
            tokens=tuple(pieces),
            logprobs=tuple(rounded(chosen.logprob) for chosen in self._chosen),
            entropies=tuple(rounded(chosen.entropy) for chosen in self._chosen),
            margins=tuple(rounded(chosen.margin) for chosen in self._chosen),
            certainties=tuple(rounded(chosen.certainty) for chosen in self._chosen),
            n_end=self._n_end(len(text)),
            finish=self.finish,
        )

    def _n_end(self, length: int) -> int:
        """Return how many of the last tokens come after the text, if the answer ended with ``stop``."""
        return sum(start >= length for start in [0, *self._ends[:-1]]) if self.finish == "stop" else 0


def rounded(value: float) -> float:
    """Return a number with six decimals, about the digits of single precision, and no negative zero."""
    return round(value, 6) + 0.0
