"""How sure the model itself says it is: P(True), a number, or words. All are one minus that, in [0, 1]."""

from __future__ import annotations

import re
from typing import Any

from vecuq.answers import CONFIDENCE_WORDS
from vecuq.compare import MISSING, similarities

# Words around an expression that do not change it: "It is highly likely that my answer is correct."
_FRAME = re.compile(
    r"\b(?:a|am|an|answer|be|confidence|correct|guess|i|is|it|its|level|my|of|right|s|that|the|there|this|to|true|we)\b"
    r"|[^\w\s]"
)


def p_true(probability: Any) -> float:
    """One minus the probability of "true" that the model gives its own answer, in [0, 1]; NaN without one.

    Kadavath et al., Language Models (Mostly) Know What They Know (2022). One minus ``p_true`` of uqlm; lm-polygraph
    returns minus its logarithm, the same order.

    Examples
    --------
    >>> p_true(0.75)
    0.25
    """
    return _one_minus(probability)


def verbalised_confidence(confidence: Any) -> float:
    """One minus the confidence that the model states as a number, in [0, 1]; NaN without one.

    Tian et al., Just Ask for Calibration (EMNLP 2023).

    Examples
    --------
    >>> verbalised_confidence(0.75)
    0.25
    """
    return _one_minus(confidence)


def linguistic_confidence(words: str | None) -> float:
    """One minus the probability that the model's words of confidence stand for, in [0, 1]; NaN for unknown words.

    ``CONFIDENCE_WORDS`` has the expressions, with the median of what readers take them for. The words must be one of
    these, whatever its case, perhaps in a sentence such as "It is highly likely that my answer is correct.": nothing is
    guessed from "not likely" or "likely wrong". Tian et al., Just Ask for Calibration (EMNLP 2023), Ling. 1S.

    Examples
    --------
    >>> round(linguistic_confidence("Highly likely."), 6), linguistic_confidence("not likely")
    (0.1, nan)
    """
    return _one_minus(_MEANING.get(_bare(words or "")))


def _one_minus(probability: Any) -> float:
    return MISSING if probability is None else float(1.0 - similarities(probability))


def _bare(words: str) -> str:
    return " ".join(_FRAME.sub(" ", words.lower()).split())


_MEANING = {_bare(words): probability for words, probability in CONFIDENCE_WORDS.items()}
