"""The address of a service: a socket that listens, the files of TLS, and what is wrong with either in one line."""

from __future__ import annotations

import errno
import os
import socket
import ssl
import sys
from pathlib import Path

from vecuq.errors import SettingError
from vecuq.service.guard import ANYWHERE
from vecuq.service.settings import ServeSettings

_WAITING = 2_048  # connections that the system keeps until a worker takes them


# Where the system shares connections out between sockets of one port. Elsewhere workers share one socket.
SHARES_OUT = sys.platform == "linux"


def listening(settings: ServeSettings) -> socket.socket:
    """Return a socket that listens at the address of the settings; a port that anybody uses is refused."""
    family, address = _resolved(settings.host, settings.port)
    try:
        return _listening(family, address)
    except OSError as error:
        raise SettingError(_cannot_bind(settings, error)) from None


def one_each(sock: socket.socket, number: int) -> list[socket.socket]:
    """Return a listening socket for each of several workers, in place of one.

    Workers on one socket would not share the work: whoever wakes first takes all connections that wait.
    """
    if not SHARES_OUT:
        return [sock.dup() for _ in range(number)]
    family, address = sock.family, sock.getsockname()
    sock.close()
    return [_listening(family, address, shared=True) for _ in range(number)]


def one_more(sock: socket.socket) -> socket.socket:
    """Return another socket that listens where this one does."""
    return _listening(sock.family, sock.getsockname(), shared=True) if SHARES_OUT else sock.dup()


def _listening(family: int, address: tuple[object, ...], *, shared: bool = False) -> socket.socket:
    made = socket.socket(family, socket.SOCK_STREAM)
    try:
        if os.name == "posix":  # elsewhere it would let two programs share a port
            made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if shared:
            made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        if family == socket.AF_INET6:
            made.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, int(address[0] not in ANYWHERE))
        made.bind(address)
        made.listen(_WAITING)
        made.setblocking(False)
    except OSError:
        made.close()
        raise
    return made


def _resolved(host: str, port: int) -> tuple[socket.AddressFamily, tuple[object, ...]]:
    """Return the address of a name; IPv4 where it has both, as clients try 127.0.0.1 for localhost too."""
    try:
        found = socket.getaddrinfo(host or None, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    except (OSError, UnicodeError):
        raise SettingError(
            f"host={host!r} is no name or address of this machine, as 127.0.0.1 and 0.0.0.0 are."
        ) from None
    family, _, _, _, address = min(found, key=lambda one: one[0] != socket.AF_INET)
    return family, address


def _cannot_bind(settings: ServeSettings, error: OSError) -> str:
    host, port = settings.host, settings.port
    if error.errno == errno.EADDRINUSE:
        return f"port={port} of {host} is in use by another program. Choose another, or port=0 for any free one."
    if error.errno == errno.EACCES:
        return (
            f"port={port} needs the rights of the administrator, as all below 1024 may. Choose one above, such as 8000."
        )
    if error.errno == errno.EADDRNOTAVAIL:
        return f"host={host!r} is no address of this machine. Choose 127.0.0.1, or 0.0.0.0 for all that it has."
    return f"The service cannot listen at {host}, port {port}: {error.strerror or error}."


def address_of(settings: ServeSettings, sock: socket.socket) -> str:
    """Return the address for a browser on this machine."""
    host = "127.0.0.1" if settings.host in ("0.0.0.0", "") else settings.host  # noqa: S104 - what was asked for
    host = "::1" if host == "::" else host
    scheme = "http" if settings.certificate is None else "https"
    return f"{scheme}://{f'[{host}]' if ':' in host else host}:{sock.getsockname()[1]}"


def check_certificate(settings: ServeSettings) -> None:
    """Raise if the files of TLS cannot be used."""
    if settings.certificate is None or settings.certificate_key is None:
        return
    for name in ("certificate", "certificate_key"):
        _check_readable(name, getattr(settings, name))
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    try:
        # An encrypted key would ask for its password, which nobody is there to type.
        context.load_cert_chain(settings.certificate, settings.certificate_key, password="")
    except (ssl.SSLError, OSError, ValueError) as error:
        reason = str(getattr(error, "reason", None) or "").lower().replace("_", " ")
        raise SettingError(
            f"{settings.certificate} and {settings.certificate_key} are no certificate with its key, in PEM format and "
            f"without a password{f' ({reason})' if reason else ''}."
        ) from None


def _check_readable(name: str, path: Path) -> None:
    try:
        with path.open("rb"):
            pass
    except OSError as error:
        raise SettingError(f"{name}={str(path)!r} cannot be read: {error.strerror or error}.") from None
