"""Run a service: in this process, or with several workers and a process that keeps what they find."""

from __future__ import annotations

import os
import shutil
import socket
import tempfile
import threading
import webbrowser
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from vecuq.errors import SettingError
from vecuq.service import logs
from vecuq.service.guard import LOOPBACK
from vecuq.service.listening import address_of, check_certificate, listening
from vecuq.service.settings import ServeSettings


@dataclass(frozen=True)
class Started:
    """A service that answers: where, and what each of its models is."""

    url: str
    kinds: dict[str, str]


def serve(
    settings: ServeSettings, *, on_ready: Callable[[Started], None] | None = None, open_browser: bool = False
) -> bool:
    """Serve saved models over HTTP until a stop signal (SIGINT, SIGTERM); then end without losing an answer.

    Return whether there was time for that: a second signal ends at once.

    Parameters
    ----------
    settings
        Models, address, limits, store, keys.
    on_ready
        Called once, when requests are answered.
    open_browser
        Whether the page is opened then.
    """
    check_certificate(settings)
    if settings.workers > 1 and os.name == "nt":
        raise SettingError(
            "workers must be 1 on Windows, where processes cannot share a socket; start one service each."
        )
    logs.set_up(settings.logs)
    with listening(settings) as sock:
        url = address_of(settings, sock)

        def ready(kinds: dict[str, str]) -> None:
            if on_ready is not None:
                on_ready(Started(url, kinds))
            if open_browser:  # it may take a while, and the service must not wait for it
                threading.Thread(target=webbrowser.open, args=(url,), daemon=True).start()

        if settings.workers == 1:
            return _alone(settings, sock, ready)
        return _with_workers(settings, sock, ready)


def check_service(settings: ServeSettings) -> Started:
    """Check all that a start needs, models, address and files, and return what would be served."""
    from vecuq.service.making import make_service
    from vecuq.service.working import kinds_of

    check_certificate(settings)
    with listening(settings) as sock:
        return Started(address_of(settings, sock), kinds_of(make_service(settings)))


def is_local(host: str) -> bool:
    """Whether only programs of this machine reach an address."""
    return host in LOOPBACK or host.startswith("127.")


def _alone(settings: ServeSettings, sock: socket.socket, ready: Callable[[dict[str, str]], None]) -> bool:
    from vecuq.service.working import run_loop, work

    recorder = None
    if settings.store is not None:
        from vecuq.service.keeping import local_recorder

        recorder = local_recorder(settings)
    return run_loop(work(settings, sock, recorder=recorder, on_ready=ready))


def _with_workers(settings: ServeSettings, sock: socket.socket, ready: Callable[[dict[str, str]], None]) -> bool:
    from vecuq.service.fleet import Fleet

    if settings.store is None:
        return Fleet(settings, sock, ready).run()
    folder = tempfile.mkdtemp(prefix="vecuq-")  # only this user may look into it
    try:
        return Fleet(settings, sock, ready, address=str(Path(folder, "keeper"))).run()
    finally:
        shutil.rmtree(folder, ignore_errors=True)
