"""How to ask: what the prompt looks like, how long answers may be, how many are drawn."""

from __future__ import annotations

import re
from dataclasses import asdict, dataclass
from typing import Any, Protocol
from zlib import crc32

import numpy as np

from vecuq._check import in_range, whole_number
from vecuq.answers.asking.questions import Question
from vecuq.answers.schema import Answer
from vecuq.errors import SettingError

_PLACEHOLDER = re.compile(r"\{(\w+)\}")


@dataclass(frozen=True)
class Plan:
    r"""The settings of one run; answers made with different ones do not belong into one file.

    Parameters
    ----------
    samples
        How many answers are drawn at random besides the greedy one.
    temperature
        What logits are divided by before drawing. Log-probs and entropies are those at temperature 1.
    max_tokens
        The most tokens of one answer.
    stop
        Texts at which an answer ends; they do not become part of it.
    seed
        Makes the draws repeatable: the same seed, question and model give the same answers, in any order.
    template
        The prompt, with ``{question}`` where the question goes and ``{name}`` for other fields of its line.
    system
        What the model is told before the question, or None.
    raw
        True sends the prompt as it is, for few-shot prompts and base models; False wraps it in the model's chat
        format; None does so where the model has one.

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
    seed: int = 0
    template: str = "{question}"
    system: str | None = None
    raw: bool | None = None

    def __post_init__(self) -> None:
        whole_number("samples", self.samples, 0)
        whole_number("max_tokens", self.max_tokens, 1)
        whole_number("seed", self.seed, 0)
        in_range("temperature", self.temperature, 0.0, ends="()")
        if "{question}" not in self.template:
            raise SettingError("The template must hold {question}, where the question goes.")
        if "" in self.stop:
            raise SettingError("A stop text must not be empty: every answer would end at once.")

    def fill(self, question: Question) -> str:
        """Return the prompt of a question; braces that name no field of it stay as they are."""
        fields = {**question.meta, "question": question.text}
        return _PLACEHOLDER.sub(lambda found: str(fields.get(found[1], found[0])), self.template)

    def head(self) -> str:
        """Return the part of every prompt that comes before the first field, the same for all questions."""
        return _PLACEHOLDER.split(self.template, maxsplit=1)[0]

    def draws(self, question: Question) -> list[np.random.Generator]:
        """Return one source of random numbers per sample; it depends on seed, question and sample alone."""
        name = crc32(question.id.encode())
        return [np.random.default_rng([self.seed, name, sample]) for sample in range(self.samples)]

    def as_settings(self) -> dict[str, Any]:
        """Return what is written beside the answers; the prompt as a checksum, for it may be long."""
        prompt = f"{self.template}\0{self.system}\0{self.raw}"
        kept = {name: value for name, value in asdict(self).items() if name not in {"template", "system", "raw"}}
        return {**kept, "stop": list(self.stop), "prompt": f"{crc32(prompt.encode()):08x}"}


class Answerer(Protocol):
    """Whatever can answer a question: a local model, an endpoint, or something of your own.

    It may have ``settings``, by name, which belong to its answers as those of the plan do.
    """

    name: str

    def answer(self, question: Question, plan: Plan) -> tuple[Answer, list[Answer]]:
        """Return the greedy answer and the samples; raise RefusedQuestionError for a question it does not take."""
        ...
