"""Tokens as servers list them, one row each: ``{"token", "logprob", "bytes", "top_logprobs"}``."""

from __future__ import annotations

from typing import Any, NamedTuple

from vecuq.answers.alignment import own_tokens
from vecuq.answers.fields import as_list, as_mapping, as_text
from vecuq.answers.tokens import LEAST_LOGPROB, entropies_of_top, logprob

FROM_TOP = "a chosen token had the log-probability -9999; its value in top_logprobs was taken."


class Rows(NamedTuple):
    """Lists with one entry per token, the bytes of the tokens where they are known, and notes."""

    lists: dict[str, Any]
    raw: list[bytes | None] | None = None
    notes: tuple[str, ...] = ()

    @staticmethod
    def of(rows: Any, name: str, *, renormalise: bool = False) -> Rows:
        """Read rows; none at all where the server gave none."""
        if rows is None:
            return Rows({})
        listed = [as_mapping(row, "a token") for row in as_list(rows, name)]
        if not listed:
            return Rows({})
        tokens = tuple([as_text(row.get("token"), "a token") for row in listed])
        given = [_entries(row.get("top_logprobs")) for row in listed]
        values = [logprob(row.get("logprob")) for row in listed]
        corrected = [_true_value(*one) for one in zip(tokens, values, given, strict=True)] if _least(values) else values
        tops = [[value for _, value in top] for top in given]
        lists = {"tokens": tokens, "logprobs": tuple(corrected), **entropies_of_top(tops, len(tokens), renormalise)}
        return Rows(lists, [_bytes(row.get("bytes")) for row in listed], () if corrected == values else (FROM_TOP,))

    def of_text(self, text: str, finish: str | None, *, hidden: str | None = None) -> Rows:
        """Return the rows that spell a text, and those that ended it."""
        lists, notes = own_tokens(text, self.lists, finish, raw=self.raw, hidden=hidden)
        return Rows(lists, None, self.notes + notes if lists else notes)


def _least(values: list[float]) -> bool:
    return min(values) <= LEAST_LOGPROB


def _true_value(token: str, value: float, top: list[tuple[Any, float]]) -> float:
    """Return the value of the chosen token; some servers write -9999 and have the true value among the most likely."""
    return max([value, *(other for name, other in top if name == token)]) if value <= LEAST_LOGPROB else value


def _entries(top: Any) -> list[tuple[Any, float]]:
    """Return the most likely tokens with their log-probabilities."""
    if not top:
        return []
    entries = [as_mapping(entry, "a top log-prob") for entry in as_list(top, "top_logprobs")]
    return [(entry.get("token"), logprob(entry.get("logprob"))) for entry in entries]


def _bytes(given: Any) -> bytes | None:
    try:
        return bytes(given) if isinstance(given, list) else None
    except (TypeError, ValueError):
        return None
