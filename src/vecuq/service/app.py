"""The front: every request passes here. The routes that score are called straight, all others through FastAPI."""

from __future__ import annotations

import asyncio
import logging
import os
import re
import time
import warnings
from collections.abc import Awaitable, Callable
from contextlib import suppress
from itertools import count

from vecuq.errors import VecuqWarning
from vecuq.service import tracing
from vecuq.service.api import api_of
from vecuq.service.asgi import Answer, Disconnected, Receive, Request, Scope, Send
from vecuq.service.context import Service
from vecuq.service.exchange import Exchange
from vecuq.service.guard import Guard
from vecuq.service.judging import JudgeRoute
from vecuq.service.logs import RequestLog
from vecuq.service.refusal import Refusal
from vecuq.service.score_route import ScoreRoute
from vecuq.service.work import Work

_KNOWN_ID = re.compile(rb"[A-Za-z0-9._-]{1,64}")
_RAW = re.compile(r"(?:/models/(?P<name>[^/]+))?/(?P<what>score|judge)")
# These are asked by whoever watches the service, also when it is busy or stops.
_ALWAYS = ("/health", "/ready", "/metrics")
_GONE = 499  # the client went away; nobody sees this status
_UNKNOWN = "unknown"  # paths that are no routes would make metrics without end
_INTERNAL = Refusal(500, "internal", "The service failed on this request. Its log says more, under this request id.")
_LOG = logging.getLogger("vecuq.service")


def create_app(service: Service, *, log: RequestLog | None = None) -> Front:
    """Return the service as an ASGI application."""
    return Front(service, log or RequestLog())


class Front:
    """One process of the service, called by uvicorn for every request."""

    def __init__(self, service: Service, log: RequestLog) -> None:
        self.service, self._log, self._guard = service, log, Guard(service.settings)
        self._work = Work(service.settings.limits)
        self._raw: dict[str, Callable[[Request], Awaitable[Answer]]] = {}
        self._raw |= {"score": ScoreRoute(service, self._work), "judge": JudgeRoute(service, self._work)}
        self.api = api_of(service)
        self._names, self._prefix = count(1), os.urandom(6).hex()
        self._in_work = 0
        self.stopping = False  # set when the process was told to end

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request, or follow the life of the server."""
        if scope["type"] == "http":
            await self._request(scope, receive, send)
        elif scope["type"] == "lifespan":
            await self._live(receive, send)

    async def _request(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request, count it and log it, whatever happens."""
        started, self._in_work = time.perf_counter(), self._in_work + 1
        exchange = Exchange(scope, send, self._id_of(scope), self._guard.headers(scope["path"]))
        try:
            with tracing.span(scope["path"]):
                await self._answer(exchange, receive)
        except Refusal as refusal:
            await exchange.refuse(refusal)
        except Disconnected:
            exchange.status = _GONE
        except Exception:
            _LOG.exception("request %s failed", exchange.request_id)
            await exchange.refuse(_INTERNAL)
        finally:
            self._in_work -= 1
            self._note(exchange, time.perf_counter() - started)

    async def _answer(self, exchange: Exchange, receive: Receive) -> None:
        """Find the route, and let it answer."""
        scope = exchange.scope
        path = scope["path"]
        refusal = self._guard.check(scope)
        if refusal is not None:
            raise refusal
        if path not in _ALWAYS:
            self._refuse_when_full()
        found = _RAW.fullmatch(path)
        if found is None:
            await self.api(scope, receive, exchange.send_with_headers)
            exchange.route = getattr(scope.get("route"), "path", _UNKNOWN)
            return
        exchange.route = f"/{found['what']}" if found["name"] is None else f"/models/{{name}}/{found['what']}"
        if scope["method"] != "POST":
            raise Refusal(405, "method", f"{path} takes POST; got {scope['method'][:16]}.")
        exchange.request = Request(scope, receive, found["name"])
        await exchange.send(await self._raw[found["what"]](exchange.request))

    def _refuse_when_full(self) -> None:
        if self.stopping:
            raise Refusal(503, "stopping", "The service is stopping. Ask another instance.", retry_after=1)
        if self._in_work > self.service.settings.limits.waiting:
            raise Refusal(429, "busy", f"{self._in_work:,} requests are waiting. Try again in a second.", retry_after=1)

    def _id_of(self, scope: Scope) -> str:
        """Return the id of a request: the client's, if it is a plain word, or a new one."""
        for key, value in scope["headers"]:
            if key == b"x-request-id" and _KNOWN_ID.fullmatch(value):
                return str(value, "ascii")
        return f"{self._prefix}-{next(self._names):x}"

    def _note(self, exchange: Exchange, seconds: float) -> None:
        """Count and log one request."""
        request = exchange.request
        self.service.counts.request(exchange.route, exchange.status, seconds)
        self._log.request(
            request_id=exchange.request_id,
            method=exchange.scope["method"],
            route=exchange.route,
            status=exchange.status,
            seconds=seconds,
            rows=0 if request is None else request.n_rows,
            bytes_in=0 if request is None else request.n_bytes,
        )

    async def _live(self, receive: Receive, send: Send) -> None:
        """Watch the files of the models while the server runs."""
        await receive()
        warnings.filterwarnings("ignore", category=VecuqWarning)  # nobody reads them here; answers say what matters
        watching = asyncio.create_task(self.service.shelf.watch())
        await send({"type": "lifespan.startup.complete"})
        await receive()
        self.stopping = True
        watching.cancel()
        with suppress(asyncio.CancelledError):
            await watching
        self._work.close()
        await send({"type": "lifespan.shutdown.complete"})
