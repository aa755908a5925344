"""One process that answers requests: models, application, server."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Callable, Coroutine
from contextlib import AbstractAsyncContextManager, nullcontext
from multiprocessing.connection import Connection
from typing import TYPE_CHECKING, Any

import uvicorn

from vecuq.service.app import create_app
from vecuq.service.links import WorkerLink
from vecuq.service.logs import RequestLog
from vecuq.service.making import make_service
from vecuq.service.settings import ServeSettings
from vecuq.service.stopping import Door, Server
from vecuq.service.tracing import traced

if TYPE_CHECKING:
    from vecuq.service.context import Service
    from vecuq.service.recorder import Recorder

Kinds = dict[str, str]  # what each model is, by name
_KEEP_ALIVE = 75  # seconds that an idle connection stays open: longer than load balancers keep theirs


async def work(
    settings: ServeSettings,
    sock: socket.socket,
    *,
    recorder: AbstractAsyncContextManager[Recorder] | None,
    on_ready: Callable[[Kinds], None],
    link: Connection | None = None,
) -> bool:
    """Answer requests until a stop signal, or until the parent behind ``link`` is gone.

    Return whether there was time to end in order: a second signal ends at once.
    """
    async with recorder or nullcontext() as kept:
        service = make_service(settings, recorder=kept)
        door = Door(traced(create_app(service, log=RequestLog(settings.logs))), settings)
        ready = lambda: on_ready(kinds_of(service))  # noqa: E731 - a name for the line below
        server = Server(_config(settings, door), door, grace=settings.grace, on_ready=ready)
        if link is None:
            await server.serve([sock])
        else:
            await _linked(server, sock, service, link)
        return not server.force_exit


async def _linked(server: Server, sock: socket.socket, service: Service, link: Connection) -> None:
    """Serve while the counts are reported; a parent that is gone is a stop signal."""
    parent = WorkerLink(link, service.counts, on_gone=lambda: server.handle_exit(0, None))
    service.counts.everywhere = parent.total
    reporting = asyncio.create_task(parent.report())
    try:
        await server.serve([sock])
    finally:
        reporting.cancel()
        parent.close()


def _config(settings: ServeSettings, door: Door) -> uvicorn.Config:
    return uvicorn.Config(
        door,
        interface="asgi3",
        lifespan="on",
        ws="none",
        access_log=False,
        log_config=None,
        proxy_headers=False,
        server_header=False,
        timeout_keep_alive=_KEEP_ALIVE,
        ssl_certfile=settings.certificate,
        ssl_keyfile=settings.certificate_key,
    )


def kinds_of(service: Service) -> Kinds:
    """Return what each model is, by name."""
    return {name: state.snapshot.served.kind for name, state in service.shelf.states().items()}


def run_loop(main: Coroutine[Any, Any, bool]) -> bool:
    """Run a coroutine on uvloop where it is installed."""
    with asyncio.Runner(loop_factory=_fast_loop()) as runner:
        return runner.run(main)


def _fast_loop() -> Callable[[], asyncio.AbstractEventLoop] | None:
    try:
        from uvloop import new_event_loop
    except ImportError:  # on Windows
        return None
    return new_event_loop
