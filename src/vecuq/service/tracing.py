"""Traces by OpenTelemetry, if it is installed and somebody has set it up; otherwise nothing, at no cost.

A service takes part in a trace when a tracer provider is configured, as by ``opentelemetry-instrument vecuq serve``.
"""

from __future__ import annotations

import sys
from collections.abc import Awaitable, Callable, Iterable, Mapping, MutableMapping
from contextlib import AbstractContextManager, nullcontext
from typing import Any

Scope = MutableMapping[str, Any]
App = Callable[[Scope, Any, Any], Awaitable[None]]
_NOTHING = nullcontext()


def tracer() -> Any:
    """Return OpenTelemetry's tracer if spans would reach somebody, or None."""
    try:
        from opentelemetry import trace
    except ImportError:
        return None
    provider = trace.get_tracer_provider()
    unset = isinstance(provider, trace.ProxyTracerProvider | trace.NoOpTracerProvider)
    return None if unset else provider.get_tracer("vecuq.service")


def span(name: str, **attributes: Any) -> AbstractContextManager[Any]:
    """Return a context that is a span within the trace of the request; one that does nothing if there is none."""
    if "opentelemetry.sdk" not in sys.modules:  # the first test costs nothing, and is mostly the last
        return _NOTHING
    found = tracer()
    if found is None:
        return _NOTHING
    inner: AbstractContextManager[Any] = found.start_as_current_span(name, attributes=attributes)
    return inner


def traced(app: App) -> App:
    """Return an application whose requests are spans of the caller's traces; the same application if none are kept."""
    found = tracer()
    if found is None:
        return app
    from opentelemetry import propagate, trace

    getter: Any = _Headers()

    async def with_span(scope: Scope, receive: Any, send: Any) -> None:
        if scope["type"] != "http":
            await app(scope, receive, send)
            return
        caller = propagate.extract(scope["headers"], getter=getter)
        about = {"http.request.method": scope["method"], "url.scheme": scope.get("scheme", "http")}
        kind = trace.SpanKind.SERVER
        with found.start_as_current_span(scope["method"], context=caller, kind=kind, attributes=about) as now:
            await app(scope, receive, _marking(now, scope, send))

    return with_span


def _marking(now: Any, scope: Mapping[str, Any], send: Any) -> Any:
    """Return a ``send`` that writes status and route of the answer into the span."""
    from opentelemetry.trace import Status, StatusCode

    async def marking(message: Mapping[str, Any]) -> None:
        if message["type"] == "http.response.start":
            now.set_attribute("http.response.status_code", message["status"])
            if message["status"] >= 500:
                now.set_status(Status(StatusCode.ERROR))
            route = scope.get("vecuq.route") or getattr(scope.get("route"), "path", None)
            if route is not None:
                now.update_name(f"{scope['method']} {route}")
                now.set_attribute("http.route", route)
        await send(message)

    return marking


class _Headers:
    """How OpenTelemetry reads the headers of an ASGI request."""

    def get(self, carrier: Iterable[tuple[bytes, bytes]], key: str) -> list[str] | None:
        wanted = key.lower().encode()
        return [value.decode("latin-1") for name, value in carrier if name == wanted] or None

    def keys(self, carrier: Iterable[tuple[bytes, bytes]]) -> list[str]:
        return [name.decode("latin-1") for name, _ in carrier]
