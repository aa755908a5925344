"""Connection: what is refused before there is a request, such as a head without end. Uvicorn would wait and read on."""

from __future__ import annotations

import asyncio
from typing import Any

from uvicorn.protocols.http.httptools_impl import STATUS_LINE, HttpToolsProtocol

from vecuq.service.refusal import Refusal

MOST_HEAD = 64 * 1024  # bytes of request line and headers
_NOT_HTTP = Refusal(400, "bad_request", "This is not a request of HTTP/1.1.")
_LONG = Refusal(431, "large_head", f"Request line and headers may take {MOST_HEAD:,} bytes, and more came.")
_SLOW = Refusal(408, "slow_head", "The headers of the request did not come in time.")


class Connection(HttpToolsProtocol):
    """One connection of a client; its head is bounded in bytes and in time, and every refusal has our body.

    Parameters
    ----------
    seconds
        How long the head of a request may take.
    """

    def __init__(self, *args: Any, seconds: float, **more: Any) -> None:
        super().__init__(*args, **more)
        self._seconds = seconds
        self._in_head, self._n_head = True, 0
        self._late: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begin; a client that sends nothing is let go like one that has nothing more to ask."""
        super().connection_made(transport)
        self.timeout_keep_alive_task = self.loop.call_later(self.timeout_keep_alive, self.timeout_keep_alive_handler)

    def connection_lost(self, exc: Exception | None) -> None:
        """End."""
        self._in_time()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Take what came, and see to it that a head ends."""
        if self._in_head:
            self._n_head += len(data)
        super().data_received(data)
        if not self._in_head or self.transport.is_closing():
            return
        if self._n_head > MOST_HEAD:
            self._refuse(_LONG)
        elif self._late is None and self._is_idle():
            self._late = self.loop.call_later(self._seconds, self._refuse, _SLOW)

    def on_headers_complete(self) -> None:
        """Take a whole head."""
        self._in_head = False
        if self._late is not None:
            self._in_time()
        super().on_headers_complete()

    def on_message_complete(self) -> None:
        """Take a whole request; what follows is the head of another."""
        self._in_head, self._n_head = True, 0
        super().on_message_complete()

    def send_400_response(self, msg: str) -> None:
        """Refuse what is not HTTP."""
        self._refuse(_NOT_HTTP)

    def _in_time(self) -> None:
        if self._late is not None:
            self._late.cancel()
            self._late = None

    def _is_idle(self) -> bool:
        return self.cycle is None or self.cycle.response_complete

    def _refuse(self, refusal: Refusal) -> None:
        """Answer and close; requests that came whole are answered first, and in their order."""
        if self.transport.is_closing():
            return
        if not self._is_idle() and not self.cycle.more_body:
            self.cycle.keep_alive = False
            self.flow.pause_reading()
            return
        if self._is_idle() or not self.cycle.response_started:
            self.transport.write(_whole(refusal))
        self.transport.close()


def _whole(refusal: Refusal) -> bytes:
    body = refusal.body()
    lines = [b"content-type: application/json", b"content-length: %d" % len(body), b"connection: close"]
    return b"".join([STATUS_LINE[refusal.status], b"\r\n".join(lines), b"\r\n\r\n", body])
