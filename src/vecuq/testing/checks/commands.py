"""Run a command line in this process as if it were its own, and check its manners."""

from __future__ import annotations

import io
import os
import re
import signal
import sys
import tempfile
import traceback
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any

from vecuq.cli import printable
from vecuq.testing.attack import BrokenPromiseError
from vecuq.testing.hostile.cells import MARKUP
from vecuq.testing.hostile.commands import command_names, parameters

_CODES = (0, 1, 2, 130)
# What an option names that a command may write; every other file is only read.
_READ_BY_LIVE = "--recalibrate"
_OUTPUTS = ("-o", "--out", "--state", "--curves", "--picture")
_PAGES = (".html", ".svg", ".md")
# What a command listens to while it runs.
_SIGNALS = tuple(getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name))
_DEFECT = "error: unexpected "  # how the last catch begins
_NO_MEMORY = "error: not enough memory"
_STRICT, _FORCE, _DEBUG = "--strict", "--force", "--debug"
_STARTS = {
    b"PAR1": "parquet",
    b"PK": "zip",
    b"ARROW1": "arrow",
    b"\x1f\x8b": "gzip",
    b"<!": "page",
    b"Not a table": "note",
}


@dataclass(frozen=True)
class Outcome:
    """What a command did: exit code, output, an exception that it let through, and the files that it touched."""

    code: object
    stdout: str
    stderr: str
    raised: BaseException | None
    added: tuple[str, ...]
    changed: tuple[str, ...]
    lost: tuple[str, ...]
    replaced: tuple[str, ...]
    written: dict[str, bytes] = field(repr=False)


def run_command(words: Sequence[str], folder: Path, *, stdin: bytes = b"") -> Outcome:
    """Run ``vecuq`` with these words inside a folder, in this process."""
    before = _contents(folder)
    with _aside(words, folder, stdin) as (stdout, stderr):
        code, raised = _called()
    after = _contents(folder)
    return Outcome(
        code,
        stdout.getvalue().decode("utf-8", "replace"),
        stderr.getvalue().decode("utf-8", "replace"),
        raised,
        tuple(sorted(after.keys() - before.keys())),
        tuple(sorted(name for name in before.keys() & after.keys() if before[name] != after[name])),
        tuple(sorted(before.keys() - after.keys())),
        tuple(sorted(name for name in before.keys() & after.keys() if _other_kind(before[name], after[name]))),
        {name: content for name, content in after.items() if content is not None and before.get(name) != content},
    )


def _called() -> tuple[object, BaseException | None]:
    from vecuq.cli import main

    # Ours always exits; whoever tests this check may put one in its place that returns.
    command: Callable[[], object] = main
    try:
        command()
    except SystemExit as end:
        return end.code or 0, None
    except (Exception, KeyboardInterrupt) as error:
        return None, error
    return 0, None


@contextmanager
def _aside(words: Sequence[str], folder: Path, stdin: bytes) -> Iterator[tuple[io.BytesIO, io.BytesIO]]:
    """Put arguments, streams, folders, signals and warnings aside, and back afterwards."""
    kept: dict[str, Any] = {name: getattr(sys, name) for name in ("argv", "stdin", "stdout", "stderr")}
    place, temporary = Path.cwd(), tempfile.tempdir
    handlers = {number: signal.getsignal(number) for number in _SIGNALS}
    out, err = io.BytesIO(), io.BytesIO()
    scratch = folder / ".scratch"
    scratch.mkdir(exist_ok=True)
    try:
        os.chdir(folder)
        tempfile.tempdir = str(scratch)
        sys.argv = ["vecuq", *words]
        sys.stdin = io.TextIOWrapper(io.BytesIO(stdin), "utf-8")
        sys.stdout, sys.stderr = (io.TextIOWrapper(sink, "utf-8", write_through=True) for sink in (out, err))
        with warnings.catch_warnings():
            warnings.resetwarnings()
            warnings.simplefilter("ignore", DeprecationWarning)
            warnings.showwarning = _show_warning  # whoever runs tests may have put something else there
            yield out, err
    finally:
        for name in ("stdout", "stderr"):
            with suppress(ValueError):
                getattr(sys, name).detach()
        for name, value in kept.items():
            setattr(sys, name, value)
        os.chdir(place)
        tempfile.tempdir = temporary
        for number, handler in handlers.items():
            signal.signal(number, handler)


def _show_warning(message: Any, category: Any, filename: Any, lineno: Any, file: Any = None, line: Any = None) -> None:
    """Print a warning as Python does."""
    sys.stderr.write(warnings.formatwarning(message, category, filename, lineno, line))


def _contents(folder: Path) -> dict[str, bytes | None]:
    """Return every file below a folder by its name, with its content; None for a folder."""
    found = ((str(path.relative_to(folder)), path) for path in folder.rglob("*"))
    return {name: path.read_bytes() if path.is_file() else None for name, path in found if name != ".scratch"}


def check_command(words: Sequence[str], files: Mapping[str, bytes] | None = None, *, stdin: bytes = b"") -> Outcome:
    r"""Run a command line in a fresh folder and raise if it forgets its manners.

    Whatever it is given, a command ends with exit code 0, 1, 2 or 130 and never with a traceback; a failure is one
    line that begins with ``error:``; what it reads stays as it is, and nothing temporary is left behind.

    Parameters
    ----------
    words
        The words after ``vecuq``.
    files
        The files of the folder, by name.
    stdin
        What comes on standard input.

    Returns
    -------
    Outcome
        Exit code, output, and the files that the command touched.

    Examples
    --------
    >>> outcome = check_command(["score", "absent.vecuq", "new.csv"], {"new.csv": b"entropy\n0.5\n"})
    >>> outcome.code, outcome.stderr
    (1, 'error: There is no file absent.vecuq.\n')
    """
    with tempfile.TemporaryDirectory(prefix="vecuq-testing-") as name:
        folder = Path(name)
        for file, content in (files or {}).items():
            (folder / file).write_bytes(content)
        outcome = run_command(words, folder, stdin=stdin)
    refuse_bad_manners(outcome, words)
    return outcome


