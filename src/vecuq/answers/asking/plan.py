"""How questions are put to a model: the prompt, the number of samples, and the random draws."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Protocol
from zlib import crc32

import numpy as np

from vecuq._check import in_range, whole_number
from vecuq.answers.asking.messages import Message, with_system
from vecuq.answers.asking.questions import Question
from vecuq.answers.schema import Answer
from vecuq.errors import SettingError, VecuqError

CONFIDENCES = ("p_true", "verbalised", "linguistic")
_PLACEHOLDER = re.compile(r"\{(\w+)\}")


class RefusedQuestionError(VecuqError):
    """The model or its server rejects this one question: it is too long, or a filter blocks it.

    Parameters
    ----------
    name
        The question's id.
    words
        The reason, in the words of the model or server.

    Examples
    --------
    >>> print(RefusedQuestionError("q2", "too long."))
    Question 'q2' was refused: too long.
    """

    def __init__(self, name: str, words: str) -> None:
        super().__init__(f"Question {name!r} was refused: {words}")
        self.words = words


@dataclass(frozen=True)
class Plan:
    r"""The settings of one run; answers made with different settings do not go into one file.

    Parameters
    ----------
    samples
        Number of answers drawn at random besides the greedy one.
    temperature
        Logits are divided by it before drawing. Log-probs and entropies are those at temperature 1.
    max_tokens
        Largest number of tokens of one answer.
    stop
        Texts that end an answer; they are not part of it.
    random_state
        A whole number, at least 0. The same number, question and model give the same answers, in any order.
    template
        The prompt, with ``{question}`` for the question and ``{name}`` for other fields of its line.
    system
        The system message before the question, or None.
    raw
        True sends the prompt as it is, for few-shot prompts and base models; False and None use the
        chat format of the server.
    greedy
        Whether to ask for a greedy answer; some models have no temperature 0.
    confidence
        What to ask about the answer afterwards: ``"p_true"``, ``"verbalised"``, ``"linguistic"``.

    Examples
    --------
    >>> plan = Plan(template="Q: {question}\nA:", stop=("\n",), raw=True)
    >>> plan.fill(Question(id="1", text="Who wrote Faust?"))
    'Q: Who wrote Faust?\nA:'
    """

    samples: int = 10
    temperature: float = 1.0
    max_tokens: int = 64
    stop: tuple[str, ...] = ()
    random_state: int = 0
    template: str = "{question}"
    system: str | None = None
    raw: bool | None = None
    greedy: bool = True
    confidence: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        whole_number("samples", self.samples, 0 if self.greedy else 1)
        whole_number("max_tokens", self.max_tokens, 1)
        whole_number("random_state", self.random_state, 0)
        in_range("temperature", self.temperature, 0.0, ends="()")
        if "{question}" not in self.template:
            raise SettingError("template must contain {question}, where the question goes.")
        for name, texts in {"template": [self.template], "system": [self.system or ""], "stop": self.stop}.items():
            _refuse_unwritable(name, texts)
        unknown = [kind for kind in self.confidence if kind not in CONFIDENCES]
        if unknown:
            raise SettingError(f"confidence must be some of {', '.join(CONFIDENCES)}; got {', '.join(unknown)}.")
        if "" in self.stop:
            raise SettingError("stop must not contain an empty text: every answer would end at once.")

    def fill(self, question: Question) -> str:
        """Return the prompt of a question; braces without a field of that name stay as they are."""
        fields = {**question.meta, "question": question.text}
        return _PLACEHOLDER.sub(lambda found: str(fields.get(found[1], found[0])), self.template)

    def messages(self, question: Question) -> list[Message]:
        """Return what is sent to a chat model: the prompt or the messages of the question, after the system message."""
        asked = question.messages or [{"role": "user", "content": self.fill(question)}]
        return with_system(asked, self.system)

    def draws(self, question: Question) -> list[np.random.Generator]:
        """Return one random generator per sample; it depends on random_state, question and sample only."""
        name = crc32(question.id.encode())
        return [np.random.default_rng([self.random_state, name, sample]) for sample in range(self.samples)]

    def as_settings(self) -> dict[str, Any]:
        """Return what is written beside the answers; the prompt as a checksum, since it may be long."""
        prompt = f"{self.template}\0{self.system}\0{self.raw}"
        return {
            "samples": self.samples,
            "temperature": self.temperature,
            "max_tokens": self.max_tokens,
            "stop": list(self.stop),
            "seed": self.random_state,
            "prompt": f"{crc32(prompt.encode()):08x}",
            # Only where they differ from before there was a choice, so that older files can be continued.
            **({} if self.greedy else {"greedy": False}),
            **({"confidence": list(self.confidence)} if self.confidence else {}),
        }


def _refuse_unwritable(name: str, texts: Iterable[str]) -> None:
    try:
        "".join(texts).encode()
    except UnicodeEncodeError:
        raise SettingError(f"{name} must be valid text; it has bytes that are no UTF-8.") from None


class Answerer(Protocol):
    """What can answer a question: an endpoint, or an object of your own.

    It may have ``settings``, a mapping that is written beside its answers as the settings of the plan are;
    ``first_tokens(question, plan)``, the log-probabilities of the most likely first tokens by their text, for P(True);
    ``usage``, the tokens so far; and ``n_slow_downs``, how often it was asked for fewer requests.
    """

    name: str

    def answer(self, question: Question, plan: Plan) -> tuple[Answer | None, list[Answer]]:
        """Return the greedy answer (None without ``plan.greedy``) and the samples.

        Raise RefusedQuestionError for a question that is rejected.
        """
        ...
