"""What the processes of a service run: workers that answer, and the keeper that owns the store."""

from __future__ import annotations

import logging
import signal
import socket
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from multiprocessing.connection import Connection

from vecuq.errors import VecuqError
from vecuq.service import logs
from vecuq.service.links import heard, tell
from vecuq.service.settings import ServeSettings

_FAILED = 3  # exit code of a process that has said why it cannot go on


def worker_main(
    settings: ServeSettings, sock: socket.socket, address: str | None, lifeline: Connection, link: Connection
) -> None:
    """Answer requests until the parent closes ``link``; while ``lifeline`` is open here, the keeper stays."""
    with _failures_told(settings, link):
        from vecuq.service.working import run_loop, work

        recorder = None
        if address is not None:
            from vecuq.service.keeping import remote_recorder

            recorder = remote_recorder(address)
        ready = lambda kinds: tell(link, ready=kinds)  # noqa: E731 - a name for the line below
        run_loop(work(settings, sock, recorder=recorder, on_ready=ready, link=link))
    lifeline.close()


def keeper_main(settings: ServeSettings, address: str, life: Connection, link: Connection) -> None:
    """Keep what workers send until nobody holds the other end of ``life``, the parent and all workers."""
    # A service manager sends its stop signal to every process; the keeper stays until the workers are done.
    for one in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(one, signal.SIG_IGN)
    with _failures_told(settings, link):
        from vecuq.service.keeping import run_keeper

        stop = threading.Event()
        threading.Thread(target=_set_at_end, args=(life, stop), daemon=True).start()
        run_keeper(settings, address, on_ready=lambda: tell(link, ready={}), stop=stop)


def _set_at_end(life: Connection, stop: threading.Event) -> None:
    """Wait until nobody holds the other end, which nobody writes to."""
    heard(life)
    stop.set()


@contextmanager
def _failures_told(settings: ServeSettings, link: Connection) -> Iterator[None]:
    """Tell the parent in one line why this process cannot go on."""
    logs.set_up(settings.logs)
    try:
        yield
    except (VecuqError, OSError) as error:
        tell(link, failed=str(error))
        sys.exit(_FAILED)
    except Exception as error:
        logging.getLogger(logs.NAME).exception("A process of the service ended by an error.")
        tell(link, failed=f"unexpected {type(error).__name__}")
        sys.exit(1)
