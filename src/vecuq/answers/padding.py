"""Where the tokens of an answer end and the padding of a batch begins, in dumps of Hugging Face ``generate``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from vecuq.answers.tokens import ends_answer

_PADS = ("<pad>", "[PAD]", "<|pad|>", "<|padding|>")


@dataclass(frozen=True)
class Ends:
    """The ids that end an answer and that pad a batch, where the dump has them."""

    eos: frozenset[int] = frozenset()
    pad: frozenset[int] = frozenset()

    @staticmethod
    def of(*settings: Any) -> Ends:
        """Take them from the line itself or from its generation settings."""
        found = [one for one in settings if isinstance(one, Mapping)]
        return Ends(*(frozenset(_ids(found, name)) for name in ("eos_token_id", "pad_token_id")))


def _ids(settings: list[Mapping[str, Any]], name: str) -> list[int]:
    given: Any = next((one[name] for one in settings if one.get(name) is not None), [])
    return [one for one in (given if isinstance(given, list) else [given]) if isinstance(one, int)]


def unpadded_length(
    values: list[Any] | None, tokens: tuple[str, ...] | None, ids: list[Any] | None, ends: Ends, *, in_matrix: bool
) -> int | None:
    """Return how many of the first entries are an answer's own; None where there is nothing to count.

    Padding has the log-probability null, minus infinity or, as for beams, 0. A zero may also be a certain token, so
    zeros count as padding only at the end of a row of a matrix without tokens and ids.
    """
    lists = [one for one in (values, tokens, ids) if one is not None]
    if not lists:
        return None
    length = min(map(len, lists))
    if ids is not None:
        length = min(length, _length_of_ids(ids, ends))
    if tokens is not None:
        length = min(length, _length_of_tokens(tokens))
    if values is not None:
        known = tokens is not None or (ids is not None and bool(ends.eos or ends.pad))
        length = _length_of_values(values[:length], zeros=in_matrix and not known)
    return length


def _length_of_ids(ids: list[Any], ends: Ends) -> int:
    """Return where the first end is, itself included; else where padding begins."""
    first = next((k + 1 for k, one in enumerate(ids) if isinstance(one, int) and one in ends.eos), len(ids))
    while first and isinstance(ids[first - 1], int) and ids[first - 1] in ends.pad - ends.eos:
        first -= 1
    return first


def _length_of_tokens(tokens: tuple[str, ...]) -> int:
    """Return the length without pads; where the end of sequence pads too, the first of the last ones is the end."""
    last = len(tokens)
    while last and tokens[last - 1].strip() in _PADS:
        last -= 1
    while last > 1 and ends_answer(tokens[last - 1]) and tokens[last - 2] == tokens[last - 1]:
        last -= 1
    return last


def _length_of_values(values: list[Any], *, zeros: bool) -> int:
    last = len(values)
    while last and (values[last - 1] is None or values[last - 1] == float("-inf") or (zeros and values[last - 1] == 0)):
        last -= 1
    return last
