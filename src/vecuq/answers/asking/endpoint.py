"""Any OpenAI-compatible endpoint: a server of your own, or somebody else's."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pydantic import ValidationError

from vecuq._check import one_line, whole_number
from vecuq.answers.asking.plan import Plan
from vecuq.answers.asking.questions import Question
from vecuq.answers.asking.refusal import RefusedQuestionError
from vecuq.answers.asking.sending import RejectedError, Sender
from vecuq.answers.openai import answer_of_choice
from vecuq.answers.schema import Answer
from vecuq.errors import SettingError, VecuqError


class Endpoint:
    """A server that speaks OpenAI's protocol. Entropies run over the likeliest tokens that it tells.

    Parameters
    ----------
    url
        Where the protocol begins, such as ``http://localhost:8080/v1``.
    model
        The model's name there.
    api_key
        Sent as a bearer token; written nowhere.
    top_logprobs
        How many of the likeliest tokens are asked for at every step; 0 asks for no log-probs at all.
    renormalise
        Whether the probabilities of these tokens are made to sum to 1 before entropies are taken.
    timeout
        Seconds of silence until a request counts as lost.
    tries
        How often a request is made in all if the server is busy, away, or breaks off.
    on_retry
        Told why another try is made, and when.
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
            raise SettingError(f"To renormalise takes at least 2 likeliest tokens; top_logprobs is {top_logprobs}.")
        self.name = model
        self.settings = {"top_logprobs": top_logprobs, "renormalise": renormalise}
        self._top, self._renormalise = top_logprobs, renormalise
        self._sender = Sender(url, key=api_key, timeout=timeout, tries=tries, on_retry=on_retry)
        self._many = True

    def answer(self, question: Question, plan: Plan) -> tuple[Answer, list[Answer]]:
        """Return the greedy answer and the samples, these by as few requests as the server allows."""
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
            drawn = {"temperature": plan.temperature, "seed": seeds[len(samples)]}
            samples += self._several(prompt, plan, left, drawn)[:left]
        return samples

    def _several(self, prompt: str, plan: Plan, wanted: int, drawn: dict[str, Any]) -> list[Answer]:
        """Ask for several choices at once; a server that gives one, but not several, is asked for one from then on."""
        if not self._many or wanted == 1:
            return self._choices(prompt, plan, **drawn)
        try:
            return self._choices(prompt, plan, n=wanted, **drawn)
        except RejectedError:
            alone = self._choices(prompt, plan, **drawn)
            self._many = False
            return alone

    def _choices(self, prompt: str, plan: Plan, **drawn: Any) -> list[Answer]:
        shape = self._raw(prompt, plan) if plan.raw else self._chat(prompt, plan)
        stop = {"stop": list(plan.stop)} if plan.stop else {}
        body = {"model": self.name, "max_tokens": plan.max_tokens, **stop, **shape, **drawn}
        return self._answers(self._sender.post("completions" if plan.raw else "chat/completions", body))

    def _answers(self, reply: dict[str, Any]) -> list[Answer]:
        choices = reply.get("choices")
        if not isinstance(choices, list) or not choices:
            raise RejectedError(f"{self._sender.place} returned no choices; is it an OpenAI-compatible endpoint?")
        try:
            return [answer_of_choice(choice, renormalise=self._renormalise) for choice in choices]
        except (VecuqError, ValidationError) as error:
            raise RejectedError(
                f"{self._sender.place} returned what no such server should: {one_line(error)}"
            ) from None

    def _chat(self, prompt: str, plan: Plan) -> dict[str, Any]:
        told = [{"role": "system", "content": plan.system}] if plan.system else []
        asked = {"logprobs": True, "top_logprobs": self._top} if self._top else {}
        return {"messages": [*told, {"role": "user", "content": prompt}], **asked}

    def _raw(self, prompt: str, plan: Plan) -> dict[str, Any]:
        asked = {"logprobs": self._top} if self._top else {}
        return {"prompt": f"{plan.system}\n{prompt}" if plan.system else prompt, **asked}
