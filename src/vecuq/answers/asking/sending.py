"""Requests to a server; a request that may succeed later is sent again, after pauses that grow."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping
from http.client import HTTPException
from ssl import SSLCertVerificationError
from typing import Any
from urllib.error import HTTPError, URLError
from urllib.request import Request

from vecuq._check import in_range, one_line, warn_user, whole_number
from vecuq.answers.asking.address import Key, checked_url, is_open_to_others, place_of
from vecuq.answers.asking.deadline import opener
from vecuq.errors import VecuqError, VecuqWarning

_MOST_BYTES = 64 * 2**20
_MOST_SECONDS = 86_400.0
_LONGEST_PAUSE = 60.0
_BUSY = {408, 429, 500, 502, 503, 504, 529}
# The request itself is wrong: too long, filtered, or with a field that the server does not know.
_REJECTED = {400, 413, 422}
# A server that fails at one question, however often it is sent, may answer the next; at so many in a row, it is broken.
_BROKEN = 20


class RejectedError(VecuqError):
    """The server answers, and rejects this request."""


class Sender:
    """Posts JSON and returns JSON; for its settings see :class:`vecuq.answers.Endpoint`.

    ``send`` and ``pause`` are what opens a request and what waits, for tests without a network or a clock.
    """

    def __init__(
        self,
        url: str,
        *,
        api_key: str | None = None,
        timeout: float = 300.0,
        tries: int = 5,
        on_retry: Callable[[str], None] | None = None,
        send: Callable[..., Any] | None = None,
        pause: Callable[[float], None] | None = None,
    ) -> None:
        self._timeout = in_range("timeout", timeout, 0.0, _MOST_SECONDS, ends="(]")
        self._tries = whole_number("tries", tries, 1)
        self._url, self.key = checked_url(url), Key(api_key)
        self.place = place_of(self._url)
        self._on_retry = on_retry or (lambda _: None)
        self._reached, self._failed = False, 0
        self._send = opener() if send is None else send
        self._pause = time.sleep if pause is None else pause
        if self.key and is_open_to_others(self._url):
            warn_user(
                f"The key in `api_key` goes to {self.place} without encryption, and others on the way can read it; "
                f"use https:// if the server has it.",
                VecuqWarning,
            )

    def post(self, path: str, body: Mapping[str, Any]) -> dict[str, Any]:
        """Return the reply to ``body``; :class:`RejectedError` if the server rejects this request."""
        headers = {"Content-Type": "application/json", "User-Agent": "vecuq", **self.key.header()}
        request = Request(f"{self._url}/{path}", json.dumps(body).encode(), headers)  # noqa: S310 - http(s), checked
        attempt = 1
        while True:
            try:
                found = _parsed(self._read(request), self.place)
            except _LaterError as later:
                if attempt == self._tries:
                    raise self._given_up(later) from None
                self._wait(later, attempt)
            else:
                self._failed = 0
                return found
            attempt += 1

    def _wait(self, later: _LaterError, attempt: int) -> None:
        seconds = later.wait or min(_LONGEST_PAUSE, 2.0 ** (attempt - 1))
        self._on_retry(f"{later} Try {attempt + 1} of {self._tries} follows in {seconds:g} s.")
        self._pause(seconds)

    def _given_up(self, later: _LaterError) -> VecuqError:
        why = f"{later} Tried {self._tries} {'time' if self._tries == 1 else 'times'}."
        self._failed += 1
        if later.answered and self._failed < _BROKEN:
            return RejectedError(why)
        hint = "Start again later: answers on disk are kept." if self._reached else "Is the server running?"
        return VecuqError(f"{why} {hint}")

    def _read(self, request: Request) -> bytes:
        try:
            with self._send(request, timeout=self._timeout) as reply:
                content: bytes = reply.read(_MOST_BYTES + 1)
        except HTTPError as error:
            self._reached = True
            with error:
                raise self._refusal(error) from None
        except (OSError, HTTPException) as error:
            raise self._lost(error) from None
        except ValueError:  # not repeated: it may contain a proxy's password
            raise VecuqError(
                f"{self.place} cannot be reached; check the proxy in http_proxy and https_proxy, if there is one."
            ) from None
        self._reached = True
        if len(content) > _MOST_BYTES:
            raise RejectedError(f"{self.place} returned more than {_MOST_BYTES // 2**20} MiB for one request.")
        return content

    def _refusal(self, error: HTTPError) -> VecuqError:
        why = f"{self.place} refused the request (HTTP {error.code}: {self._words(error)})."
        if error.code in _BUSY:
            return _LaterError(why, _seconds(error.headers), answered=error.code == 500)
        if error.code in {401, 403}:
            return VecuqError(f"{why} Check `api_key`.")
        return RejectedError(why) if error.code in _REJECTED else VecuqError(why)

    def _words(self, error: HTTPError) -> str:
        """Return the server's message, shortened, with our key hidden."""
        try:
            words = _message(error.read(2**16))
        except (OSError, HTTPException):
            words = ""
        return self._shown(words.strip() or error.reason)

    def _shown(self, words: object) -> str:
        return one_line(self.key.hidden_in(str(words)), most=160)

    def _lost(self, error: Exception) -> VecuqError:
        reason = error.reason if isinstance(error, URLError) else error
        if isinstance(reason, TimeoutError):
            return _LaterError(f"{self.place} timed out: no whole reply within {self._timeout:g} s (`timeout`).")
        # A reply that is none may repeat the request, and with it the key.
        why = f"{self.place} cannot be reached: {self._shown(reason) or type(error).__name__}."
        return VecuqError(why) if isinstance(reason, SSLCertVerificationError) else _LaterError(why)


class _LaterError(VecuqError):
    """The server may answer later; ``answered`` says that it did answer, and that this request may be the reason."""

    def __init__(self, why: str, wait: float | None = None, *, answered: bool = False) -> None:
        super().__init__(why)
        self.wait, self.answered = wait, answered


def _parsed(content: bytes, place: str) -> dict[str, Any]:
    try:
        found = json.loads(content)
    except RecursionError:
        found = None
    except ValueError:
        # A reply that was cut short begins as it should; another kind of page does not.
        if content.lstrip()[:1] in (b"", b"{"):
            raise _LaterError(f"{place} closed the connection in the middle of a reply.", answered=True) from None
        found = None
    if not isinstance(found, dict):
        raise RejectedError(f"{place} did not return a JSON object; is it an OpenAI-compatible endpoint?")
    return found


def _message(content: bytes) -> str:
    """Return the message of an error as servers write it, under error, message or detail; else all of it."""
    text = content.decode("utf-8", "replace")
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return text
    for name in ("error", "message", "detail"):
        found = found.get(name, found) if isinstance(found, dict) else found
    return found if isinstance(found, str) else text


def _seconds(headers: Mapping[str, str] | Any) -> float | None:
    """Return how long the server asks to wait, at most a minute."""
    seconds = headers.get("Retry-After", "")
    return min(_LONGEST_PAUSE, float(seconds)) if seconds.isdecimal() else None
