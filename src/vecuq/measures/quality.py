"""Quality of an answer against reference answers, in [0, 1], higher = better; no model and no download is needed.

Each function takes an answer and one reference or several, of which the best counts. A blank answer has quality 0.
Without an answer or without a reference the quality is missing, NaN.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from vecuq._check import Array, in_range, one_line, one_of
from vecuq.compare import WITHOUT_SPACES, normalised, number_in
from vecuq.compare import rouge_l as rouge_l_of_two
from vecuq.errors import SettingError, TableError

_WORD = re.compile(rf"[{WITHOUT_SPACES}]|[^\s{WITHOUT_SPACES}]+")


def exact_match(answer: str | None, references: Any) -> float:
    """1 if the answer equals a reference but for case, punctuation, articles and spaces; else 0.

    The normalisation of SQuAD (Rajpurkar et al., 2016), except that a point between digits stays.

    Examples
    --------
    >>> exact_match("The Eiffel Tower.", ["Eiffel tower", "La tour Eiffel"])
    1.0
    """
    return _best(lambda said, truth: float(normalised(said) == normalised(truth)), answer, references)


def token_f1(answer: str | None, references: Any) -> float:
    """F-measure of the words that the answer shares with a reference, in [0, 1], normalised as for :func:`exact_match`.

    Examples
    --------
    >>> token_f1("in December 1972", "December 1972")
    0.8
    """
    return _best(_shared_words, answer, references)


def rouge_l(answer: str | None, references: Any) -> float:
    """ROUGE-L of the answer and a reference, in [0, 1]; see :func:`vecuq.measures.text.rouge_l`.

    Examples
    --------
    >>> rouge_l("a man in a hat", ["a man wearing a hat", "a woman"])
    0.8
    """
    return _best(rouge_l_of_two, answer, references)


def chrf(answer: str | None, references: Any) -> float:
    """ChrF of the answer and a reference, in [0, 1]: F-measure of character n-grams, recall with double weight.

    Popovic, chrF (WMT 2015), as the package sacrebleu computes it for one sentence, divided by 100.

    Examples
    --------
    >>> round(chrf("a man in a hat", "a man with a hat"), 6)
    0.331879
    """
    metric = _chrf_metric()
    return _best(lambda said, truth: float(metric.sentence_score(said, [truth]).score) / 100.0, answer, references)


def numeric_match(answer: str | None, references: Any, *, tolerance: float = 1e-6, take: str = "last") -> float:
    """1 if a number in the answer equals a reference, within ``tolerance`` relative to it; else 0.

    References are numbers, or texts with one. ``take`` chooses the number of a text that counts: the ``"last"``, where
    models put their result, or the ``"first"``. ``1,234.5``, ``-3``, ``2e5`` and ``1/2`` are numbers.

    Examples
    --------
    >>> numeric_match("76 - 25 = 51 dollars", 51.0), numeric_match("No idea.", 51.0)
    (1.0, 0.0)
    """
    in_range("tolerance", tolerance, 0.0)
    said, truths = _numbers(answer, references, take)
    if answer is None or not truths:
        return math.nan
    return float(any(abs(said - truth) <= tolerance * max(1.0, abs(truth)) for truth in truths))


def numeric_closeness(answer: str | None, references: Any, *, take: str = "last") -> float:
    """How near a number in the answer is to a reference, ``1 - |said - truth| / max(1, |truth|)``, at least 0.

    A graded :func:`numeric_match`: 1 for the right number, 0 for no number or an error as large as the reference.

    Examples
    --------
    >>> numeric_closeness("76 - 25 = 41", 51.0), numeric_closeness("No idea.", 51.0)
    (0.803921568627451, 0.0)
    """
    said, truths = _numbers(answer, references, take)
    if answer is None or not truths:
        return math.nan
    if math.isnan(said):
        return 0.0
    return max(0.0, *(1.0 - abs(said - truth) / max(1.0, abs(truth)) for truth in truths))


QUALITIES: dict[str, Callable[[str | None, Any], float]] = {
    "exact_match": exact_match,
    "numeric_match": numeric_match,
    "numeric_closeness": numeric_closeness,
    "token_f1": token_f1,
    "rouge_l": rouge_l,
    "chrf": chrf,
}


def measure_quality(kind: str, answers: Sequence[str | None], references: Sequence[Any]) -> Array:
    """Return the quality of many answers, (answers,), each against its own reference or references.

    Examples
    --------
    >>> measure_quality("exact_match", ["Paris", "Lyon"], [["paris"], ["Nice", "Lyon"]])
    array([1., 1.])
    """
    measure = QUALITIES[one_of("quality", kind, tuple(QUALITIES))]
    if len(answers) != len(references):
        raise TableError(f"There must be as many references as answers; there are {len(references)}, {len(answers)}.")
    return np.array([measure(said, truths) for said, truths in zip(answers, references, strict=True)], dtype=float)


def _best(compare: Callable[[str, str], float], answer: str | None, references: Any) -> float:
    """Return the best comparison with a reference that is not blank."""
    truths = [text for one in _listed(references) if (text := str(one)).strip()]
    if answer is not None and not isinstance(answer, str):
        raise TableError(
            f"An answer must be a text, or None where there is none; got {one_line(repr(answer), most=40)}."
        )
    if answer is None or not truths:
        return math.nan
    return max(compare(answer, truth) for truth in truths) if answer.strip() else 0.0


def _listed(references: Any) -> list[Any]:
    """Return references as a list; one may come without a list, and None is left out."""
    many = isinstance(references, Iterable) and not isinstance(references, str)
    return [one for one in (references if many else [references]) if one is not None]


def _shared_words(said: str, truth: str) -> float:
    left, right = Counter(_WORD.findall(normalised(said))), Counter(_WORD.findall(normalised(truth)))
    return 2.0 * (left & right).total() / (left.total() + right.total())


def _numbers(answer: str | None, references: Any, take: str) -> tuple[float, list[float]]:
    """Return the number of the answer, NaN for none, and those of the references."""
    one_of("take", take, ("first", "last"))
    truths = [number for one in _listed(references) if not math.isnan(number := _number(one, take))]
    return math.nan if answer is None else _number(answer, take), truths


def _number(given: Any, take: str) -> float:
    """Return a number as it is, or the first or last one of a text; NaN where there is none."""
    if isinstance(given, int | float | np.integer | np.floating):
        return float(given) if math.isfinite(given) else math.nan
    return number_in(str(given), take)


def _chrf_metric() -> Any:
    try:
        from sacrebleu.metrics.chrf import CHRF
    except ImportError:
        raise SettingError("chrF needs the package sacrebleu. Install it: pip install 'vecuq[text]'.") from None
    return CHRF()
