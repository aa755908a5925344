"""Guard: who may ask at all. Key, host and origin of a request, and the headers that protect the page.

It sees every request, so it reads the headers once and remembers which hosts it knows.
"""

from __future__ import annotations

import hmac
from collections.abc import Iterable, Mapping
from hashlib import sha256
from ipaddress import ip_address
from typing import Any

from vecuq.service.refusal import Refusal
from vecuq.service.settings import ServeSettings

Headers = list[tuple[bytes, bytes]]
LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})
ANYWHERE = frozenset({"0.0.0.0", "::", ""})  # noqa: S104 - what the user may bind to, not what we bind to
# What a browser, a load balancer or a person without the key may see: nothing here depends on rows.
_OPEN = frozenset({"/", "/health", "/ready", "/openapi.json", "/docs", "/docs/style.css"})
_PAGES = "/page/"
_MOST_HOSTS = 256  # that are remembered; a stranger may send any
_ALLOWED = b"GET, POST, OPTIONS"
_ASKED = b"authorization, content-type, x-api-key, x-request-id, accept"
_PAGE_POLICY = (
    b"default-src 'self'; img-src 'self' data: blob:; object-src 'none'; base-uri 'none'; form-action 'self'; "
    b"frame-ancestors 'none'"
)
_EVERYWHERE: Headers = [(b"x-content-type-options", b"nosniff"), (b"referrer-policy", b"no-referrer")]
_PAGE: Headers = [
    (b"content-security-policy", _PAGE_POLICY),
    (b"permissions-policy", b"camera=(), geolocation=(), microphone=(), payment=(), usb=()"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"x-frame-options", b"DENY"),
]
_ANSWER: Headers = [
    (b"content-security-policy", b"default-src 'none'; frame-ancestors 'none'"),
    (b"cache-control", b"no-store"),
]


class Unauthorised(Refusal):
    """A request without the key, or with another."""

    def headers(self) -> Headers:
        """Return the headers that belong to the refusal alone."""
        return [(b"www-authenticate", b'Bearer realm="vecuq"')]


