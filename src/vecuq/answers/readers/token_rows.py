"""The tokens of a reply, one row each, and which of them are the text of the answer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from vecuq.answers.alignment import HIDDEN, NOT_OF_THE_TEXT, aligned
from vecuq.answers.fields import as_list, as_mapping
from vecuq.answers.schema import Answer
from vecuq.answers.tokens import ends_answer, entropies_of_top, logprob, spelt


@dataclass(frozen=True, slots=True)
class TokenRow:
    """One token of a reply.

    Parameters
    ----------
    text
        As the server spells it; None where it sends only ids.
    logprob
        Of the chosen token.
    top
        Log-probs of the most likely tokens at this step.
    content
        Its bytes, where the server sends them: a token may be part of a character.
    is_end
        Whether the server says that it is special, or that it ended the answer.
    """

    text: str | None
    logprob: float
    top: tuple[float, ...] = ()
    content: bytes | None = None
    is_end: bool = False

    @property
    def ends(self) -> bool:
        """Whether it is never part of a text."""
        return self.is_end or (self.text is not None and ends_answer(self.text))


class Spoken(NamedTuple):
    """An answer, and what was decided about it in words."""

    answer: Answer
    notes: tuple[str, ...] = ()


def rows_of(listed: Any, name: str) -> list[TokenRow]:
    """Return rows of objects with ``token``, ``logprob``, ``top_logprobs`` and perhaps ``bytes``."""
    return [_row(as_mapping(one, "a token")) for one in as_list(listed, name)]


def _row(fields: Mapping[str, Any]) -> TokenRow:
    text, top = fields.get("token"), fields.get("top_logprobs")
    entries = as_list([] if top is None else top, "top_logprobs")
    return TokenRow(
        text=text if isinstance(text, str) else None,
        logprob=logprob(fields.get("logprob")),
        top=tuple(logprob(as_mapping(entry, "a top log-prob").get("logprob")) for entry in entries),
        content=_bytes(fields.get("bytes")),
    )


def _bytes(listed: Any) -> bytes | None:
    is_bytes = isinstance(listed, list) and all(type(one) is int and 0 <= one < 256 for one in listed)
    return bytes(listed) if is_bytes else None


def spoken(text: str, rows: Sequence[TokenRow], finish: str | None, *, renormalise: bool = False) -> Spoken:
    """Return an answer with the log-probs of its own tokens and of those that ended it.

    Tokens before them, such as reasoning, are left out. Where no tokens spell the text, the answer has no log-probs.

    Examples
    --------
    >>> rows = [TokenRow("Hm", -1.0), TokenRow("</think>", -0.1), TokenRow("Paris", -0.5), TokenRow("</s>", -0.2)]
    >>> found = spoken("Paris", rows, "stop")
    >>> found.answer.logprobs, found.answer.n_end
    ((-0.5, -0.2), 1)
    >>> spoken("Rome", rows, "stop").answer.logprobs is None
    True
    """
    plain = Answer(text=text.strip(), finish=finish)
    last = _last_of_text(rows)
    kept = [row for row in rows[:last] if not row.is_end]
    place = _place(text, kept, finish)
    if place is None:
        return Spoken(plain, (NOT_OF_THE_TEXT,))
    own = [*kept[place[0] :], *rows[last:]]
    notes = (HIDDEN,) if len(own) < len(rows) else ()
    if not own:
        return Spoken(plain, notes)
    n_end = place[1] + len(rows) - last
    return Spoken(Answer(text=text.strip(), finish=finish, n_end=n_end, **_per_token(own, renormalise)), notes)


def _last_of_text(rows: Sequence[TokenRow]) -> int:
    """Return how many tokens there are before those that can only end an answer."""
    last = len(rows)
    while last and rows[last - 1].ends:
        last -= 1
    return last


def _place(text: str, rows: Sequence[TokenRow], finish: str | None) -> tuple[int, int] | None:
    """Return where the tokens of the text begin, and how many follow them; None where none spell it."""
    tokens = [row.text for row in rows if row.text is not None]
    if len(tokens) < len(rows):
        return 0, 0  # without spelling, nothing says that a token is not of the text
    return aligned(text, tokens, finish=finish, raw=[row.content for row in rows])


def _per_token(rows: Sequence[TokenRow], renormalise: bool) -> dict[str, Any]:
    spelling = [row.text for row in rows if row.text is not None]
    tokens = spelt(spelling) if len(spelling) == len(rows) else None
    tops = entropies_of_top([row.top for row in rows], len(rows), renormalise)
    return {"tokens": tokens, "logprobs": tuple(row.logprob for row in rows), **tops}
