"""Where a service is and how it is reached: checked once, kept out of sight."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

from vecuq._check import in_range, whole_number
from vecuq._version import __version__
from vecuq.client.again import Lost
from vecuq.client.calls import Call
from vecuq.client.lost import Verify, verified_by, why_unreachable
from vecuq.errors import SettingError

# Less than any server keeps an idle connection, so that no request is sent into one that just closes.
_IDLE_SECONDS = 2.0


def httpx_package() -> Any:
    """Return httpx, or say how to get it."""
    try:
        import httpx
    except ImportError:
        raise SettingError("A client needs httpx: pip install 'vecuq[serve]'.") from None
    return httpx


@dataclass(frozen=True)
class Setup:
    """What a client was made with."""

    url: str
    api_key: str | None = field(default=None, repr=False)
    model: str | None = None
    timeout: float = 30.0
    retries: int = 2
    verify: Verify = True

    def __post_init__(self) -> None:
        parts = urlsplit(self.url)
        if parts.scheme not in ("http", "https") or not parts.netloc or parts.query or parts.fragment:
            raise SettingError("url must be the address of a service, such as 'http://127.0.0.1:8000'.")
        if parts.username is not None or parts.password is not None:
            raise SettingError("url must not hold a name or a password; give the key as api_key.")
        if self.api_key is not None and not (self.api_key and _is_plain(self.api_key)):
            # The key itself is not shown: messages end up in logs.
            raise SettingError("api_key must be printable ASCII without blanks.")
        in_range("timeout", self.timeout, 0.0, ends="()")
        whole_number("retries", self.retries, 0)

    def options(self) -> dict[str, Any]:
        """Return what a client of httpx is made with."""
        httpx = httpx_package()
        key = {} if self.api_key is None else {"authorization": f"Bearer {self.api_key}"}
        return {
            "base_url": self.url,
            "headers": {"user-agent": f"vecuq/{__version__}", **key},
            "timeout": self.timeout,
            "verify": verified_by(self.verify),
            "limits": httpx.Limits(keepalive_expiry=_IDLE_SECONDS),
            "follow_redirects": False,  # the key is for this service only
        }

    def request(self, call: Call[Any]) -> dict[str, Any]:
        """Return the arguments of one request of httpx."""
        sent = {"content": call.body} if call.body is not None else {}
        return {"method": call.method, "url": call.path, "params": call.query, "headers": call.headers, **sent}

    def lost(self, error: Exception) -> Lost:
        """Return what became of a request that httpx gave up."""
        httpx, kind = httpx_package(), type(error).__name__
        if isinstance(error, httpx.TimeoutException):
            return Lost("timeout", f"{self.url} did not answer within {self.timeout:g} seconds ({kind}).", sent=True)
        sent = not isinstance(error, httpx.ConnectError | httpx.UnsupportedProtocol)
        return Lost("unreachable", why_unreachable(self.url, error), sent=sent)


def _is_plain(key: str) -> bool:
    return key.isascii() and key.isprintable() and " " not in key
