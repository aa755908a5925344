"""Any OpenAI-compatible endpoint: a server of your own, or somebody else's."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping
from http.client import HTTPException, HTTPMessage
from typing import IO, Any
from urllib.error import HTTPError, URLError
from urllib.parse import urlsplit
from urllib.request import HTTPRedirectHandler, Request, build_opener

from pydantic import ValidationError

from vecuq._check import in_range, one_line, whole_number
from vecuq.answers import Answer
from vecuq.answers.openai import answer_of_choice
from vecuq.ask.plan import Plan
from vecuq.ask.questions import Question
from vecuq.errors import SettingError, VecuqError

__all__ = ["Endpoint"]

_MOST_BYTES = 64 * 2**20
_BUSY = {408, 429, 500, 502, 503, 504, 529}


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
    timeout
        Seconds until a request counts as lost.
    tries
        How often a request is made if the server is busy or the connection breaks.
    """

    def __init__(
        self,
        url: str,
        model: str,
        *,
        api_key: str | None = None,
        top_logprobs: int = 20,
        timeout: float = 300.0,
        tries: int = 5,
    ) -> None:
        if urlsplit(url).scheme not in {"http", "https"} or not urlsplit(url).netloc:
            raise SettingError(f"The url must begin with http:// or https://; got {one_line(repr(url), most=80)}.")
        whole_number("top_logprobs", top_logprobs, 0)
        whole_number("tries", tries, 1)
        in_range("timeout", timeout, 0.0, ends="()")
        self.name = model
        self._url, self._key = url.rstrip("/"), api_key
        self._top, self._timeout, self._tries = top_logprobs, timeout, tries
        self._many = True
        self._reached = False
        self._open = build_opener(_NoRedirects).open
        self._pause: Callable[[float], None] = time.sleep

    def answer(self, question: Question, plan: Plan) -> tuple[Answer, list[Answer]]:
        """Return the greedy answer and the samples, these by as few requests as the server allows."""
        prompt = plan.fill(question)
        greedy = self._choices(prompt, plan, temperature=0.0)[0]
        samples: list[Answer] = []
        seeds = [int(random.integers(2**31)) for random in plan.draws(question)]
        while len(samples) < plan.samples:
            left = plan.samples - len(samples)
            drawn = {"temperature": plan.temperature, "seed": seeds[len(samples)]}
            samples += self._several(prompt, plan, left, drawn)[:left]
        return greedy, samples

    def _several(self, prompt: str, plan: Plan, wanted: int, drawn: dict[str, Any]) -> list[Answer]:
        """Ask for several choices at once; a server that refuses is asked for one at a time from then on."""
        if self._many and wanted > 1:
            try:
                return self._choices(prompt, plan, n=wanted, **drawn)
            except _BadRequestError:
                self._many = False
        return self._choices(prompt, plan, **drawn)

    def _choices(self, prompt: str, plan: Plan, **drawn: Any) -> list[Answer]:
        shape = self._raw(prompt, plan) if plan.raw else self._chat(prompt, plan)
        stop = {"stop": list(plan.stop)} if plan.stop else {}
        body = {"model": self.name, "max_tokens": plan.max_tokens, **stop, **shape, **drawn}
        reply = self._post("completions" if plan.raw else "chat/completions", body)
        choices = reply.get("choices")
        if not isinstance(choices, list) or not choices:
            raise VecuqError(f"{self._url} returned no choices; is it an OpenAI-compatible endpoint?")
        try:
            return [answer_of_choice(choice) for choice in choices]
        except (VecuqError, ValidationError) as error:
            raise VecuqError(f"{self._url} returned what no such server should: {one_line(error)}") from None

    def _chat(self, prompt: str, plan: Plan) -> dict[str, Any]:
        told = [{"role": "system", "content": plan.system}] if plan.system else []
        asked = {"logprobs": True, "top_logprobs": self._top} if self._top else {}
        return {"messages": [*told, {"role": "user", "content": prompt}], **asked}

    def _raw(self, prompt: str, plan: Plan) -> dict[str, Any]:
        asked = {"logprobs": self._top} if self._top else {}
        return {"prompt": f"{plan.system}\n{prompt}" if plan.system else prompt, **asked}

    def _post(self, path: str, body: Mapping[str, Any]) -> dict[str, Any]:
        headers = {"Content-Type": "application/json", "User-Agent": "vecuq"}
        if self._key:
            headers["Authorization"] = f"Bearer {self._key}"
        request = Request(f"{self._url}/{path}", json.dumps(body).encode(), headers)  # noqa: S310 - http(s), checked above
        for attempt in range(1, self._tries + 1):
            try:
                return self._read(request)
            except _BusyError as busy:
                if attempt == self._tries:
                    raise VecuqError(
                        f"{busy} Tried {self._tries} times; run the same command again to go on."
                    ) from None
                self._pause(busy.wait or min(60.0, 2.0**attempt))
        raise AssertionError("unreachable")

    def _read(self, request: Request) -> dict[str, Any]:
        try:
            with self._open(request, timeout=self._timeout) as reply:
                content = reply.read(_MOST_BYTES + 1)
        except HTTPError as error:
            raise self._refusal(error) from None
        except (URLError, TimeoutError, ConnectionError, HTTPException) as error:
            raise self._lost(error) from None
        self._reached = True
        try:
            found = json.loads(content) if len(content) <= _MOST_BYTES else None
        except (ValueError, RecursionError):
            found = None
        if not isinstance(found, dict):
            raise VecuqError(f"{self._url} did not return a JSON object; is it an OpenAI-compatible endpoint?")
        return found

    def _refusal(self, error: HTTPError) -> VecuqError:
        said = one_line(error.read(2_000).decode("utf-8", "replace"), most=160)
        told = f"{self._url} refused the request (HTTP {error.code}: {said or error.reason})."
        if error.code in _BUSY:
            return _BusyError(told, _seconds(error.headers))
        if error.code in {401, 403}:
            return VecuqError(f"{told} Name the variable that holds the key with --api-key-env.")
        return _BadRequestError(told) if error.code in {400, 422} else VecuqError(told)

    def _lost(self, error: Exception) -> VecuqError:
        reason = error.reason if isinstance(error, URLError) else error
        told = f"{self._url} cannot be reached: {one_line(reason, most=160) or type(error).__name__}."
        # Nobody there from the start is a wrong address; a connection that breaks later is worth another try.
        return _BusyError(told, None) if self._reached else VecuqError(f"{told} Is the server running?")


class _BusyError(VecuqError):
    """The server may answer later."""

    def __init__(self, told: str, wait: float | None) -> None:
        super().__init__(told)
        self.wait = wait


class _BadRequestError(VecuqError):
    """The server does not know one of the fields."""


class _NoRedirects(HTTPRedirectHandler):
    """A key must not follow a redirect to another host."""

    def redirect_request(
        self, req: Request, fp: IO[bytes], code: int, msg: str, headers: HTTPMessage, newurl: str
    ) -> None:
        """Follow none."""
        return


def _seconds(headers: Mapping[str, str] | Any) -> float | None:
    """Return how long the server asks to wait, at most a minute."""
    told = headers.get("Retry-After", "")
    return min(60.0, float(told)) if told.isdigit() else None
