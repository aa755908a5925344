"""Any OpenAI-compatible endpoint: your own server, or a provider's."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from vecuq._check import one_line, whole_number
from vecuq.answers.asking.plan import Plan, RefusedQuestionError
from vecuq.answers.asking.questions import Question
from vecuq.answers.asking.sending import RejectedError, Sender
from vecuq.answers.readers.openai import answer_of_choice
from vecuq.answers.schema import Answer
from vecuq.errors import SettingError, TableError


class Endpoint:
    """An OpenAI-compatible server. Entropies run over the most likely tokens that it returns.

    Parameters
    ----------
    url
        The address before the paths of the protocol, such as ``http://localhost:8080/v1``.
    model
        The model's name there.
    api_key
        Sent as a bearer token; never written or repeated in a message. Over plain ``http`` to another machine, a
        warning.
    top_logprobs
        How many of the most likely tokens to request at every step; 0 requests no log-probs at all.
    renormalise
        Whether the probabilities of these tokens are divided by their sum before entropies are computed.
    timeout
        Most seconds for one request, from connecting to the last byte of the reply.
    tries
        How often a request is sent in all if the server is busy, away, or closes the connection.
    on_retry
        Called with a message before another try: why, and when.
    """

    def __init__(
        self,
        url: str,
        model: str,
        *,
        api_key: str | None = None,
        top_logprobs: int = 20,
        renormalise: bool = False,
        timeout: float = 300.0,
        tries: int = 5,
        on_retry: Callable[[str], None] | None = None,
    ) -> None:
        whole_number("top_logprobs", top_logprobs, 0)
        if renormalise and top_logprobs < 2:
            raise SettingError(f"`renormalise` needs `top_logprobs` of at least 2; got {top_logprobs}.")
        self.name = model
        self.settings = {"top_logprobs": top_logprobs, "renormalise": renormalise}
        self._top, self._renormalise = top_logprobs, renormalise
        self._sender = Sender(url, api_key=api_key, timeout=timeout, tries=tries, on_retry=on_retry)
        self._many = True

    def answer(self, question: Question, plan: Plan) -> tuple[Answer, list[Answer]]:
        """Return the greedy answer and the samples, with as few requests as the server allows."""
        prompt = plan.fill(question)
        try:
            return self._choices(prompt, plan, temperature=0.0)[0], self._samples(prompt, question, plan)
        except RejectedError as error:
            raise RefusedQuestionError(question.id, str(error)) from None

    def _samples(self, prompt: str, question: Question, plan: Plan) -> list[Answer]:
        samples: list[Answer] = []
        seeds = [int(random.integers(2**31)) for random in plan.draws(question)]
        while len(samples) < plan.samples:
            left = plan.samples - len(samples)
            how = {"temperature": plan.temperature, "seed": seeds[len(samples)]}
            samples += self._several(prompt, plan, left, how)[:left]
        return samples

    def _several(self, prompt: str, plan: Plan, wanted: int, how: dict[str, Any]) -> list[Answer]:
        """Request several choices at once; from a server that gives only one, one at a time from then on."""
        if not self._many or wanted == 1:
            return self._choices(prompt, plan, **how)
        try:
            return self._choices(prompt, plan, n=wanted, **how)
        except RejectedError:
            alone = self._choices(prompt, plan, **how)
            self._many = False
            return alone

    def _choices(self, prompt: str, plan: Plan, **how: Any) -> list[Answer]:
        shape = self._raw(prompt, plan) if plan.raw else self._chat(prompt, plan)
        stop = {"stop": list(plan.stop)} if plan.stop else {}
        body = {"model": self.name, "max_tokens": plan.max_tokens, **stop, **shape, **how}
        return self._answers(self._sender.post("completions" if plan.raw else "chat/completions", body))

    def _answers(self, reply: dict[str, Any]) -> list[Answer]:
        choices = reply.get("choices")
        if not isinstance(choices, list) or not choices:
            raise RejectedError(f"{self._sender.place} returned no choices; is it an OpenAI-compatible endpoint?")
        try:
            return [self._checked(answer_of_choice(choice, renormalise=self._renormalise)) for choice in choices]
        except ValueError as error:  # also of pydantic, and of letters that cannot be written
            why = one_line(self._sender.key.hidden_in(str(error)))
            raise RejectedError(f"{self._sender.place} returned a reply that cannot be read: {why}") from None

    def _checked(self, answer: Answer) -> Answer:
        """Return an answer that may be written to a file."""
        texts = (answer.text or "", answer.finish or "", "".join(answer.tokens or ()))
        for text in texts:
            text.encode()  # half of a surrogate pair is an error
        if any(map(self._sender.key.is_in, texts)):
            raise TableError("an answer repeats the key.")
        return answer

    def _chat(self, prompt: str, plan: Plan) -> dict[str, Any]:
        system = [{"role": "system", "content": plan.system}] if plan.system else []
        logprobs = {"logprobs": True, "top_logprobs": self._top} if self._top else {}
        return {"messages": [*system, {"role": "user", "content": prompt}], **logprobs}

    def _raw(self, prompt: str, plan: Plan) -> dict[str, Any]:
        logprobs = {"logprobs": self._top} if self._top else {}
        return {"prompt": f"{plan.system}\n{prompt}" if plan.system else prompt, **logprobs}
