"""Exchange: one request and its answer on the way out, with the headers that every answer has."""

from __future__ import annotations

import asyncio

from vecuq.service.asgi import JSON, Answer, Disconnected, Headers, Message, Request, Scope, Send
from vecuq.service.bodies import chunks_of
from vecuq.service.refusal import Refusal

UNKNOWN = "unknown"  # paths that are no routes would make metrics without end


class Exchange:
    """What is known of one request while it is answered, and afterwards for counts and logs."""

    __slots__ = ("_headers", "_send", "_started", "request", "request_id", "route", "scope", "status")

    def __init__(self, scope: Scope, send: Send, request_id: str, headers: Headers) -> None:
        self.scope, self._send, self.request_id = scope, send, request_id
        self._headers = [*headers, (b"x-request-id", request_id.encode())]
        self._started = False
        self.request: Request | None = None
        self.route, self.status = UNKNOWN, 0
        scope["request_id"] = request_id

    async def send(self, answer: Answer, seconds: float) -> None:
        """Send the answer of a raw route; a client that takes no chunk of a file for so long has lost it."""
        try:
            await self._start(200, answer.content_type, answer.length)
            if answer.file is None:
                await self._send({"type": "http.response.body", "body": answer.body})
                return
            for chunk in chunks_of(answer.file):
                async with asyncio.timeout(seconds):
                    await self._send({"type": "http.response.body", "body": chunk, "more_body": True})
            await self._send({"type": "http.response.body", "body": b""})
        except TimeoutError:
            raise Disconnected from None
        finally:
            answer.close()

    async def send_empty(self, headers: Headers) -> None:
        """Send an answer without a body, which has said all in its headers."""
        self._started, self.status = True, 204
        await self._send({"type": "http.response.start", "status": 204, "headers": [*self._headers, *headers]})
        await self._send({"type": "http.response.body", "body": b""})

    async def refuse(self, refusal: Refusal) -> None:
        """Send a refusal, unless an answer has begun already."""
        if self._started:
            return
        body, more = refusal.body(self.request_id), refusal.headers()
        if refusal.status == 405:
            more.append((b"allow", b"POST"))
        if refusal.status == 408 or (refusal.status == 413 and self._is_endless):
            more.append((b"connection", b"close"))  # the rest of the body is not waited for
        await self._start(refusal.status, JSON, len(body), more)
        await self._send({"type": "http.response.body", "body": body})

    @property
    def _is_endless(self) -> bool:
        return self.request is not None and self.request.length is None

    async def send_with_headers(self, message: Message) -> None:
        """Send what FastAPI answers, with the headers that every answer has."""
        if message["type"] == "http.response.start":
            self._started, self.status = True, message["status"]
            message = {**message, "headers": [*message.get("headers", ()), *self._headers]}
        await self._send(message)

    async def _start(self, status: int, content_type: bytes, length: int, more: Headers | None = None) -> None:
        self._started, self.status = True, status
        headers = [(b"content-type", content_type), (b"content-length", b"%d" % length), *self._headers, *(more or ())]
        await self._send({"type": "http.response.start", "status": status, "headers": headers})
