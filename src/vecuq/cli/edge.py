"""Where the process begins and ends: stop signals, what may be printed, the exit code. Imports nothing heavy."""

from __future__ import annotations

import os
import signal
import sys

TYPE_CHECKING = False  # `typing` takes longer to import than all the rest here
if TYPE_CHECKING:
    from collections.abc import Callable
    from types import FrameType
    from typing import NoReturn

# The reader of our output has gone, as with `| head`; a shell shows this number for programs that a closed pipe ends.
CLOSED_PIPE = 141
# 128 and the number of the signal that stopped us, as shells have it; empty while nothing did.
STOPPED: list[int] = []


def main() -> NoReturn:
    """Run the command line; this is the whole program, and it ends the process."""
    # Nothing is written yet, so a signal may end the process at once, in the middle of an import.
    _on_signals(lambda number, _: os._exit(128 + number))
    _print_anything()
    code = _run()
    # What is left is the interpreter's own end, which would report an interrupt at length.
    _on_signals(lambda *_: os._exit(code))
    if STOPPED:
        _flush(code)
        _show_cursor()
        os._exit(STOPPED[0])
    sys.exit(_flush(code))


def _run() -> int:
    """Run the application and return its exit code, whatever it raises."""
    try:
        from vecuq.cli.commands import app

        _on_signals(_stop)
        app(prog_name="vecuq")
    except SystemExit as done:
        if isinstance(done.__context__, BrokenPipeError):  # rich leaves with 1
            return CLOSED_PIPE
        return done.code if isinstance(done.code, int) else int(done.code is not None)
    except BaseException as error:  # only what goes wrong before a command is known, or while an error is reported
        if not STOPPED:
            _say(f"error: unexpected {type(error).__name__}: {error}; is vecuq installed completely?")
        return 1
    return 0


def _on_signals(react: Callable[[int, FrameType | None], object]) -> None:
    """Let a function react to the signals that stop a program, unless they are ignored, as with nohup."""
    for name in ("SIGINT", "SIGTERM", "SIGHUP"):
        number = getattr(signal, name, None)
        if number is not None and signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, react)


def _stop(number: int, _: object) -> NoReturn:
    """Unwind the command, so that it removes what it was writing; remember why, for a library may hide it."""
    STOPPED.append(128 + number)
    # Where nothing catches an exception, as in a destructor or at the very end of `main`, nothing is said either.
    sys.unraisablehook = lambda _: None
    sys.excepthook = lambda *_: os._exit(128 + number)
    if number == signal.SIGINT:
        raise KeyboardInterrupt
    sys.exit(128 + number)


def _print_anything() -> None:
    """Print letters that the terminal's encoding lacks as escapes, instead of failing."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")


def _flush(code: int) -> int:
    """Write what is still to be written; if nobody can take it, let the interpreter's end not try again."""
    try:
        if sys.stdout is not None:
            sys.stdout.flush()
    except OSError as error:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        if isinstance(error, BrokenPipeError):
            return CLOSED_PIPE
        if code == 0:
            _say(f"error: {error}")
        return code or 1
    return code


def _show_cursor() -> None:
    """Bring back what a progress bar hides, if it was stopped before it could."""
    if sys.stderr is not None and sys.stderr.isatty() and os.environ.get("TERM", "dumb") != "dumb":
        sys.stderr.write("\x1b[?25h")
        sys.stderr.flush()


def _say(line: str) -> None:
    if sys.stderr is not None:
        sys.stderr.write(f"{' '.join(line.split())}\n")
