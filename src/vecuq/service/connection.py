"""Connection: who is let go before or after a request, such as a head without end, or a client that never reads."""

from __future__ import annotations

import asyncio
from typing import Any

from uvicorn.protocols.http.httptools_impl import STATUS_LINE, HttpToolsProtocol

from vecuq.service.refusal import Refusal

MOST_HEAD = 64 * 1024  # bytes of request line and headers
LEAST_READ = 64 * 1024  # bytes of its answers that a client must take in the time of a request
_NOT_HTTP = Refusal(400, "bad_request", "This is not a request of HTTP/1.1.")
_LONG = Refusal(431, "large_head", f"Request line and headers may take {MOST_HEAD:,} bytes, and more came.")
_SLOW = Refusal(408, "slow_head", "The headers of the request did not come in time.")


class Connection(HttpToolsProtocol):
    """One connection of a client; its head is bounded in bytes and in time, and every refusal has our body.

    A client that does not read would keep its request in work for ever, and with it a place that others wait for.

    Parameters
    ----------
    seconds
        How long the head of a request may take, and so may each 64 KiB of an answer.
    """

    def __init__(self, *args: Any, seconds: float, **more: Any) -> None:
        super().__init__(*args, **more)
        self._seconds = seconds
        self._in_head, self._n_head = True, 0
        self._late: asyncio.TimerHandle | None = None
        self._unread: asyncio.TimerHandle | None = None
        self._earlier: list[Any] = []  # requests of a pipeline before the newest, which uvicorn forgets

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begin; a client that sends nothing is let go like one that has nothing more to ask."""
        super().connection_made(transport)
        self.timeout_keep_alive_task = self.loop.call_later(self.timeout_keep_alive, self.timeout_keep_alive_handler)

    def connection_lost(self, exc: Exception | None) -> None:
        """End."""
        self._in_time()
        self._is_read()
        for cycle in self._earlier:
            cycle.disconnected = True  # or the one in work would write to a connection that is closed
        super().connection_lost(exc)

    def pause_writing(self) -> None:
        """Wait for a client that does not read as fast as it is answered."""
        super().pause_writing()
        self._watch_reading()

    def resume_writing(self) -> None:
        """Go on with a client that has read."""
        self._is_read()
        super().resume_writing()

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
        if self.parser.get_http_version() == "0.9":  # a line without a version, which some parsers take
            self._refuse(_NOT_HTTP)
            return
        if not self._is_idle():
            self._earlier.append(self.cycle)
        elif self._earlier:
            self._earlier.clear()
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

    def _watch_reading(self, before: int | None = None) -> None:
        """Look again after a while; whoever has read too little since the last look is let go."""
        size = self.transport.get_write_buffer_size()
        if before is not None and before - size < LEAST_READ:
            self.transport.abort()
            return
        self._unread = self.loop.call_later(self._seconds, self._watch_reading, size)

    def _is_read(self) -> None:
        if self._unread is not None:
            self._unread.cancel()
            self._unread = None

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
