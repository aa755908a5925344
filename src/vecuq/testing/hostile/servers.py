"""What a server may reply: bodies altered or damaged, odd status lines and headers, our own key sent back."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

from hypothesis import strategies as st

from vecuq.testing.hostile.byte_level import damaged
from vecuq.testing.hostile.json_level import altered, as_json

KEY = "sk-hostile-0123456789"
_TOP = [{"token": "x", "logprob": -0.1}, {"token": "y", "logprob": -2.5}]
_CHOICE = {
    "message": {"role": "assistant", "content": "Goethe"},
    "finish_reason": "stop",
    "logprobs": {"content": [{"token": "Goethe", "logprob": -0.1, "top_logprobs": _TOP}]},
}
GOOD_REPLY: dict[str, Any] = {"id": "chatcmpl-1", "object": "chat.completion", "model": "m", "choices": [_CHOICE]}
_DELTAS: tuple[dict[str, Any], ...] = (
    {"choices": [{"index": 0, "delta": {"role": "assistant", "content": "Goe"}, "logprobs": _CHOICE["logprobs"]}]},
    {"choices": [{"index": 0, "delta": {"content": "the"}, "finish_reason": "stop"}]},
    {"choices": [], "usage": {"prompt_tokens": 9, "completion_tokens": 2}},
)
_ENDS = (
    b"data: [DONE]\n\n",
    b"data: [DONE]\n\n",
    b"",
    b": keep-alive\n\n",
    b'data: {"error": {"code": 503}}\n\n',
    b"data: {",
)
_STATUS = (
    *("HTTP/1.1 200 OK",) * 25,
    *("HTTP/1.1 400 Bad Request", "HTTP/1.1 401 No", "HTTP/1.1 429 Slow", "HTTP/1.1 500 Oops", "HTTP/1.1 302 Found"),
    *(f"HTTP/1.1 400 Bearer {KEY}", f"Authorization: Bearer {KEY}", "HTTP/9.9 999 ?", "HTTP/1.1 -1 x", "nonsense", ""),
    *("HTTP/1.1 200", "HTTP/1.1 204 No Content", "HTTP/1.1 100 Continue", "HTTP/1.0 200 OK", "\x00" * 40, "H" * 70_000),
)
_HEADERS = (
    *("",) * 25,
    "Content-Length: 5\r\n",
    "Content-Length: -1\r\n",
    "Content-Length: 99999999999\r\n",
    "Content-Length: x\r\n",
    "Transfer-Encoding: chunked\r\n",
    "Content-Encoding: gzip\r\n",
    "Location: http://127.0.0.1:1/\r\n",
    "Retry-After: ²\r\n",
    "Retry-After: 99999999999999999999\r\n",
    "Retry-After: Wed, 21 Oct 2015 07:28:00 GMT\r\n",
    "retry-after-ms: -1e9\r\nx-ratelimit-reset-tokens: 9h9m9s\r\n",
    f"X-Echo: {KEY}\r\n",
    "X: y\r\n" * 200,
    "no colon\r\n",
)
_ERRORS = (
    *({"error": {"message": f"max_completion_tokens {KEY}"}}, {"error": {"message": "stream", "param": "stream"}}),
    *({"error": {"message": "no", "param": "top_logprobs"}}, [{"error": {"message": f"insufficient_quota {KEY}"}}]),
    {"error": {"message": f"bad key {KEY}"}},
    {"error": f"{KEY}"},
    {"detail": [KEY]},
    {"message": {"a": KEY}},
)


@st.composite
def replies(draw: st.DrawFn) -> bytes:
    """Return a strategy of what a server sends back: status line, headers and body."""
    status, headers = draw(st.sampled_from(_STATUS)), draw(st.sampled_from(_HEADERS))
    body = draw(st.one_of(_bodies(), _bodies(), st.sampled_from(_ERRORS).map(as_json).map(str.encode)))
    kind = "application/json"
    if draw(st.integers(0, 3)) == 0:
        kind, body = draw(st.sampled_from(("text/event-stream", kind))), draw(_streams())
    return f"{status}\r\nContent-Type: {kind}\r\n{headers}\r\n".encode() + body


@st.composite
def _bodies(draw: st.DrawFn) -> bytes:
    reply, _ = draw(altered(GOOD_REPLY))
    text = as_json(reply).encode("utf-8", "surrogatepass")
    return draw(damaged(text)) if draw(st.integers(0, 5)) == 0 else text


@st.composite
def _streams(draw: st.DrawFn) -> bytes:
    """Return a strategy of event streams: good ones, altered, in another order, damaged, or without an end."""
    events = [draw(altered(event))[0] if draw(st.integers(0, 2)) == 0 else event for event in _DELTAS]
    kept = draw(st.permutations(events)) if draw(st.integers(0, 4)) == 0 else events
    lines = [b"data: " + as_json(event).encode("utf-8", "surrogatepass") + b"\n\n" for event in kept]
    stream = b"".join([*lines, draw(st.sampled_from(_ENDS))])
    return draw(damaged(stream)) if draw(st.integers(0, 5)) == 0 else stream


@contextmanager
def serving(reply: bytes) -> Iterator[str]:
    """Serve the same reply to every request, on a port of this machine; yield the address for ``--url``."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(0.1)
        over = threading.Event()
        thread = threading.Thread(target=_serve, args=(server, reply, over), daemon=True)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.getsockname()[1]}/v1"
        finally:
            over.set()
            thread.join()


def _serve(server: socket.socket, reply: bytes, over: threading.Event) -> None:
    while not over.is_set():
        with suppress(OSError):
            connection, _ = server.accept()
            with connection:
                connection.settimeout(2)
                _read_request(connection)
                connection.sendall(reply)


def _read_request(connection: socket.socket) -> None:
    """Read one request to its end, so that closing does not look like a reset."""
    data = b""
    while b"\r\n\r\n" not in data:
        data += connection.recv(65_536)
    head, _, body = data.partition(b"\r\n\r\n")
    length = next(
        (int(line.split(b":")[1]) for line in head.split(b"\r\n") if line.lower().startswith(b"content-length")), 0
    )
    while len(body) < length:
        body += connection.recv(65_536)