class Guard:
    """Checks of every request before any route sees it.

    The key may stand in ``Authorization: Bearer KEY`` or in ``X-API-Key``. A name in ``Host`` that is not ours is
    refused, so that no page of another site can reach the service through a name of its own (DNS rebinding). A page
    of another site is refused by its ``Origin``, unless the settings name it.
    """

    def __init__(self, settings: ServeSettings) -> None:
        self._key = None if settings.api_key is None else _digest(settings.api_key.encode())
        self._origins = frozenset(one.rstrip("/").lower().encode() for one in settings.origins)
        self._names = frozenset(one.lower().rstrip(".") for one in (*settings.hosts, *LOOPBACK, settings.host))
        wide = settings.host in ANYWHERE
        self._any_host = "*" in settings.hosts or (wide and self._key is not None)
        self._any_address = wide
        self._hosts: dict[bytes, bool] = {}
        secure: Headers = [(b"strict-transport-security", b"max-age=31536000")] if settings.certificate else []
        self._page, self._answer = [*_EVERYWHERE, *_PAGE, *secure], [*_EVERYWHERE, *_ANSWER, *secure]

    def check(self, scope: Mapping[str, Any]) -> Refusal | None:
        """Return why a request is refused, or None."""
        host = origin = key = None
        for name, value in scope["headers"]:
            if name == b"host":
                if host is not None:
                    return Refusal(400, "bad_request", "A request has one Host header; two came.")
                host = value
            elif name == b"origin":
                origin = value
            elif name == b"authorization" or (name == b"x-api-key" and not key):
                key = _bare(name, value) or key or b""  # that of a proxy is none of ours
        if host is not None and not self._any_host and not self._knows(host):
            return _unknown_host(host)
        if origin is not None and not self._may_come_from(origin, host):
            return Refusal(
                403, "origin", "Pages of other sites may not call this service. Start it with --allow-origin ORIGIN."
            )
        if self._key is None or _is_open(scope) or self.is_preflight(scope):
            return None
        return self._judged(key)

    def headers(self, path: str) -> Headers:
        """Return the headers of every answer of a path; the list is shared, so it is not to be changed."""
        return self._page if _is_page(path) else self._answer

    def cors(self, scope: Mapping[str, Any]) -> Headers:
        """Return the headers that let a page of an allowed site read the answer."""
        if not self._origins:
            return []
        origin = _header(scope, b"origin")
        if origin is None or origin.lower() not in self._origins:
            return [(b"vary", b"origin")]
        return [
            (b"access-control-allow-origin", origin),
            (b"access-control-expose-headers", b"x-request-id, retry-after"),
            (b"vary", b"origin"),
        ]

    def is_preflight(self, scope: Mapping[str, Any]) -> bool:
        """Whether a browser asks for a page of an allowed site if it may call; answer 204 with `preflight`."""
        if scope["method"] != "OPTIONS" or not self._origins:
            return False
        asked = _header(scope, b"access-control-request-method") is not None
        return asked and (_header(scope, b"origin") or b"").lower() in self._origins

    def preflight(self) -> Headers:
        """Return the headers of the answer to a preflight, beside those of every answer."""
        allowed = [(b"access-control-allow-methods", _ALLOWED), (b"access-control-allow-headers", _ASKED)]
        return [*allowed, (b"access-control-max-age", b"600")]

    def _judged(self, key: bytes | None) -> Refusal | None:
        if key is None:
            return Unauthorised(401, "no_key", "This service needs a key: send the header Authorization: Bearer KEY.")
        if self._key is not None and hmac.compare_digest(_digest(key), self._key):
            return None
        return Unauthorised(401, "wrong_key", "This is not the key of the service.")

    def _knows(self, host: bytes) -> bool:
        known = self._hosts.get(host)
        if known is None:
            known = self._accepts(host_name(host.decode("latin-1")))
            if len(self._hosts) < _MOST_HOSTS:
                self._hosts[host] = known
        return known

    def _accepts(self, name: str) -> bool:
        return name in self._names or (self._any_address and _is_address(name))

    def _may_come_from(self, origin: bytes, host: bytes | None) -> bool:
        own = origin.lower().partition(b"://")[2]
        return (host is not None and own == host.lower()) or origin.lower() in self._origins


def host_name(host: str) -> str:
    """Return the name in a Host header: without port, brackets, capitals and the dot of the root.

    Examples
    --------
    >>> host_name("LocalHost.:8000"), host_name("[::1]:8000"), host_name("10.0.0.1")
    ('localhost', '::1', '10.0.0.1')
    """
    name, bracket, _ = host.strip().lower().partition("]")
    return (name.removeprefix("[") if bracket else name.partition(":")[0]).rstrip(".")


def _unknown_host(host: bytes) -> Refusal:
    name = "".join(letter if letter.isprintable() else "?" for letter in host.decode("latin-1"))[:100]
    return Refusal(
        421, "host", f"This service does not go by the name {name!r}. Start it with --allow-host NAME, or set a key."
    )


def _bare(name: bytes, value: bytes) -> bytes:
    """Return the key in a header; Authorization names a scheme before it, and another than Bearer is none."""
    if name == b"x-api-key":
        return value.strip()
    scheme, _, key = value.partition(b" ")
    return key.strip() if scheme.lower() == b"bearer" else b""


def _digest(key: bytes) -> bytes:
    """Return what is compared: of one length for every key."""
    return sha256(key).digest()


def _is_open(scope: Mapping[str, Any]) -> bool:
    path: str = scope["path"]
    return scope["method"] in ("GET", "HEAD") and (path in _OPEN or path.startswith(_PAGES))


def _is_page(path: str) -> bool:
    return path == "/" or path.startswith((_PAGES, "/docs"))


def _is_address(name: str) -> bool:
    try:
        ip_address(name)
    except ValueError:
        return False
    return True


def _header(scope: Mapping[str, Any], wanted: bytes) -> bytes | None:
    headers: Iterable[tuple[bytes, bytes]] = scope["headers"]
    return next((value for name, value in headers if name == wanted), None)
