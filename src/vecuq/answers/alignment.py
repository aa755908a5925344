"""Which of the tokens that came with an answer spell its text, and which came before it or ended it.

Log-probabilities belong to an answer only if their tokens spell it. Servers also return the tokens of hidden reasoning,
of stop strings and of end marks, and they split characters: so tokens are matched with the text, blanks aside.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from vecuq.answers.tokens import WORD_MARKS, ends_answer

Raw = Sequence[bytes | None] | None
NOT_OF_THE_TEXT = (
    "The log-probs of an answer do not belong to its text (the tokens spell something else), so they were left out."
)
HIDDEN = "Tokens before an answer that are no part of its text, such as reasoning, were left out of its log-probs."
# A stop string is short: more tokens than this after a text are another text.
_MOST_STOP = 16
_UNKNOWN = "\ufffd".encode()  # stands for bytes that are no whole character
_UNKNOWN_RUN, _ASCII = re.compile(b"((?:%b)+)" % _UNKNOWN), bytes(range(128))
_BYTE = re.compile(r"<0x([0-9A-Fa-f]{2})>")
# Tokens after which a model that thinks begins its answer.
_THOUGHT = re.compile(r"\s*(?:</(?:think|thinking|reasoning|thought)>|\[/THINK\]|<\|message\|>)\s*")
_CUT = ("length", "max_tokens")


class Run(NamedTuple):
    """The tokens of a text: the first of them, and how many at the end of the list ended the text."""

    start: int
    n_end: int


def own_tokens(
    text: str, lists: Mapping[str, Any], finish: str | None, *, raw: Raw = None, hidden: str | None = None
) -> tuple[dict[str, Any], tuple[str, ...]]:
    """Return the lists with one entry per token, cut to those of a text, with ``n_end``; and notes.

    Without ``tokens`` nothing can be matched, and the lists are returned as they are; ``n_end`` in them says how many
    of the last tokens are known to have ended the text. Tokens that spell ``hidden``, the reasoning before the text,
    and nothing else are not those of the text, even if it ends with the same words.

    Examples
    --------
    >>> own_tokens("Paris", {"tokens": ("Hm", "Paris", "</s>"), "logprobs": (-1.0, -0.1, -0.2)}, "stop")[0]
    {'tokens': ('Paris', '</s>'), 'logprobs': (-0.1, -0.2), 'n_end': 1}
    >>> own_tokens("Rome", {"tokens": ("Paris",), "logprobs": (-1.0,)}, "stop") == ({}, (NOT_OF_THE_TEXT,))
    True
    """
    tokens = lists.get("tokens")
    if not tokens:
        return dict(lists), ()
    run = aligned(text, tokens, finish=finish, raw=raw, n_end=lists.get("n_end", 0))
    if run is None or (hidden and _are_thought(hidden, tokens, raw, whole=not run.start)):
        return {}, (NOT_OF_THE_TEXT,)
    notes = (HIDDEN,) if run.start else ()
    if run.start == len(tokens):
        return {}, notes
    cut = {name: value[run.start :] if isinstance(value, tuple) else value for name, value in lists.items()}
    return {**cut, "n_end": run.n_end}, notes


def _are_thought(hidden: str, tokens: Sequence[str], raw: Raw, *, whole: bool) -> bool:
    """Whether tokens spell the reasoning and nothing else, or, unless ``whole``, a part of it, as if cut off."""
    thought = aligned(hidden, tokens, finish=_CUT[0], raw=raw)
    if whole or thought is not None:
        return thought is not None and thought.start == 0
    wanted = _bare(hidden.encode(errors="replace"))
    return any(b"".join(pieces) in wanted for pieces in _spellings(tokens, raw))


def aligned(
    text: str, tokens: Sequence[str], *, finish: str | None = None, raw: Raw = None, n_end: int = 0
) -> Run | None:
    r"""Return where the tokens are that spell a text; None if no run of them does.

    Parameters
    ----------
    text
        The answer as it came, blanks included.
    tokens
        As a server spells them: with real blanks or the marks of a tokenizer, characters whole or in pieces.
    finish
        Why the text ended; after "length" only end marks may follow the text, not a stop string.
    raw
        The bytes of each token, where the server gives them.
    n_end
        How many of the last tokens are known to be no part of the text.

    Examples
    --------
    >>> aligned("Paris", ["Let", " me", " think", "</think>", "Paris", "<|im_end|>"])
    Run(start=4, n_end=1)
    >>> aligned("Paris", ["Paris", "\n", "Q", ":"], finish="stop")
    Run(start=0, n_end=3)
    >>> aligned("Paris", ["It", " is", " Paris", "."]) is None
    True
    """
    if tokens and tokens[-1] and not n_end and "".join(tokens) == text:
        return Run(0, 0)
    last = len(tokens) - n_end
    while last and ends_answer(tokens[last - 1]):
        last -= 1
    begins = 1 + max((k for k, token in enumerate(tokens) if _THOUGHT.fullmatch(token)), default=-1)
    wanted, may_stop = _bare(text.encode(errors="replace")), (finish or "").lower() not in _CUT
    for pieces in _spellings(tokens, raw):
        start = _suffix(wanted, pieces, last)
        if start is not None and (wanted or not any(pieces[:last]) or begins == last):
            return _without_blanks(text, tokens, pieces, Run(start, len(tokens) - last))
        for first in sorted({begins, 0}, reverse=True):
            kept = _prefix(wanted, pieces[first:last], may_stop=may_stop)
            if kept is not None:
                return _without_blanks(text, tokens, pieces, Run(first, len(tokens) - first - kept))
    return None


def _spellings(tokens: Sequence[str], raw: Raw) -> Iterator[list[bytes]]:
    """Yield the bytes of every token without blanks, in each way in which tokens may be written."""
    yield [_bare(token.translate(WORD_MARKS).encode(errors="replace")) for token in tokens]
    if raw is not None and all(one is not None for one in raw):
        yield [_bare(one or b"") for one in raw]
    if any(map(_BYTE.fullmatch, tokens)):
        yield [_bare(_of_fallback(token)) for token in tokens]
    if not all(map(str.isascii, tokens)):
        found = [token.translate(_BYTE_LEVEL) for token in tokens]
        if all(not token or max(token) < "\u0100" for token in found):
            yield [_bare(token.encode("latin-1")) for token in found]


def _of_fallback(token: str) -> bytes:
    """Return the byte that SentencePiece writes as ``<0xE2>``, or the bytes of any other token."""
    found = _BYTE.fullmatch(token)
    return bytes([int(found[1], 16)]) if found else token.translate(WORD_MARKS).encode(errors="replace")


def _byte_level() -> dict[int, int]:
    """Return the bytes that the letters of GPT-2's alphabet stand for."""
    shown = [*range(33, 127), *range(161, 173), *range(174, 256)]
    hidden = [byte for byte in range(256) if byte not in shown]
    return {256 + place: byte for place, byte in enumerate(hidden)}


