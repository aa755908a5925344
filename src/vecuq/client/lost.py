"""Why no answer came: the certificate, the scheme, the name, or the port; each with what to do."""

from __future__ import annotations

import os
import socket
import ssl
from collections.abc import Iterator
from typing import Any
from urllib.parse import urlsplit

from vecuq._check import existing_file
from vecuq.errors import SettingError

Verify = bool | str | os.PathLike[str] | ssl.SSLContext


def verified_by(verify: Verify) -> bool | ssl.SSLContext:
    """Return how a client of httpx checks certificates; a file holds those that are trusted."""
    if isinstance(verify, bool | ssl.SSLContext):
        return verify
    path = existing_file(verify)
    try:
        return ssl.create_default_context(cafile=path)
    except (ssl.SSLError, OSError):
        raise SettingError(f"verify must be a file of certificates (PEM); {path} holds none.") from None


def why_unreachable(url: str, error: BaseException) -> str:
    """Return why a connection failed, in words."""
    kind = type(error).__name__
    causes = list(_causes(error))
    if any(isinstance(one, ssl.SSLCertVerificationError) for one in causes):
        said = next(one for one in causes if isinstance(one, ssl.SSLCertVerificationError)).verify_message
        return (
            f"The certificate of {url} is not trusted: {said or 'it cannot be verified'}. Give the file of the "
            f"authority that signed it: verify='ca.pem'."
        )
    if any(isinstance(one, ssl.SSLError) for one in causes):
        plain = urlsplit(url)._replace(scheme="http").geturl()
        return f"{url} does not speak https ({kind}). Is it {plain}?"
    if any(isinstance(one, socket.gaierror) for one in causes):
        return f"The name {urlsplit(url).hostname!r} of {url} is not known here ({kind}). Is it spelt right?"
    if any(isinstance(one, ConnectionRefusedError) for one in causes):
        return f"No service answers at {url}: the connection was refused ({kind}). Is it running, at this port?"
    return f"No service answers at {url} ({kind}). Is it running?"


def _causes(error: BaseException | None) -> Iterator[Any]:
    """Yield an error and what caused it, also several causes at once."""
    seen: set[int] = set()
    waiting: list[Any] = [error]
    while waiting:
        one = waiting.pop()
        if one is None or id(one) in seen:
            continue
        seen.add(id(one))
        yield one
        waiting += [one.__cause__, one.__context__, *getattr(one, "exceptions", ())]
