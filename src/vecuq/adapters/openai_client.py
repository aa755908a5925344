"""OpenAI's client with a judge behind it: every reply comes with a verdict."""

from __future__ import annotations

from typing import Any, NamedTuple

from vecuq.answers import conversation


class Judged(NamedTuple):
    """A reply as the client returned it, and the verdict on it."""

    reply: Any
    verdict: Any


class JudgedClient:
    """Answers through ``client.chat.completions``, and judges every reply.

    Parameters
    ----------
    client
        An ``openai.OpenAI``, or any client with ``chat.completions.create``.
    judge
        A fitted :class:`vecuq.AnswerPipeline`.
    samples, temperature
        How many more answers to draw for the comparison, and how; as for the answers that the judge was fitted on.
    """

    def __init__(self, client: Any, judge: Any, *, samples: int = 0, temperature: float = 1.0) -> None:
        self.client, self.judge = client, judge
        self._drawn = {"n": samples, "temperature": temperature} if samples else None

    def create(self, **request: Any) -> Judged:
        """Send a request as ``chat.completions.create`` would, and judge the reply."""
        send, question = self.client.chat.completions.create, conversation(request.get("messages"))
        reply = send(**request)
        samples = send(**{**request, **self._drawn}) if self._drawn else ()
        return Judged(reply, self.judge(reply, samples=samples, question=question))
