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

import numpy as np

from vecuq._check import in_range, one_line, warn_user, whole_number
from vecuq.answers.asking.address import Key, checked_url, is_open_to_others, key_header_for, place_of, query_of
from vecuq.answers.asking.deadline import opener
from vecuq.answers.asking.patience import LaterError, pause_before
from vecuq.answers.asking.refusals import Refusal, RejectedError, error_of
from vecuq.answers.asking.streams import BrokenStreamError, is_stream, reply_of_stream
from vecuq.answers.stream_replies import DONE
from vecuq.errors import TableError, VecuqError, VecuqWarning

_MOST_BYTES = 64 * 2**20
_MOST_SECONDS = 86_400.0
# A server that fails at one question, however often it is sent, may answer the next; at so many in a row, it is broken.
_BROKEN = 20


class Sender:
    """Posts JSON and returns JSON; for its settings see :class:`vecuq.answers.Endpoint`.

    ``send`` and ``pause`` are what opens a request and what waits, for tests without a network or a clock.
    ``n_slow_downs`` counts the replies that asked for fewer requests.
    """

    def __init__(
        self,
        url: str,
        *,
        api_key: str | None = None,
        key_header: str | None = None,
        api_version: str | None = None,
        timeout: float = 300.0,
        tries: int = 5,
        random_state: int = 0,
        on_retry: Callable[[str], None] | None = None,
        send: Callable[..., Any] | None = None,
        pause: Callable[[float], None] | None = None,
    ) -> None:
        self._timeout = in_range("timeout", timeout, 0.0, _MOST_SECONDS, ends="(]")
        self._tries = whole_number("tries", tries, 1)
        self._url, self._query = checked_url(url), query_of(api_version)
        self.key = Key(api_key, header=key_header_for(self._url) if key_header is None else key_header)
        self.place = place_of(self._url)
        self._on_retry = on_retry or (lambda _: None)
        self._reached, self._failed, self.n_slow_downs = False, 0, 0
        self._random = np.random.default_rng(whole_number("random_state", random_state, 0))
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
        place = f"{self._url}/{path}{self._query}"
        request = Request(place, json.dumps(body).encode(), headers)  # noqa: S310 - http(s), checked
        attempt = 1
        while True:
            try:
                found = self._parsed(self._read(request))
            except LaterError as later:
                if attempt == self._tries:
                    raise self._given_up(later) from None
                self._wait(later, attempt)
            else:
                self._failed = 0
                return found
            attempt += 1

    def _wait(self, later: LaterError, attempt: int) -> None:
        seconds = pause_before(attempt, later.wait, self._random)
        self._on_retry(f"{later} Try {attempt + 1} of {self._tries} follows in {seconds:.2g} s.")
        self._pause(seconds)

    def _given_up(self, later: LaterError) -> VecuqError:
        why = f"{later} Tried {self._tries} {'time' if self._tries == 1 else 'times'}."
        self._failed += 1
        if later.answered and self._failed < _BROKEN:
            return RejectedError(why)
        hint = "Start again later: answers on disk are kept." if self._reached else "Is the server running?"
        return VecuqError(f"{why} {hint}")

    def _read(self, request: Request) -> bytes:
        try:
            with self._send(request, timeout=self._timeout) as reply:
                content = _content(reply)
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
        try:
            found = Refusal.of(error.code, error.read(2**16))
        except (OSError, HTTPException):
            found = Refusal(error.code, "")
        return self._error_of(found._replace(message=found.message.strip() or str(error.reason)), error.headers)

    def _error_of(self, found: Refusal, headers: Any) -> VecuqError:
        """Return the error for a refusal, in the server's words, shortened, with our key hidden."""
        why = f"{self.place} refused the request (HTTP {found.status}: {self._shown(found.message)})."
        error = error_of(found, why, headers)
        self.n_slow_downs += isinstance(error, LaterError) and error.slow_down
        return error

    def _shown(self, words: object) -> str:
        return one_line(self.key.hidden_in(str(words)), most=160)

    def _lost(self, error: Exception) -> VecuqError:
        reason = error.reason if isinstance(error, URLError) else error
        if isinstance(reason, TimeoutError):
            return LaterError(f"{self.place} timed out: no whole reply within {self._timeout:g} s (`timeout`).")
        # A reply that is none may repeat the request, and with it the key.
        why = f"{self.place} cannot be reached: {self._shown(reason) or type(error).__name__}."
        return VecuqError(why) if isinstance(reason, SSLCertVerificationError) else LaterError(why)

    def _parsed(self, content: bytes) -> dict[str, Any]:
        found = self._streamed(content) if is_stream(content) else _parsed(content, self.place)
        if found.get("error") and not found.get("choices"):  # with status 200, as in a stream that had begun
            raise self._error_of(Refusal.in_json(_status(found["error"]), found, "an error in the reply"), {})
        return found

    def _streamed(self, content: bytes) -> dict[str, Any]:
        try:
            return reply_of_stream(content)
        except BrokenStreamError:
            raise LaterError(f"{self.place} closed the connection in the middle of a reply.", answered=True) from None
        except TableError as error:
            raise RejectedError(f"{self.place} returned a stream that cannot be read: {self._shown(error)}") from None


def _content(reply: Any) -> bytes:
    """Return the bytes of a reply, bounded; a stream ends where it says so, though its connection may stay open."""
    if "event-stream" not in str(getattr(reply, "headers", None) and reply.headers.get("Content-Type", "")):
        whole: bytes = reply.read(_MOST_BYTES + 1)
        return whole
    content = bytearray()
    while len(content) <= _MOST_BYTES and (line := reply.readline(_MOST_BYTES + 1 - len(content))):
        content += line
        if line.removeprefix(b"data:").strip() == DONE:
            break
    return bytes(content)


def _status(error: Any) -> int:
    """Return the HTTP status that an error in a reply names; 500 if it names none, since it came late."""
    code = error.get("code") or error.get("status") if isinstance(error, Mapping) else None
    return code if isinstance(code, int) and 400 <= code < 600 else 500


def _parsed(content: bytes, place: str) -> dict[str, Any]:
    try:
        found = json.loads(content)
    except RecursionError:
        found = None
    except ValueError:
        # A reply that was cut short begins as it should; another kind of page does not.
        if content.lstrip()[:1] in (b"", b"{"):
            raise LaterError(f"{place} closed the connection in the middle of a reply.", answered=True) from None
        found = None
    if not isinstance(found, dict):
        raise RejectedError(f"{place} did not return a JSON object; is it an OpenAI-compatible endpoint?")
    return found
