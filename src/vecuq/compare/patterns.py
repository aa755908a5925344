"""Regular expressions that cannot hang: whatever the pattern, it runs in a process of its own with a time bound.

The engine of the standard library cannot be interrupted from another thread, and a pattern such as ``(a+)+$`` takes
exponential time. The process is started once, gets one text per line, and is killed when the time is over.
"""

from __future__ import annotations

import atexit
import json
import os
import re
import subprocess
import sys
import warnings
from contextlib import suppress
from threading import Lock, Timer
from typing import Any

from vecuq._check import one_line
from vecuq.errors import SettingError, TableError

SECONDS = 2
_MOST_LETTERS = 1_000
# An alarm without a handler ends the process, so that nothing is left running if this one is killed.
_WORKER = f"""
import json, re, signal, sys
alarm = getattr(signal, "alarm", lambda seconds: None)
for line in sys.stdin:
    pattern, text = json.loads(line)
    alarm({SECONDS} + 1)
    found = None
    for found in re.finditer(pattern, text):
        pass
    alarm(0)
    said = found and next((group for group in found.groups() if group is not None), found[0])
    print(json.dumps(said), flush=True)
"""


def checked_pattern(pattern: str) -> str:
    """Return a pattern that is a regular expression of sensible length.

    Examples
    --------
    >>> checked_pattern("answer: (.*)")
    'answer: (.*)'
    """
    if not pattern or len(pattern) > _MOST_LETTERS:
        raise SettingError(f"extract='regex:...' needs a pattern of 1 to {_MOST_LETTERS:,} letters.")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            re.compile(pattern)
    except (re.error, OverflowError, RecursionError) as error:
        shown = one_line(pattern, most=60)
        raise SettingError(f"extract needs a regular expression; {shown!r} is none: {one_line(error)}.") from None
    return pattern


class _Matcher:
    """The process that matches, started on first use and again after it was killed."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[str] | None = None
        self._lock = Lock()
        self._owner = 0

    def last_match(self, pattern: str, text: str) -> str | None:
        """Return the first group that took part in the last match, or the whole match; None for no match."""
        with self._lock:
            process = self._started()
            bound = Timer(SECONDS, process.kill)
            bound.start()
            try:
                line = _exchanged(process, json.dumps([pattern, text]))
            finally:
                bound.cancel()
        if not line:
            self.stop()
            raise TableError(
                f"The pattern {one_line(pattern, most=60)!r} took more than {SECONDS} s on one text of {len(text):,} "
                f"letters. Repeats within repeats, such as (a+)+, take long; write a simpler one in `extract`."
            )
        found: str | None = json.loads(line)
        return found

    def _started(self) -> subprocess.Popen[str]:
        if self._owner != os.getpid() or self._process is None or self._process.poll() is not None:
            self.stop()
            self._owner = os.getpid()
            self._process = subprocess.Popen(  # noqa: S603 - our own program, and no shell
                [sys.executable, "-I", "-S", "-W", "ignore", "-c", _WORKER],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                encoding="ascii",
            )
        return self._process

    def stop(self) -> None:
        """End the process, unless it belongs to a parent that this process was forked from."""
        if self._process is not None and self._owner == os.getpid():
            self._process.kill()
            self._process.wait()
            for stream in (self._process.stdin, self._process.stdout):
                _close(stream)
        self._process = None


def _exchanged(process: subprocess.Popen[str], line: str) -> str:
    """Send one line and return the next; nothing from a process that was killed."""
    assert process.stdin is not None and process.stdout is not None  # noqa: S101,PT018 - both are pipes
    try:
        process.stdin.write(f"{line}\n")
        process.stdin.flush()
        return process.stdout.readline()
    except OSError:
        return ""


def _close(stream: Any) -> None:
    with suppress(OSError):  # what was not sent is lost, and nobody waits for it
        stream.close()


_MATCHER = _Matcher()
atexit.register(_MATCHER.stop)


def last_match(pattern: str, text: str) -> str | None:
    r"""Return the first group that took part in the last match of a pattern, or the whole match if none did.

    Examples
    --------
    >>> last_match(r"#### (\d+)", "#### 3 and then #### 18")
    '18'
    """
    return _MATCHER.last_match(pattern, text)