_BYTE_LEVEL = _byte_level()


def _suffix(wanted: bytes, pieces: list[bytes], last: int) -> int | None:
    """Return where the pieces before ``last`` begin that spell what is wanted, and end there."""
    start, size = last, 0
    while size < len(wanted) and start:
        start -= 1
        size += len(pieces[start])
    return start if b"".join(pieces[start:last]) == wanted else None


def _prefix(wanted: bytes, pieces: list[bytes], *, may_stop: bool) -> int | None:
    """Return how many of the first pieces spell what is wanted, if the others can be a stop string."""
    kept = size = 0
    while kept < len(pieces) and size < len(wanted):
        size += len(pieces[kept])
        kept += 1
    rest = len(pieces) - kept
    if may_stop and wanted and rest <= _MOST_STOP and b"".join(pieces[:kept])[: len(wanted)] == wanted:
        return kept
    return len(pieces) if wanted and _spells_roughly(wanted, pieces) else None


def _spells_roughly(wanted: bytes, pieces: list[bytes]) -> bool:
    """Whether pieces spell what is wanted, where a mark of unknown bytes stands for one to three of no ASCII letter."""
    first, *others = _UNKNOWN_RUN.split(b"".join(pieces))
    if not others or not wanted.startswith(first):
        return False
    place = len(first)
    for run, part in zip(others[::2], others[1::2], strict=True):
        fewest = len(run) // len(_UNKNOWN)
        most = place + 3 * fewest
        found = wanted.find(part, place + fewest, most + len(part)) if part else min(most, len(wanted))
        if found < place + fewest or wanted[place:found].translate(None, _ASCII) != wanted[place:found]:
            return False
        place = found + len(part)
    return place == len(wanted)


def _without_blanks(text: str, tokens: Sequence[str], pieces: list[bytes], run: Run) -> Run:
    """Return the run without blank tokens that the text does not have; blanks at the very beginning are its own."""
    start, stop = run.start, len(tokens) - run.n_end
    stop += sum(1 for token in tokens[stop : stop + 1] if token.isspace() and text.endswith(token))
    while start and not pieces[start - 1] and (text[:1].isspace() or not any(pieces[:start])):
        start -= 1
    while 0 < start < stop and not pieces[start] and not text[:1].isspace():
        start += 1
    while stop > start and not pieces[stop - 1] and not (tokens[stop - 1] and text.endswith(tokens[stop - 1])):
        stop -= 1
    return Run(start, len(tokens) - stop)


def _bare(text: bytes) -> bytes:
    return b"".join(text.split())
