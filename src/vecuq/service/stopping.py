"""How a worker ends: nothing that was asked goes without an answer.

After a stop signal no connection is taken any more. For a moment, requests on open connections are answered as
always, each with ``connection: close``; then they get 503 ``stopping``, while requests in work have the time of grace.
"""

from __future__ import annotations

import asyncio
import signal
import socket
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

import uvicorn

from vecuq.service.guard import Guard
from vecuq.service.refusal import Refusal
from vecuq.service.settings import ServeSettings
from vecuq.service.tracing import App, Scope

LINGER = 0.5  # seconds in which requests on open connections are still answered
_LOOK = 0.02  # seconds between two looks at what is still in work
_STOPS = ("SIGINT", "SIGTERM", "SIGHUP", "SIGBREAK")
_CLOSE = (b"connection", b"close")


class Door:
    """The application as the server sees it; it can be exchanged while connections are open, and costs one call."""

    def __init__(self, app: App, settings: ServeSettings) -> None:
        self._app, self._guard = app, Guard(settings)
        self._now: App = app

    def __call__(self, scope: Scope, receive: Any, send: Any) -> Any:
        """Hand a request on."""
        return self._now(scope, receive, send)

    def close(self) -> None:
        """Answer from now on with ``connection: close``."""
        self._now = self._last_answers

    def refuse(self) -> None:
        """Answer from now on that the service stops."""
        self._now = self._refusals

    async def _last_answers(self, scope: Scope, receive: Any, send: Any) -> None:
        if scope["type"] == "http" and scope["path"] == "/ready":
            await self._refusals(scope, receive, send)
            return

        async def closing(message: dict[str, Any]) -> None:
            if message["type"] == "http.response.start":
                message = {**message, "headers": [*message["headers"], _CLOSE]}
            await send(message)

        await self._app(scope, receive, closing)

    async def _refusals(self, scope: Scope, receive: Any, send: Any) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        refusal = Refusal(503, "stopping", "The service is stopping. Send the request again.", retry_after=1)
        body = refusal.body()
        headers = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode()), _CLOSE]
        headers += [*refusal.headers(), *self._guard.headers(scope["path"])]
        await send({"type": "http.response.start", "status": refusal.status, "headers": headers})
        await send({"type": "http.response.body", "body": body})


class Server(uvicorn.Server):
    """Uvicorn's server, which ends without losing an answer and takes a stop signal for a normal end."""

    def __init__(self, config: uvicorn.Config, door: Door, *, grace: float, on_ready: Callable[[], None]) -> None:
        super().__init__(config)
        self._door, self._grace, self._on_ready = door, grace, on_ready

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Begin to listen, and say so."""
        await super().startup(sockets)
        if self.started:
            self._on_ready()

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Stop at the first signal, end at once at the second; uvicorn would raise them again when all is done."""
        numbers = [getattr(signal, name) for name in _STOPS if hasattr(signal, name)]
        before = {one: signal.getsignal(one) for one in numbers}
        for one in numbers:
            if before[one] is not signal.SIG_IGN:  # as with nohup
                signal.signal(one, self.handle_exit)
        try:
            yield
        finally:
            for one, handler in before.items():
                signal.signal(one, handler)

    def handle_exit(self, sig: int, frame: Any) -> None:
        """Note a stop signal."""
        if self.should_exit:
            self.force_exit = True
        self.should_exit = True

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """End: take no connection, answer what was asked, close."""
        end = time.monotonic() + self._grace
        self._door.close()
        await self._stop_listening(sockets or [])
        await self._until(lambda: not self.server_state.connections, min(LINGER, self._grace))
        self._door.refuse()
        await self._until(lambda: not self.server_state.tasks, end - time.monotonic())
        self.config.timeout_graceful_shutdown = 0 if self.server_state.tasks else 1
        await super().shutdown(sockets)
        if self.force_exit:  # uvicorn would leave the application as it is
            await self.lifespan.shutdown()

    async def _stop_listening(self, sockets: list[socket.socket]) -> None:
        """Close the sockets; connections that the system had accepted for us are taken, or they would be reset."""
        copies = [one.dup() for one in sockets]
        for server in self.servers:
            server.close()
        for one in sockets:
            one.close()
        for one in copies:
            with one, suppress(BlockingIOError, OSError):
                while True:
                    await self._take(one.accept()[0])

    async def _take(self, connection: socket.socket) -> None:
        loop, config = asyncio.get_running_loop(), self.config
        connection.setblocking(False)

        def protocol() -> Any:
            made: Any = config.http_protocol_class
            return made(config=config, server_state=self.server_state, app_state=self.lifespan.state)

        with suppress(OSError):  # it may be gone already
            await loop.connect_accepted_socket(protocol, connection, ssl=config.ssl)

    async def _until(self, done: Callable[[], bool], seconds: float) -> None:
        end = time.monotonic() + seconds
        while not done() and not self.force_exit and time.monotonic() < end:
            await asyncio.sleep(_LOOK)
