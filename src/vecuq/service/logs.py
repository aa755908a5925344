"""Logs on stderr: one line per event, as JSON for programs or plain for people.

No line holds a value of a row, a key, a path or a query as it came: a request is known by its id and its route.
"""

from __future__ import annotations

import asyncio
import logging
import sys
import time
from contextlib import suppress
from traceback import extract_tb
from types import TracebackType
from typing import Any, TextIO

import msgspec

from vecuq._check import one_line
from vecuq.service.settings import LogSettings

NAME = "vecuq.service"
# The loggers that a process of the service writes with: ours, and uvicorn's own.
_LOGGERS = (NAME, "uvicorn", "uvicorn.error", "uvicorn.asgi")
_WORDS = {"warning": "note:", "error": "error:", "critical": "error:"}


def set_up(settings: LogSettings, stream: TextIO | None = None) -> None:
    """Send the lines of this process, uvicorn's too, to stderr in the form of the settings."""
    stream = sys.stderr if stream is None else stream
    handler = logging.StreamHandler(stream)
    plain = is_plain(settings, stream)
    handler.setFormatter(PlainLines() if plain else JsonLines(settings.level == "debug"))
    for name in _LOGGERS:
        logger = logging.getLogger(name)
        logger.handlers, logger.propagate = (
            [handler] if name in (NAME, "uvicorn") else [],
            name not in (NAME, "uvicorn"),
        )
        # Uvicorn reports its own start and end, which the service reports itself.
        quiet = name.startswith("uvicorn") and settings.level == "info"
        logger.setLevel("WARNING" if quiet else settings.level.upper())


def is_plain(settings: LogSettings, stream: TextIO) -> bool:
    """Whether lines are for people: as the settings say, or if a terminal shows them."""
    return settings.form == "plain" or (settings.form == "auto" and stream.isatty())


class JsonLines(logging.Formatter):
    """One JSON object per line."""

    def __init__(self, messages: bool = False) -> None:
        super().__init__()
        self._messages = messages

    def format(self, record: logging.LogRecord) -> str:
        """Return the line of a record; its ``about`` gives further fields."""
        line: dict[str, Any] = {"time": _stamp(record.created), "level": record.levelname.lower()}
        line["message"] = one_line(record.getMessage(), most=1_000)
        line.update(getattr(record, "about", {}))
        if record.exc_info and record.exc_info[1] is not None:
            line.update(_fault(record.exc_info[1], messages=self._messages))
        return msgspec.json.encode(line).decode()


class PlainLines(logging.Formatter):
    """One short line for people."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the line of a record."""
        about = " ".join(f"{name}={value}" for name, value in getattr(record, "about", {}).items())
        word = _WORDS.get(record.levelname.lower(), "")
        line = " ".join(part for part in (word, one_line(record.getMessage(), most=1_000), about) if part)
        if record.exc_info and record.exc_info[1] is not None:
            fault = _fault(record.exc_info[1])
            line += f" {fault['error']} at {fault['at'][-1] if fault['at'] else '?'}"
        return line


def _fault(error: BaseException, *, messages: bool = False) -> dict[str, Any]:
    """Return where an error came from; its message, which may hold values of rows, only when debugging."""
    about = {"error": type(error).__name__, "at": _places(error.__traceback__)}
    return {**about, "reason": one_line(error, most=1_000)} if messages else about


def _places(trace: TracebackType | None) -> list[str]:
    return [f"{frame.filename.rpartition('/')[2]}:{frame.lineno} {frame.name}" for frame in extract_tb(trace)[-12:]]


def _stamp(seconds: float) -> str:
    """Return a time in UTC, with milliseconds, as RFC 3339 has it."""
    whole = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(seconds))
    return f"{whole}.{int(seconds % 1 * 1000):03d}Z"


class RequestLog:
    """The access log: a line for every request, for those that went wrong, or for none."""

    def __init__(self, settings: LogSettings | None = None, stream: TextIO | None = None) -> None:
        settings = settings or LogSettings()
        self._stream = sys.stderr if stream is None else stream
        self._least = {"all": 0, "errors": 400, "off": 1_000}[settings.access]
        self._plain = is_plain(settings, self._stream)
        self._lines: list[str] = []

    def request(
        self,
        *,
        request_id: str,
        method: str,
        route: str,
        status: int,
        seconds: float,
        rows: int = 0,
        bytes_in: int = 0,
    ) -> None:
        """Write the line of a request, if it gets one."""
        if status < self._least:
            return
        line = {
            "time": _stamp(time.time()),
            "level": "error" if status >= 500 else "info",
            "message": "request",
            "request_id": request_id,
            "method": method[:16],
            "route": route,
            "status": status,
            "ms": round(seconds * 1e3, 3),
        }
        if rows:
            line["rows"] = rows
        if bytes_in:
            line["bytes"] = bytes_in
        self._write(_for_people(line) if self._plain else msgspec.json.encode(line).decode() + "\n")

    def _write(self, line: str) -> None:
        """Write the lines of one turn of the event loop at once: a system call costs more than the line."""
        self._lines.append(line)
        if len(self._lines) > 1:
            return
        try:
            asyncio.get_running_loop().call_soon(self._flush)
        except RuntimeError:  # there is no loop
            self._flush()

    def _flush(self) -> None:
        lines, self._lines = self._lines, []
        with suppress(OSError, ValueError):  # whoever read them has gone; requests go on
            self._stream.write("".join(lines))
            self._stream.flush()


def _for_people(line: dict[str, Any]) -> str:
    rows = f" {line['rows']} rows" if "rows" in line else ""
    clock = line["time"][11:19]
    return f"{clock} {line['status']} {line['method']} {line['route']} {line['ms']:g} ms{rows} {line['request_id']}\n"
