"""The few words of ASGI that the routes speak: a request with its headers, and an answer that is sent."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, MutableMapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
Headers = list[tuple[bytes, bytes]]

JSON = b"application/json"


class Disconnected(Exception):  # noqa: N818 - nobody is there to read an error
    """The client went away before its request was complete."""


class Request:
    """A request to a raw route: what of its headers matters, and the way to its body."""

    __slots__ = ("accept", "content_type", "encoding", "length", "n_bytes", "n_rows", "name", "receive", "scope")

    def __init__(self, scope: Scope, receive: Receive, name: str | None) -> None:
        self.scope, self.receive, self.name = scope, receive, name
        self.content_type = self.accept = self.encoding = b""
        self.length: int | None = None
        self.n_bytes = self.n_rows = 0
        for key, value in scope["headers"]:
            if key == b"content-type":
                self.content_type = value
            elif key == b"content-length":
                self.length = int(value) if value.isdigit() and len(value) < 20 else None
            elif key == b"accept":
                self.accept = value
            elif key == b"content-encoding":
                self.encoding = value


class Answer:
    """What a raw route returns: a body, or a file that is sent in chunks and closed with all that belongs to it."""

    __slots__ = ("body", "closing", "content_type", "file", "length")

    def __init__(self, body: bytes, content_type: bytes = JSON) -> None:
        self.content_type, self.body, self.length = content_type, body, len(body)
        self.file: Path | None = None
        self.closing: ExitStack | None = None

    @staticmethod
    def of_file(file: Path, content_type: bytes, closing: ExitStack) -> Answer:
        """Return the answer that a file holds; ``closing`` is closed when it is sent, or when that fails."""
        made = Answer(b"", content_type)
        made.file, made.length, made.closing = file, file.stat().st_size, closing
        return made

    def close(self) -> None:
        """Let go of the file."""
        if self.closing is not None:
            self.closing.close()
