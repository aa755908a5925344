"""A user's own program as a judge: pairs as JSON lines on its input, one number per line on its output."""

from __future__ import annotations

import json
import os
import shlex
import signal
import subprocess
import weakref
from collections.abc import Sequence
from threading import Lock, Thread, Timer
from typing import Any

from vecuq._check import in_range, one_line
from vecuq.errors import SettingError, TableError

_MOST_LETTERS, _BLOCK = 1_000, 4_096


class CommandJudge:
    """A program that compares texts. It is started once, without a shell, and ended with this process.

    For every pair it reads a line such as ``{"question": "...", "one": "...", "other": "..."}`` and writes a line with
    a number in [0, 1]: 1 for the same meaning. It must flush its output after each line.

    Parameters
    ----------
    command
        The program and its arguments, as a list or as one text that is split as a shell would.
    timeout
        Most seconds for the pairs of one answer.
    """

    def __init__(self, command: str | Sequence[str], *, timeout: float = 300.0) -> None:
        self.words = _split(command) if isinstance(command, str) else list(command)
        if not self.words:
            raise SettingError("command must name a program; got none.")
        self._timeout = in_range("timeout", timeout, 0.0, 86_400.0, ends="(]")
        self.name = one_line(shlex.join(self.words), most=120)
        self._begin()

    def _begin(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None
        self._rest = b""
        self._lock = Lock()

    @property
    def identity(self) -> str:
        """The words of the command; a program that changes under the same words is not seen."""
        return f"CommandJudge 1: {json.dumps(self.words)}"

    def __call__(self, asked: Sequence[tuple[str, str, str]]) -> list[float]:
        """Return one number per (question, one text, another)."""
        lines = [json.dumps({"question": q, "one": one, "other": other}) for q, one, other in asked]
        with self._lock:
            return self._exchanged(lines)

    def _exchanged(self, lines: Sequence[str]) -> list[float]:
        process = self._started()
        assert process.stdin is not None and process.stdout is not None  # noqa: S101,PT018 - both are pipes
        late: list[bool] = []
        bound = Timer(self._timeout, _kill, (process, late))
        # A thread writes, so that neither side waits for the other with full pipes.
        writer = Thread(target=_write, args=(process.stdin, lines), daemon=True)
        bound.start()
        writer.start()
        found: list[float] = []
        try:
            while len(found) < len(lines) and (line := self._line(process.stdout.fileno())):
                found.append(self._number(line))
        finally:
            bound.cancel()
        if len(found) < len(lines):
            self._stop()
            why = f"ended (exit code {process.returncode}) after {len(found)} of {len(lines)} lines."
            slow = f"took more than {self._timeout:g} s; does it flush its output after each line?"
            raise TableError(f"The command {self.name!r} {slow if late else why}")
        if self._rest.strip():  # it would be taken for the answer to the next pair
            self._stop()
            raise TableError(f"The command {self.name!r} must write one line per pair; it wrote more.")
        writer.join()
        return found

    def _line(self, place: int) -> str:
        """Return the next line of the program's output, or as much of it as a number may have; empty at its end."""
        while b"\n" not in self._rest and len(self._rest) < _MOST_LETTERS and (block := os.read(place, _BLOCK)):
            self._rest += block
        line, end, self._rest = self._rest.partition(b"\n")
        return (line + end).decode("utf-8", "replace")

    def _number(self, line: str) -> float:
        try:
            found = float(line)
        except ValueError:
            found = -1.0
        if not 0.0 <= found <= 1.0:
            self._stop()
            raise TableError(
                f"The command {self.name!r} must write one number in [0, 1] per line; "
                f"got {one_line(line.strip(), most=60)!r}."
            )
        return found

    def _started(self) -> subprocess.Popen[bytes]:
        if self._process is None or self._process.poll() is not None:
            self._stop()
            try:
                # A group of its own, so that what the program started ends with it.
                self._process = subprocess.Popen(  # noqa: S603 - the user's own command, without a shell
                    self.words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True
                )
            except (OSError, ValueError) as error:
                raise SettingError(f"The command {self.name!r} cannot be started: {one_line(error)}.") from None
            weakref.finalize(self, _end, self._process)
        return self._process

    def _stop(self) -> None:
        if self._process is not None:
            _end(self._process)
        self._process, self._rest = None, b""

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name not in ("_process", "_rest", "_lock")}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        self._begin()


def _kill(process: subprocess.Popen[bytes], late: list[bool]) -> None:
    late.append(True)
    _kill_all(process)


def _kill_all(process: subprocess.Popen[bytes]) -> None:
    """End a program and the processes that it started."""
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except (AttributeError, ProcessLookupError, PermissionError):  # Windows has no groups; or it has ended
        process.kill()


def _split(command: str) -> list[str]:
    try:
        return shlex.split(command)
    except ValueError as error:
        raise SettingError(f"command must be a program and its arguments: {one_line(error)}.") from None


def _write(stream: Any, lines: Sequence[str]) -> None:
    try:
        stream.write("".join(f"{line}\n" for line in lines).encode("ascii"))
        stream.flush()
    except (OSError, ValueError):  # the program has ended: its missing lines are the error
        return


def _end(process: subprocess.Popen[bytes]) -> None:
    _kill_all(process)
    process.wait()
    for stream in (process.stdin, process.stdout):
        try:
            if stream is not None:
                stream.close()
        except OSError:  # what was not sent is lost, and nobody waits for it
            continue
