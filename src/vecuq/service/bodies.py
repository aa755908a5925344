"""Bodies of requests: received within limits of size and time, whole in memory or in a private file."""

from __future__ import annotations

import asyncio
import mmap
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

from vecuq.service.asgi import Disconnected, Request
from vecuq.service.patience import Patience
from vecuq.service.refusal import Refusal
from vecuq.service.settings import MEGABYTE, Limits

_PIECE = 4 * MEGABYTE
_CHUNK = MEGABYTE // 2


def refuse_length(request: Request, limits: Limits) -> None:
    """Refuse a body at once that says itself that it is too large."""
    if request.length is not None and request.length > limits.body:
        raise _too_large(limits)


def _too_large(limits: Limits) -> Refusal:
    return Refusal(
        413, "too_large", f"The body has more than {limits.body:,} bytes, the limit here. Send fewer rows at a time."
    )


async def whole_body(request: Request, limits: Limits, patience: Patience) -> bytes:
    """Return a body in one piece; mostly it is here already."""
    refuse_length(request, limits)
    try:
        with patience:
            message = await request.receive()
            if message["type"] == "http.request" and not message.get("more_body"):
                body: bytes = message.get("body", b"")
                request.n_bytes = len(body)
                if len(body) > limits.body:
                    raise _too_large(limits)
                return body
            parts = [message.get("body", b"")] if message["type"] == "http.request" else _gone()
            async for part in _more(request, limits, len(parts[0])):
                parts.append(part)
            return b"".join(parts)
    except TimeoutError:
        raise _slow(limits) from None


async def body_to_file(request: Request, path: Path, limits: Limits) -> None:
    """Write a body to a file, in pieces, while it arrives."""
    refuse_length(request, limits)
    waiting = bytearray()
    with path.open("wb") as file:
        try:
            async with asyncio.timeout(limits.seconds):
                async for part in _more(request, limits, 0):
                    waiting += part
                    if len(waiting) >= _PIECE:
                        await asyncio.to_thread(file.write, bytes(waiting))
                        waiting.clear()
        except TimeoutError:
            raise _slow(limits) from None
        file.write(waiting)


def _slow(limits: Limits) -> Refusal:
    return Refusal(408, "slow_body", f"The body was not here within {limits.seconds:g} seconds.")


def _gone() -> list[bytes]:
    raise Disconnected


async def _more(request: Request, limits: Limits, n_bytes: int) -> AsyncIterator[bytes]:
    """Yield the rest of a body as it comes."""
    request.n_bytes = n_bytes
    while True:
        message = await request.receive()
        if message["type"] != "http.request":
            raise Disconnected
        part: bytes = message.get("body", b"")
        request.n_bytes += len(part)
        if request.n_bytes > limits.body:
            raise _too_large(limits)
        yield part
        if not message.get("more_body"):
            return


def chunks_of(path: Path) -> Iterator[memoryview]:
    """Yield a file in chunks, which are read from disk when they are sent; the file may be removed meanwhile."""
    with path.open("rb") as file:
        content = memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))
    yield from (content[start : start + _CHUNK] for start in range(0, len(content), _CHUNK))
