"""Any OpenAI-compatible endpoint: your own server, or a provider's."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from threading import Lock
from typing import Any

from vecuq._check import one_line, whole_number
from vecuq.answers.alignment import NOT_OF_THE_TEXT
from vecuq.answers.asking.dialect import Dialect, hint_for, refused_option
from vecuq.answers.asking.plan import Plan, RefusedQuestionError
from vecuq.answers.asking.questions import Question
from vecuq.answers.asking.refusals import RejectedError
from vecuq.answers.asking.requests import checked_extra, first_tops, refuse_unwritable, request_for
from vecuq.answers.asking.sending import Sender
from vecuq.answers.asking.usage import Usage
from vecuq.answers.readers.openai import said_by
from vecuq.answers.schema import Answer
from vecuq.errors import SettingError, VecuqError


class Endpoint:
    """An OpenAI-compatible server. Entropies run over the most likely tokens that it returns.

    Parameters
    ----------
    url
        The address before the paths of the protocol, such as ``http://localhost:8080/v1``; on Azure that of the
        deployment, ``https://NAME.openai.azure.com/openai/deployments/DEPLOYMENT``.
    model
        The model's name there.
    api_key
        Sent as a bearer token, or to Azure as ``api-key``; never written or repeated in a message. Over plain ``http``
        to another machine, a warning.
    key_header
        The header that carries the key; None for the usual one.
    api_version
        Azure's version of its interface, such as ``2024-10-21``.
    top_logprobs
        How many of the most likely tokens to request at every step; 0 requests no log-probs at all.
    renormalise
        Whether the probabilities of these tokens are divided by their sum before entropies are computed.
    extra_body
        Further fields of every request, such as ``{"reasoning_effort": "low"}``. They are written beside the answers.
    stream
        Whether to request streams from the start; a server that answers in no other way makes us.
    timeout
        Most seconds for one request, from connecting to the last byte of the reply.
    tries
        How often a request is sent in all if the server is busy, away, or closes the connection.
    on_retry
        Called with a message before another try: why, and when. Also, once each, when the server makes us change its
        requests, and when it leaves out what was requested.
    """

    def __init__(
        self,
        url: str,
        model: str,
        *,
        api_key: str | None = None,
        key_header: str | None = None,
        api_version: str | None = None,
        top_logprobs: int = 20,
        renormalise: bool = False,
        extra_body: Mapping[str, Any] | None = None,
        stream: bool = False,
        timeout: float = 300.0,
        tries: int = 5,
        on_retry: Callable[[str], None] | None = None,
    ) -> None:
        whole_number("top_logprobs", top_logprobs, 0)
        if renormalise and top_logprobs < 2:
            raise SettingError(f"`renormalise` needs `top_logprobs` of at least 2; got {top_logprobs}.")
        self._sender = Sender(
            url,
            api_key=api_key,
            key_header=key_header,
            api_version=api_version,
            timeout=timeout,
            tries=tries,
            on_retry=on_retry,
        )
        self._extra = checked_extra(extra_body, self._sender.key)
        self.name = model
        self.settings: dict[str, Any] = {"top_logprobs": top_logprobs, "renormalise": renormalise}
        if self._extra:
            self.settings["extra_body"] = self._extra
        self._top, self._renormalise = top_logprobs, renormalise
        self._many, self._dialect = True, Dialect(stream=stream)
        self._say, self._said = on_retry or (lambda _: None), set[str]()
        self.usage, self._lock = Usage(), Lock()

    @property
    def n_slow_downs(self) -> int:
        """How often the server asked for fewer requests."""
        return self._sender.n_slow_downs

    def answer(self, question: Question, plan: Plan) -> tuple[Answer | None, list[Answer]]:
        """Return the greedy answer and the samples, with as few requests as the server allows."""
        try:
            greedy = self._answers(question, plan, temperature=0.0)[0] if plan.greedy else None
            return greedy, self._samples(question, plan)
        except RejectedError as error:
            raise RefusedQuestionError(question.id, str(error)) from None

    def first_tokens(self, question: Question, plan: Plan) -> dict[str, float]:
        """Return the log-probs of the most likely first tokens of an answer; none where the server does not say."""
        how = {"temperature": 0.0 if plan.greedy else plan.temperature}
        try:
            return first_tops(self._choices(question, plan, **how)[0])
        except RejectedError as error:
            raise RefusedQuestionError(question.id, str(error)) from None

    def _samples(self, question: Question, plan: Plan) -> list[Answer]:
        samples: list[Answer] = []
        seeds = [int(random.integers(2**31)) for random in plan.draws(question)]
        while len(samples) < plan.samples:
            left = plan.samples - len(samples)
            how = {"temperature": plan.temperature, "seed": seeds[len(samples)]}
            samples += self._several(question, plan, left, how)[:left]
        return samples

    def _several(self, question: Question, plan: Plan, wanted: int, how: dict[str, Any]) -> list[Answer]:
        """Request several choices at once; from a server that gives only one, one at a time from then on."""
        if not self._many or wanted == 1:
            return self._answers(question, plan, **how)
        try:
            return self._answers(question, plan, n=wanted, **how)
        except RejectedError:
            alone = self._answers(question, plan, **how)
            self._many = False
            self._once(f"{self._sender.place} gives one answer at a time: every sample takes a request of its own.")
            return alone

    def _answers(self, question: Question, plan: Plan, **how: Any) -> list[Answer]:
        choices = self._choices(question, plan, **how)
        try:
            said = [said_by(choice, renormalise=self._renormalise) for choice in choices]
            answers = [refuse_unwritable(one.answer, self._sender.key) for one in said]
        except ValueError as error:  # also of letters that cannot be written
            why = one_line(self._sender.key.hidden_in(str(error)))
            raise RejectedError(f"{self._sender.place} returned a reply that cannot be read: {why}") from None
        for note in dict.fromkeys(note for one in said for note in one.notes):
            self._once(f"{self._sender.place}: {note}")
        self._note_missing([one.answer for one in said if NOT_OF_THE_TEXT not in one.notes])
        return answers

    def _choices(self, question: Question, plan: Plan, **how: Any) -> list[Any]:
        path, body = request_for(question, plan, self._top)
        reply = self._post(path, {"model": self.name, **body, **how, **self._extra})
        choices = reply.get("choices")
        if not isinstance(choices, list) or not choices:
            raise RejectedError(f"{self._sender.place} returned no choices; is it an OpenAI-compatible endpoint?")
        return choices

    def _post(self, path: str, body: dict[str, Any]) -> dict[str, Any]:
        """Send a request, again if the server takes it in another form, and count its tokens."""
        while True:
            sent = self._dialect.spelt(body)
            try:
                reply = self._sender.post(path, sent)
                break
            except RejectedError as error:
                self._learn(sent, error)
        counted = Usage.of(reply.get("usage"))
        if counted is not None:
            with self._lock:
                self.usage = self.usage.plus(counted)
        return reply

    def _learn(self, sent: dict[str, Any], error: RejectedError) -> None:
        """Return if the request may be sent again in another form; else raise, with what the user can change."""
        if error.refusal is None:
            raise error
        with self._lock:
            note = self._dialect.learn(sent, error.refusal)
        if note is not None:
            self._once(f"{self._sender.place} {note}")
            return
        option = refused_option(sent, error.refusal)
        if option is None:
            raise error
        # A server that names the field will refuse every question for it; words alone may be about this one.
        named = error.refusal.param == option and not option.startswith("max_")
        raise (VecuqError if named else RejectedError)(f"{error} {hint_for(option, error.refusal)}") from None

    def _note_missing(self, answers: list[Answer]) -> None:
        """Say once that the server leaves out the log-probs that were requested, or the most likely tokens, or all."""
        if any(answer.finish == "length" and not answer.text for answer in answers):
            self._once(
                f"{self._sender.place} returns empty answers that end at `max_tokens`: reasoning may use them up. "
                f"Choose a larger number."
            )
        if not self._top or not any(answer.text for answer in answers):
            return
        if all(answer.logprobs is None for answer in answers):
            self._once(
                f"{self._sender.place} returns no log-probs, although they were requested: only measures of texts can "
                f"be computed. To request none, use top_logprobs=0."
            )
        elif all(answer.entropies is None for answer in answers):
            self._once(
                f"{self._sender.place} returns log-probs without the most likely tokens: there are no entropies. "
                f"If the server limits their number, try a smaller `top_logprobs`."
            )

    def _once(self, message: str) -> None:
        with self._lock:
            known = message in self._said
            self._said.add(message)
        if not known:
            self._say(message)
