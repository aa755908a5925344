"""Models behind an OpenAI-compatible endpoint: embeddings, and a language model that judges two texts."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any

from vecuq._check import one_line
from vecuq.answers import RejectedError, Sender
from vecuq.compare.thinking import without_thinking
from vecuq.errors import TableError

_BATCH = 128
_FIRST_WORD = re.compile(r"\W*([^\W\d_]+)")
_SAME = """Question: {question}

Answer 1: {one}

Answer 2: {other}

Do the two answers mean the same as an answer to the question? Reply with one word: yes or no."""
_SAME_TEXTS = """Text 1: {one}

Text 2: {other}

Do the two texts mean the same? Reply with one word: yes or no."""
_ENTAILS = """Premise: {premise}

Hypothesis: {hypothesis}

Does the premise entail the hypothesis, contradict it, or neither? Reply with one word: entailment, contradiction or
neutral."""


class _Endpoint:
    """An address and a model there. The connection is made on first use, in the process that uses it."""

    def __init__(self, url: str, model: str, *, api_key: str | None = None, **sending: Any) -> None:
        self.model, self._made = model, (url, {"api_key": api_key, **sending})
        self._sender: Sender | None = Sender(url, **self._made[1])  # a wrong address is an error at once
        self.name = f"{model} at {self._sender.place}"

    @property
    def sender(self) -> Sender:
        """What sends requests."""
        if self._sender is None:
            self._sender = Sender(self._made[0], **self._made[1])
        return self._sender

    def __getstate__(self) -> dict[str, Any]:
        url, sending = self._made
        return {**vars(self), "_sender": None, "_made": (url, {k: v for k, v in sending.items() if k != "on_retry"})}


class EndpointEmbedding(_Endpoint):
    """Embeddings of texts from an OpenAI-compatible endpoint.

    Parameters
    ----------
    url, model, api_key
        As for :class:`vecuq.answers.Endpoint`; also ``timeout``, ``tries`` and ``on_retry``.
    """

    def __call__(self, texts: Sequence[str]) -> list[list[float]]:
        """Return one vector per text."""
        found: list[list[float]] = []
        for start in range(0, len(texts), _BATCH):
            some = list(texts[start : start + _BATCH])
            reply = self.sender.post("embeddings", {"model": self.model, "input": some})
            found += self._vectors(reply.get("data"), len(some))
        return found

    def _vectors(self, data: Any, wanted: int) -> list[list[float]]:
        try:
            order = sorted(data, key=lambda one: int(one.get("index", 0)))
            found = [[float(value) for value in one["embedding"]] for one in order]
        except (AttributeError, KeyError, TypeError, ValueError):
            found = []
        if len(found) != wanted or len({len(one) for one in found}) != 1:
            raise TableError(f"{self.name} must return one embedding per text: {wanted} were needed, got {len(found)}.")
        return found


class _Asked(_Endpoint):
    """A language model that replies with one word."""

    def _word(self, prompt: str, words: Sequence[str]) -> str:
        said = self._said(prompt)
        found = _FIRST_WORD.match(without_thinking(said))
        if found is None or found[1].lower() not in words:
            raise TableError(f"{self.name} must reply with one of {list(words)}; it said {one_line(said, most=60)!r}.")
        return found[1].lower()

    def _said(self, prompt: str) -> str:
        body = {"model": self.model, "messages": [{"role": "user", "content": prompt}]}
        try:
            reply = self.sender.post("chat/completions", {**body, "temperature": 0})
        except RejectedError:  # some models refuse a temperature; what is wrong otherwise is refused again
            reply = self.sender.post("chat/completions", body)
        try:
            message = reply["choices"][0]["message"]
            refusal, said = message.get("refusal"), message.get("content")
        except (AttributeError, IndexError, KeyError, TypeError):
            refusal = said = None
        if refusal:
            raise TableError(f"{self.name} refused to compare two texts: {one_line(refusal, most=80)!r}.")
        if not isinstance(said, str):
            raise TableError(f"{self.name} returned no text; is it an OpenAI-compatible endpoint?")
        return said


class EndpointJudge(_Asked):
    """A language model that is asked whether two answers mean the same; for its parameters see EndpointEmbedding."""

    def __call__(self, asked: Sequence[tuple[str, str, str]]) -> list[float]:
        """Return 1 or 0 per (question, one answer, another): whether the reply is yes."""
        return [float(self._word(_same(*one), ("yes", "no")) == "yes") for one in asked]


class EndpointNLI(_Asked):
    """A language model that is asked for entailment; for its parameters see EndpointEmbedding."""

    def __call__(self, pairs: Sequence[tuple[str, str]]) -> list[list[float]]:
        """Return contradiction, neutral, entailment per (premise, hypothesis): 1 for the reply and 0 for the others."""
        words = ("contradiction", "neutral", "entailment")
        said = [self._word(_ENTAILS.format(premise=one, hypothesis=other), words) for one, other in pairs]
        return [[float(word == each) for each in words] for word in said]


def _same(question: str, one: str, other: str) -> str:
    filled: Callable[..., str] = _SAME.format if question else _SAME_TEXTS.format
    return filled(question=question, one=one, other=other) if question else filled(one=one, other=other)
