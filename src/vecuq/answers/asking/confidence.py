"""How sure a model is of its own answer, by asking it: P(True), a percentage, or an expression.

P(True) follows Kadavath et al. (2022), "Language Models (Mostly) Know What They Know": the model sees the question and
the proposed answer, and chooses between True and False. p is the probability of True among these two.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, NamedTuple

from vecuq.answers.asking.plan import Answerer, Plan, RefusedQuestionError
from vecuq.answers.asking.questions import Question
from vecuq.answers.confidence_words import CONFIDENCE_WORDS
from vecuq.errors import SettingError

_P_TRUE = "Is the proposed answer\n(A) True\n(B) False\nReply with A or B only.\nThe proposed answer is: ("
_VERBALISED = (
    "How likely is it that the proposed answer is right? Reply with one number from 0% to 100%, and nothing else.\n"
    "Probability:"
)
_LINGUISTIC = (
    "How likely is it that the proposed answer is right? Reply with one of these expressions, and nothing else: "
    f"{', '.join(CONFIDENCE_WORDS)}.\nExpression:"
)
_TRUE, _FALSE = {"a", "true"}, {"b", "false"}
# Room for a reply in words.
_LEAST_TOKENS = 16
_THOUGHTS = re.compile(r"\A\s*<think>.*?</think>", re.DOTALL)
_PERCENT = re.compile(r"(?:[a-z ]{1,20}[:=]\s*)?(\d{1,3}(?:\.\d{1,6})?)\s*(%|percent)?\.?", re.IGNORECASE | re.ASCII)


class Confidence(NamedTuple):
    """What a model said of its answer, by the names of :class:`AnswerRecord`, and why something is missing."""

    fields: dict[str, float | str]
    missing: dict[str, str]


def confidence_of(answerer: Answerer, question: Question, answer: str, plan: Plan) -> Confidence:
    """Ask how sure the model is that ``answer`` is right, in the ways of ``plan.confidence``."""
    found, missing = dict[str, float | str](), dict[str, str]()
    for kind in plan.confidence:
        name, ask = _KINDS[kind]
        value = _tried(ask, answerer, _shown(question, answer), plan) if answer.strip() else "the answer is empty"
        if isinstance(value, _Found):
            found[name] = value.value
        else:
            missing[kind] = value
    return Confidence(found, missing)


def _tried(ask: Callable[..., _Found | str], *about: Any) -> _Found | str:
    """Ask, and return the reason where the model refuses: the answer itself is there, and stays."""
    try:
        return ask(*about)
    except RefusedQuestionError as refused:
        return f"it was refused: {refused.words}"


def refuse_unaskable(answerer: Answerer, plan: Plan) -> None:
    """Raise now if P(True) is wanted of a model that does not report the probabilities it needs."""
    if "p_true" not in plan.confidence:
        return
    if not hasattr(answerer, "first_tokens"):
        raise SettingError(f"confidence='p_true' needs log-probs of first tokens, which {answerer.name} does not give.")
    if getattr(answerer, "settings", {}).get("top_logprobs", 2) < 2:
        raise SettingError("confidence='p_true' needs `top_logprobs` of at least 2.")


class _Found(NamedTuple):
    """A value that could be read."""

    value: float | str


def _shown(question: Question, answer: str) -> Question:
    """Return the question and its answer as the beginning of another question."""
    return Question(question.id, f"Question: {question.text}\nProposed answer: {answer}\n")


def _follow_up(plan: Plan, max_tokens: int) -> Plan:
    """Return how to ask about an answer: as the question was, without its prompt, and once."""
    once = replace(plan, samples=0 if plan.greedy else 1, max_tokens=max_tokens, confidence=())
    return replace(once, template="{question}", system=None, stop=())


def _p_true(answerer: Any, shown: Question, plan: Plan) -> _Found | str:
    tops = answerer.first_tokens(replace(shown, text=shown.text + _P_TRUE), _follow_up(plan, 1))
    if not tops:
        return "no log-probs of the first token"
    value = p_true_of(tops)
    return "neither True nor False is among the most likely tokens" if value is None else _Found(value)


def p_true_of(tops: Mapping[str, float]) -> float | None:
    """Return the probability of True among True and False, from log-probs of tokens; None if neither is there.

    Examples
    --------
    >>> p_true_of({"A": math.log(0.6), " True": math.log(0.15), "B": math.log(0.25)})
    0.75
    """
    mass = {True: 0.0, False: 0.0}
    for token, logprob in tops.items():
        word = token.strip().strip("().*").lower()
        if word in _TRUE | _FALSE:
            mass[word in _TRUE] += math.exp(min(logprob, 0.0))
    total = mass[True] + mass[False]
    return round(mass[True] / total, 6) if total > 0 else None


def _said(answerer: Answerer, shown: Question, plan: Plan, request: str) -> str:
    how = _follow_up(plan, max(_LEAST_TOKENS, plan.max_tokens))
    greedy, samples = answerer.answer(replace(shown, text=shown.text + request), how)
    answer = greedy or samples[0]
    return _THOUGHTS.sub("", answer.text or "").strip().strip("*`\"'").strip()


def _verbalised(answerer: Answerer, shown: Question, plan: Plan) -> _Found | str:
    value = percentage(_said(answerer, shown, plan, _VERBALISED))
    return "the reply is no percentage" if value is None else _Found(value)


def percentage(text: str) -> float | None:
    """Return the probability that a reply states; None where it is anything but one number that can mean one thing.

    Examples
    --------
    >>> percentage("85%"), percentage("0.7"), percentage("70 to 80%"), percentage("1")
    (0.85, 0.7, None, None)
    """
    found = _PERCENT.fullmatch(text.strip())
    if not found:
        return None
    value, has_unit = float(found[1]), found[2] is not None
    if not has_unit and 0 < value <= 1:
        # 0.7 can only be a share; 1 may be one percent, or all.
        return value if value < 1 else None
    return round(value / 100, 9) if value <= 100 else None


def _linguistic(answerer: Answerer, shown: Question, plan: Plan) -> _Found | str:
    words = expression(_said(answerer, shown, plan, _LINGUISTIC))
    return "the reply is none of the expressions" if words is None else _Found(words)


def expression(text: str) -> str | None:
    """Return the expression that a reply is; None if it is none of the list.

    Examples
    --------
    >>> expression("Highly likely."), expression("It is likely, I think")
    ('highly likely', None)
    """
    words = " ".join(text.lower().removeprefix("expression:").strip(" .!\n").split())
    return words if words in CONFIDENCE_WORDS else None


_KINDS: dict[str, tuple[str, Callable[[Any, Question, Plan], _Found | str]]] = {
    "p_true": ("p_true", _p_true),
    "verbalised": ("confidence", _verbalised),
    "linguistic": ("confidence_words", _linguistic),
}
