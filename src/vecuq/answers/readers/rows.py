"""The tokens of a reply, one row each, as servers list them; and which of them are the text of the answer."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from vecuq.answers.alignment import own_tokens
from vecuq.answers.fields import as_list, as_mapping, as_text
from vecuq.answers.schema import Answer
from vecuq.answers.tokens import LEAST_LOGPROB, known_of_top, logprob, spelt_as_in

FROM_TOP = "a chosen token had the log-probability -9999; its value in top_logprobs was taken."
SPECIAL = "Special tokens before or within an answer were left out of its log-probs."
Top = Sequence[tuple[Any, float]]


class TokenRow(NamedTuple):
    """One token of a reply.

    ``token`` is its text as the server spells it, None where it sends only ids. ``top`` are the most likely tokens at
    this step with their log-probs. ``raw`` are its bytes, where the server sends them: a token may be part of a
    character. ``is_end`` says that the server calls it special, or that it ended the answer.
    """

    token: str | None
    logprob: float
    top: Top = ()
    raw: bytes | None = None
    is_end: bool = False


class Rows(NamedTuple):
    """Lists with one entry per token and how many of the last ended the answer, bytes where known, and notes."""

    lists: dict[str, Any]
    raw: Sequence[bytes | None] | None = None
    notes: tuple[str, ...] = ()

    @staticmethod
    def of(listed: Any, name: str, *, renormalise: bool = False) -> Rows:
        """Read objects with ``token``, ``logprob``, ``top_logprobs`` and perhaps ``bytes``; None is no tokens."""
        rows = [] if listed is None else [as_mapping(one, "a token") for one in as_list(listed, name)]
        found = _Columns(
            [_spelling(row.get("token")) for row in rows],
            [logprob(row.get("logprob")) for row in rows],
            [top_of(row.get("top_logprobs")) for row in rows],
            [_bytes(row.get("bytes")) for row in rows],
        )
        return _rows(found, 0, (), renormalise)

    @staticmethod
    def table(given: Iterable[TokenRow], *, renormalise: bool = False) -> Rows:
        """Make lists of rows; special tokens are kept only at the end.

        Examples
        --------
        >>> Rows.table([TokenRow("<s>", -0.1, is_end=True), TokenRow("Hi", -1.0), TokenRow(".", -0.5)]).lists
        {'tokens': ('Hi', '.'), 'logprobs': (-1.0, -0.5), 'n_end': 0}
        """
        rows = list(given)
        n_end = next((place for place, row in enumerate(reversed(rows)) if not row.is_end), len(rows))
        kept = [row for row in rows[: len(rows) - n_end] if not row.is_end] + rows[len(rows) - n_end :]
        columns = map(list, zip(*(row[:-1] for row in kept), strict=True)) if kept else ()
        return _rows(_Columns(*columns), n_end, () if len(kept) == len(rows) else (SPECIAL,), renormalise)

    def of_text(self, text: str, finish: str | None, *, hidden: str | None = None) -> Rows:
        """Return the rows that spell a text, and those that ended it."""
        lists, notes = own_tokens(text, self.lists, finish, raw=self.raw, hidden=hidden)
        if lists.get("tokens"):
            lists["tokens"] = spelt_as_in(text, lists["tokens"])
        return Rows(lists, None, self.notes + notes if lists else notes)


class Spoken(NamedTuple):
    """An answer, and what was decided about it in words."""

    answer: Answer
    notes: tuple[str, ...] = ()


def spoken(text: str, finish: str | None, rows: Rows | None = None, *, hidden: str | None = None) -> Spoken:
    """Return an answer with the log-probs of its own tokens and of those that ended it.

    Tokens before them, such as reasoning, are left out. Where no tokens spell the text, the answer has no log-probs.
    ``hidden`` is the reasoning, where it is known.

    Examples
    --------
    >>> listed = [("Hm", -1.0), ("</think>", -0.1), ("Paris", -0.5), ("</s>", -0.2)]
    >>> rows = Rows.table(TokenRow(*one) for one in listed)
    >>> found = spoken("Paris", "stop", rows)
    >>> found.answer.logprobs, found.answer.n_end
    ((-0.5, -0.2), 1)
    >>> spoken("Rome", "stop", rows).answer.logprobs is None
    True
    """
    own = (rows or Rows({})).of_text(text, finish, hidden=hidden)
    return Spoken(Answer(text=text.strip(), finish=finish, **own.lists), own.notes)


class _Columns(NamedTuple):
    """Tokens, one list for each field of :class:`TokenRow`."""

    tokens: Sequence[str | None] = ()
    values: Sequence[float] = ()
    tops: Sequence[Top] = ()
    raw: Sequence[bytes | None] = ()


def _rows(given: _Columns, n_end: int, notes: tuple[str, ...], renormalise: bool) -> Rows:
    tokens, values, tops, raw = given
    if not tokens:
        return Rows({}, notes=notes)
    corrected = list(map(_true_value, tokens, values, tops)) if min(values) <= LEAST_LOGPROB else values
    lists = {
        "tokens": None if None in tokens else tuple(tokens),
        "logprobs": tuple(corrected),
        "n_end": n_end,
        **known_of_top([[value for _, value in top] for top in tops], len(tokens), renormalise),
    }
    return Rows(lists, raw, notes if corrected == values else (*notes, FROM_TOP))


def _spelling(token: Any) -> str | None:
    return None if token is None else as_text(token, "a token")


def top_of(listed: Any, *, name: str = "top_logprobs", spelling: str = "token") -> Top:
    """Return the most likely tokens of a step with their log-probs; ``spelling`` names the field of their text."""
    if not listed:
        return ()
    entries = [as_mapping(entry, "a top log-prob") for entry in as_list(listed, name)]
    return [(entry.get(spelling), logprob(entry.get("logprob"))) for entry in entries]


def _true_value(token: str | None, value: float, top: Top) -> float:
    """Return the value of the chosen token; some servers write -9999 and have the true value among the most likely."""
    if value > LEAST_LOGPROB or token is None:
        return value
    return max([value, *(other for name, other in top if name == token)])


def _bytes(given: Any) -> bytes | None:
    try:
        return bytes(given) if isinstance(given, list) else None
    except (TypeError, ValueError):
        return None
