"""Tokens as other programs write them: log-probabilities, entropies, spelling, and the tokens that end an answer."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from typing import Any

from vecuq._check import one_line
from vecuq.errors import TableError

# Servers write this for a token with a probability near 0; minus infinity is read as this.
LEAST_LOGPROB = -9999.0
# Tokens with which models end an answer, or pad a row of a matrix.
_END = re.compile(r"<\|[^|<>]*\|>|<\uff5c[^<>]*\uff5c>|</s>|<(?:eos|pad|end_of_turn)>|\[(?:EOS|PAD|SEP)\]|")
# How tokenizers write the blank before a word, and the end of a line.
WORD_MARKS = str.maketrans({"\u2581": " ", "\u0120": " ", "\u010a": "\n"})


def logprob(value: Any) -> float:
    """Return a log-probability; anything but a number of at most 0 is an error.

    Examples
    --------
    >>> logprob(-0.5), logprob(float("-inf"))
    (-0.5, -9999.0)
    """
    if type(value) is float and LEAST_LOGPROB <= value <= 0:  # nearly all are
        return value
    if isinstance(value, bool) or not isinstance(value, int | float) or value != value:  # noqa: PLR0124 - NaN
        raise TableError(f"a log-prob must be a number; got {one_line(type(value).__name__)}.")
    if value > 1e-2:
        raise TableError("a log-prob must be at most 0; got a positive number.")
    return float(max(value, LEAST_LOGPROB))


def truncated_entropy(logprobs: Sequence[float], *, renormalise: bool = False) -> float:
    """Return the entropy over the most likely tokens alone; at least 0, NaN for no tokens.

    Without ``renormalise`` it is a lower bound of the entropy over the whole vocabulary; with it, the probabilities
    are divided by their sum first.

    Examples
    --------
    >>> round(truncated_entropy([math.log(0.5), math.log(0.25)]), 4)
    0.6931
    >>> round(truncated_entropy([math.log(0.5), math.log(0.25)], renormalise=True), 4)
    0.6365
    """
    if not logprobs:
        return math.nan
    entropy = -math.fsum(math.exp(logprob) * logprob for logprob in logprobs)
    mass = math.fsum(map(math.exp, logprobs))
    return max(0.0, entropy / mass + math.log(mass) if renormalise and mass > 0 else entropy)


def truncated_certainty(logprobs: Sequence[float]) -> float:
    """Return the divergence of the uniform law from that of the most likely tokens alone, renormalised; at least 0.

    Examples
    --------
    >>> truncated_certainty([math.log(0.25), math.log(0.25)])
    0.0
    >>> round(truncated_certainty([math.log(0.6), math.log(0.15)]), 4)
    0.2231
    """
    below = [logprob - max(logprobs) for logprob in logprobs]  # so that tiny probabilities do not underflow
    log_mass = math.log(math.fsum(map(math.exp, below)))
    return max(0.0, log_mass - math.fsum(below) / len(below) - math.log(len(below)))


def known_of_top(tops: Sequence[Sequence[float]], n_tokens: int, renormalise: bool) -> dict[str, Any]:
    """Return what the k most likely tokens that every step has say of an answer; nothing if a step has fewer than two.

    These are its entropies, margins and certainties. A token whose log-prob is only known to be tiny leaves no
    certainties, which its value would decide.
    """
    k = min(map(len, tops), default=0)
    if k < 2 or len(tops) != n_tokens:
        return {}
    most_likely = [sorted(top, reverse=True)[:k] for top in tops]
    found: dict[str, Any] = {
        "entropies": tuple(round(truncated_entropy(top, renormalise=renormalise), 6) for top in most_likely),
        "entropy_top_k": k,
        "entropy_renormalised": renormalise,
        "margins": tuple(round(min(1.0, math.exp(top[0]) - math.exp(top[1])), 6) for top in most_likely),
    }
    if all(top[-1] > LEAST_LOGPROB for top in most_likely):
        found["certainties"] = tuple(round(truncated_certainty(top), 6) for top in most_likely)
    return found


def spelt(tokens: Sequence[str]) -> tuple[str, ...]:
    """Return tokens with real blanks in place of the marks of tokenizers.

    Examples
    --------
    >>> spelt(["\u2581It", "\u2581is"]), spelt(["It", " is"])
    ((' It', ' is'), ('It', ' is'))
    """
    return tuple(token.translate(WORD_MARKS) for token in tokens)


def spelt_as_in(text: str, tokens: Sequence[str]) -> tuple[str, ...]:
    """Return tokens as the text spells them: a mark that the text has is a letter, as in Maltese, and no mark.

    Examples
    --------
    >>> spelt_as_in("It is", ["It", "\u0120is"]), spelt_as_in("\u0120gantija", ["\u0120", "gantija"])
    (('It', ' is'), ('Ġ', 'gantija'))
    """
    if "".join(tokens).isascii() or text.translate(WORD_MARKS) != text:  # no mark is ASCII, and most tokens are
        return tuple(tokens)
    return spelt(tokens)


def ends_answer(token: str) -> bool:
    """Whether a token is empty, or a mark that is never part of a text: ``</s>``, ``<|im_end|>``, ``<pad>`` ...

    Examples
    --------
    >>> ends_answer("<|im_end|>"), ends_answer(""), ends_answer(" Paris")
    (True, True, False)
    """
    return _END.fullmatch(token.strip()) is not None
