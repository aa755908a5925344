"""Requests that end at a deadline: connecting, sending and every byte of the reply count, also those that trickle in.

The timeout of a socket counts from byte to byte, so a server that sends one byte now and then would never reach it.
"""

from __future__ import annotations

import socket
import ssl
from collections.abc import Callable
from http.client import HTTPConnection, HTTPMessage, HTTPResponse, HTTPSConnection
from time import monotonic
from typing import IO, Any
from urllib.request import HTTPHandler, HTTPRedirectHandler, HTTPSHandler, Request, build_opener


def opener() -> Callable[..., HTTPResponse]:
    """Return what opens a request with ``timeout``, its seconds in all; redirects are not followed."""
    return build_opener(_Http, _Https, _NoRedirects).open


def _left(end: float) -> float:
    left = end - monotonic()
    if left <= 0:
        raise TimeoutError("timed out")
    return left


class _Timed:
    """Mixed into a socket: whatever it does ends when the time of the whole request is over."""

    end: float

    def recv_into(self, *how: Any) -> Any:
        """Read within the time that is left."""
        self.settimeout(_left(self.end))  # type: ignore[attr-defined]
        return super().recv_into(*how)  # type: ignore[misc]

    def send(self, *how: Any) -> Any:
        """Write within the time that is left."""
        self.settimeout(_left(self.end))  # type: ignore[attr-defined]
        return super().send(*how)  # type: ignore[misc]

    def sendall(self, *how: Any) -> Any:
        """Write all within the time that is left."""
        self.settimeout(_left(self.end))  # type: ignore[attr-defined]
        return super().sendall(*how)  # type: ignore[misc]


class _Socket(_Timed, socket.socket):
    """A connection with a deadline."""


class _TlsSocket(_Timed, ssl.SSLSocket):
    """An encrypted connection with a deadline."""


class _EndingConnection:
    """Mixed into a connection: its socket, plain or encrypted, knows the deadline."""

    sock: Any
    timeout: Any

    def connect(self) -> None:
        """Connect, and let the rest of the time be for what follows."""
        self._end = monotonic() + self.timeout
        self._create_connection = self._connected
        super().connect()  # type: ignore[misc]
        self.sock.end = self._end

    def _connected(self, address: tuple[str, int], *_: object) -> _Socket:
        """Return a socket that is connected to the first of the host's addresses that answers."""
        failure: OSError | None = None
        for family, kind, protocol, _name, place in socket.getaddrinfo(*address, type=socket.SOCK_STREAM):
            found = _Socket(family, kind, protocol)
            found.end = self._end
            try:
                found.settimeout(_left(self._end))
                found.connect(place)
                found.settimeout(_left(self._end))  # for the handshake of an encrypted connection
                return found
            except OSError as error:
                found.close()
                failure = error
        raise failure or OSError("the host has no address")


class _HttpConnection(_EndingConnection, HTTPConnection):
    pass


class _HttpsConnection(_EndingConnection, HTTPSConnection):
    pass


class _Http(HTTPHandler):
    def http_open(self, req: Request) -> HTTPResponse:
        return self.do_open(_HttpConnection, req)


class _Https(HTTPSHandler):
    def https_open(self, req: Request) -> HTTPResponse:
        context = ssl.create_default_context()
        context.set_alpn_protocols(["http/1.1"])
        context.sslsocket_class = _TlsSocket
        return self.do_open(_HttpsConnection, req, context=context)


class _NoRedirects(HTTPRedirectHandler):
    """Follows no redirect, so that a key never reaches another host."""

    def redirect_request(
        self, req: Request, fp: IO[bytes], code: int, msg: str, headers: HTTPMessage, newurl: str
    ) -> None:
        """Follow no redirect."""
        return