def refuse_bad_manners(outcome: Outcome, words: Sequence[str]) -> None:
    """Raise if a command did what none may do."""
    if outcome.raised is not None:
        raise BrokenPromiseError("traceback", last_lines(outcome.raised)) from outcome.raised
    if outcome.code not in _CODES:
        raise BrokenPromiseError("exit code", f"{outcome.code!r}; 0, 1, 2 or 130 was expected.")
    _check_streams(outcome, words)
    _check_files(outcome, words)
    _check_pages(outcome)


def last_lines(error: BaseException) -> str:
    """Return where an exception came from, and what it says, in one line."""
    frames = traceback.extract_tb(error.__traceback__)
    ours = [frame for frame in frames if f"{os.sep}vecuq{os.sep}" in frame.filename and "testing" not in frame.filename]
    place = f"{Path(ours[-1].filename).name}:{ours[-1].name}" if ours else "?"
    return f"{type(error).__name__} at {place}: {str(error)[:200]}"


def _check_streams(outcome: Outcome, words: Sequence[str]) -> None:
    lines = outcome.stderr.splitlines()
    if outcome.code == 2 or "--help" in words:
        return
    for line in lines:
        if line.startswith(_DEFECT):
            raise BrokenPromiseError("traceback", line[:300])
        if line.startswith(_NO_MEMORY):
            raise BrokenPromiseError("memory", "the command ran out of memory.")
    if _DEBUG in words:
        return  # a traceback is wanted
    if "Traceback (most recent call last)" in outcome.stderr:
        raise BrokenPromiseError("traceback", lines[-1])
    odd = [line for line in lines if not line.startswith(("error: ", "note: ")) and not line.endswith("-> stdout")]
    if odd:
        raise BrokenPromiseError("stray line", repr(odd[0][:300]))
    errors = sum(line.startswith("error: ") for line in lines)
    wanted = int(outcome.code == 1)
    if errors != wanted and not (_STRICT in words and errors == 0):
        raise BrokenPromiseError("error line", f"{errors} lines of errors with exit code {outcome.code}.")
    # A table that goes to standard output is data, and may hold anything.
    shown = outcome.stderr + ("" if "-" in words else outcome.stdout)
    obeyed = [one for one, plain in zip(shown, printable(shown), strict=True) if one != plain]
    if obeyed:
        raise BrokenPromiseError("escape", f"{obeyed[0]!r} of the input reached the terminal.")


def _check_files(outcome: Outcome, words: Sequence[str]) -> None:
    hidden = [name for name in outcome.added if ".part" in name or name.startswith(".scratch/")]
    if hidden:
        raise BrokenPromiseError("left behind", f"{hidden}")
    if outcome.lost:
        raise BrokenPromiseError("lost file", f"{list(outcome.lost)}")
    outputs = _outputs_of(words)
    read = [word for word, before in zip(words, ("", *words), strict=False) if before not in _OUTPUTS]
    touched = [name for name in outcome.changed if name in read or not any(_within(name, out) for out in outputs)]
    touched = [name for name in touched if name not in _states_in(words)]
    if touched:
        raise BrokenPromiseError("input changed", f"{touched} by {' '.join(words)}")
    replaced = [name for name in outcome.replaced if _FORCE not in words]
    if replaced:
        raise BrokenPromiseError("overwritten", f"{replaced}, of another kind, by {' '.join(words)}")


def _states_in(words: Sequence[str]) -> list[str]:
    """Return the states that a command line goes on with, although no option says that they are written."""
    given = [word for word, before in zip(words, ("", *words), strict=False) if before != _READ_BY_LIVE]
    return given[1:] if words[:1] in (["live"], ("live",)) else []


def _check_pages(outcome: Outcome) -> None:
    """Raise if a page or a drawing would run what a column is called."""
    for name, content in outcome.written.items():
        if name.endswith(_PAGES) and MARKUP.encode() in content:
            raise BrokenPromiseError("markup", f"{name} holds the markup of a column's name as it came.")


def _outputs_of(words: Sequence[str]) -> list[str]:
    """Return what a command line may write: the files that its options name, or that they name by default."""
    given = [following for word, following in pairwise(words) if word in _OUTPUTS]
    known = parameters(words[0]) if words and words[0] in command_names() else ()
    return given + [str(one.default) for one in known if "--out" in one.opts and one.default is not None]


def _within(name: str, out: str) -> bool:
    """Whether a file is what an option names, or lies in the folder that it names."""
    return Path(out) in (Path(name), *Path(name).parents)


def _other_kind(before: bytes | None, after: bytes | None) -> bool:
    """Whether a file was replaced by one of another kind: a model by a page, a note by a table."""
    return before is not None and after is not None and _kind_of(before) != _kind_of(after)


def _kind_of(content: bytes) -> str:
    found = re.search(rb'\\"kind\\": \\"(\w+)', content[:100_000])
    if found and b"__metadata__" in content[:40]:
        return found[1].decode()
    return next((name for start, name in _STARTS.items() if content.startswith(start)), "text")
