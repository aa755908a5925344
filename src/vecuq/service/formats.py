"""Which formats come in and go out, by Content-Type and Accept."""

from __future__ import annotations

from typing import NamedTuple

from vecuq.service.asgi import Request
from vecuq.service.refusal import Refusal


class Format(NamedTuple):
    """A format: its media type, and the ending of a file of it; JSON has none."""

    media: str
    ending: str


JSON = Format("application/json", "")
CSV = Format("text/csv", ".csv")
PARQUET = Format("application/vnd.apache.parquet", ".parquet")
ARROW_STREAM = Format("application/vnd.apache.arrow.stream", ".arrows")
ARROW_FILE = Format("application/vnd.apache.arrow.file", ".arrow")
LINES = Format("application/x-ndjson", ".jsonl")
NPZ = Format("application/x-npz", ".npz")

_SAME = {"application/jsonl": LINES, "application/ndjson": LINES, "application/x-parquet": PARQUET}
READ = {one.media: one for one in (JSON, CSV, PARQUET, ARROW_STREAM, ARROW_FILE, LINES, NPZ)} | _SAME
WRITTEN = {one.media: one for one in (JSON, CSV, PARQUET, ARROW_STREAM, ARROW_FILE, LINES)} | _SAME
_NAMES = ", ".join(READ[name].media for name in READ if name not in _SAME)
_ANY = ("*/*", "application/*")


def format_in(request: Request) -> Format:
    """Return the format of a body; without a Content-Type it is JSON."""
    if request.encoding not in (b"", b"identity"):
        raise Refusal(415, "encoding", "Bodies are read as they are; leave Content-Encoding out.")
    if request.content_type in (b"application/json", b""):
        return JSON
    named = request.content_type.decode("latin-1").partition(";")[0].strip().lower()
    if named not in READ:
        raise Refusal(415, "content_type", f"The Content-Type {named[:60]!r} is not read. It may be: {_NAMES}.")
    return READ[named]


def format_out(request: Request, came: Format) -> Format:
    """Return the format of the answer: that of the body, unless Accept names another; outputs are answered as JSON."""
    usual = came if came.media in WRITTEN else JSON
    if request.accept in (b"", b"*/*"):
        return usual
    wanted = _listed(request.accept.decode("latin-1"))
    for name in wanted:
        if name in _ANY or name == usual.media:
            return usual
        if name in WRITTEN:
            return WRITTEN[name]
    raise Refusal(406, "accept", f"No format of Accept can be written. Ask for one of: {', '.join(WRITTEN)}.")


def _listed(accept: str) -> list[str]:
    """Return the media types of an Accept header, the most wanted first."""
    found: list[tuple[float, str]] = []
    for part in accept.split(",")[:32]:
        name, *more = (word.strip().lower() for word in part.split(";"))
        found.append((-_weight(more), name))
    return [name for weight, name in sorted(found, key=lambda one: one[0]) if weight < 0]


def _weight(parameters: list[str]) -> float:
    for one in parameters:
        if one.startswith("q="):
            try:
                return float(one[2:])
            except ValueError:
                return 0.0
    return 1.0
