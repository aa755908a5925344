"""The front: every request passes here. The routes that score are called straight, all others through FastAPI."""

from __future__ import annotations

import asyncio
import gc
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
from vecuq.service.api import api_of, internal
from vecuq.service.asgi import Answer, Disconnected, Headers, Receive, Request, Scope, Send
from vecuq.service.context import Service
from vecuq.service.exchange import UNKNOWN, Exchange
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

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request, or follow the life of the server."""
        if scope["type"] == "http":
            await self._request(scope, receive, send)
        elif scope["type"] == "lifespan":
            await self._live(receive, send)

    async def _request(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request, count it and log it, whatever happens."""
        started, counts = time.perf_counter(), self.service.counts
        counts.in_flight += 1
        exchange = Exchange(scope, send, self._id_of(scope), self._headers_of(scope))
        try:
            await self._answer(exchange, receive)
        except Refusal as refusal:
            await exchange.refuse(refusal)
        except Disconnected:
            exchange.status = _GONE
        except Exception:
            _LOG.exception("request %s failed", exchange.request_id)
            await exchange.refuse(internal())
        finally:
            counts.in_flight -= 1
            self._note(exchange, time.perf_counter() - started)

    async def _answer(self, exchange: Exchange, receive: Receive) -> None:
        """Find the route, and let it answer."""
        scope = exchange.scope
        refusal = self._guard.check(scope)
        if refusal is not None:
            raise refusal
        path = scope["path"]
        if path not in _ALWAYS:
            self._refuse_when_full()
        if scope["method"] == "OPTIONS" and self._guard.is_preflight(scope):
            await exchange.send_empty(self._guard.preflight())
            return
        found = _RAW.fullmatch(path)
        if found is None:
            try:
                await self.api(scope, receive, exchange.send_with_headers)
            finally:
                exchange.route = getattr(scope.get("route"), "path", UNKNOWN)
            return
        what, name = found["what"], found["name"]
        exchange.route = scope["vecuq.route"] = f"/{what}" if name is None else f"/models/{{name}}/{what}"
        if scope["method"] != "POST":
            raise Refusal(405, "method", f"{exchange.route} takes POST; got {scope['method'][:16]}.")
        exchange.request = Request(scope, receive, name)
        with tracing.span(exchange.route):
            answer = await self._raw[what](exchange.request)
        await exchange.send(answer, self.service.settings.limits.seconds)

    def _refuse_when_full(self) -> None:
        n_waiting = self.service.counts.in_flight
        if n_waiting > self.service.settings.limits.waiting:
            raise Refusal(429, "busy", f"{n_waiting:,} requests are waiting. Try again in a second.", retry_after=1)

    def _headers_of(self, scope: Scope) -> Headers:
        """Return the headers of every answer to this request."""
        headers = self._guard.headers(scope["path"])
        return [*headers, *self._guard.cors(scope)] if self.service.settings.origins else headers

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
        gc.collect()
        gc.freeze()  # what is loaded now stays; looking through it again and again took 70 ms each time
        watching = asyncio.create_task(self.service.shelf.watch())
        await send({"type": "lifespan.startup.complete"})
        await receive()
        watching.cancel()
        with suppress(asyncio.CancelledError):
            await watching
        self._work.close()
        await send({"type": "lifespan.shutdown.complete"})
