"""Run a command line in this process as if it were its own, and check its manners."""

import io
import os
import signal
import sys
import tempfile
import warnings
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

from vecuq.cli import main

MARKUP = "<script>alert(1)</script>"  # a name that a page must not run
OUTPUTS = ("-o", "--out", "--state", "--curves", "--picture")
SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class Done(NamedTuple):
    """What a command did: its exit code, what it printed, and the files before and after it."""

    code: object
    stdout: str
    stderr: str
    before: dict
    after: dict


def contents(folder):
    """Every file below a folder by its name, with its content; links and pipes are not followed."""
    found = {}
    for place, folders, files in os.walk(folder):
        for name in [*folders, *files]:
            path = Path(place) / name
            plain = path.is_file() and not path.is_symlink()
            shown = path.read_bytes() if plain else os.readlink(path) if path.is_symlink() else None
            found[str(path.relative_to(folder))] = shown
    return {name: content for name, content in found.items() if name != ".scratch"}


def run_command(words, folder, stdin=b""):
    """Run ``vecuq`` with these words inside a folder; an exception that it lets through is raised."""
    before = contents(folder)
    with aside(folder, words, stdin) as (out, err):
        try:
            main()
            code = 0
        except SystemExit as end:
            code = end.code or 0
    told = [sink.getvalue().decode("utf-8", "replace") for sink in (out, err)]
    return Done(code, *told, before, contents(folder))


@contextmanager
def aside(folder, words, stdin):
    """Put arguments, streams, folders, signals and warnings aside, and back afterwards."""
    kept = {name: getattr(sys, name) for name in ("argv", "stdin", "stdout", "stderr")}
    place, temporary = Path.cwd(), tempfile.tempdir
    handlers = {number: signal.getsignal(number) for number in SIGNALS}
    sinks = io.BytesIO(), io.BytesIO()
    (folder / ".scratch").mkdir(exist_ok=True)
    try:
        os.chdir(folder)
        tempfile.tempdir = str(folder / ".scratch")
        sys.argv, sys.stdin = ["vecuq", *map(str, words)], io.TextIOWrapper(io.BytesIO(stdin), "utf-8")
        sys.stdout, sys.stderr = streams = [io.TextIOWrapper(sink, "utf-8", write_through=True) for sink in sinks]
        with warnings.catch_warnings():
            warnings.resetwarnings()
            warnings.simplefilter("ignore", DeprecationWarning)
            warnings.showwarning = show_warning
            yield sinks
        for stream in streams:
            stream.detach()
    finally:
        for name, value in kept.items():
            setattr(sys, name, value)
        os.chdir(place)
        tempfile.tempdir = temporary
        for number, handler in handlers.items():
            signal.signal(number, handler)


def show_warning(message, category, filename, lineno, file=None, line=None):
    """Print a warning as Python does; pytest has put something else in its place."""
    sys.stderr.write(warnings.formatwarning(message, category, filename, lineno, line))


def check_manners(done, words, writes=()):
    """Whatever a command is given, it ends with one line or a result, and leaves the user's files alone."""
    assert done.code in (0, 1, 2, 130), done
    check_words(done, words)
    left = [name for name in done.after.keys() - done.before.keys() if ".part" in name or name.startswith(".scratch/")]
    assert not left, f"left behind: {left}"
    assert done.before.keys() <= done.after.keys(), "a file is gone"
    outputs = {*writes, *(after for word, after in pairwise(words) if word in OUTPUTS)}
    read = {word for word, before in zip(words, ("", *words), strict=False) if before not in OUTPUTS} - {*writes}
    for name, content in done.after.items():
        old = done.before.get(name)
        if name in done.before and old != content:
            assert name not in read, f"{name} is only read, and was changed"
            assert outputs & {name, *map(str, Path(name).parents)}, f"{name} was changed"
        if old != content and name.endswith((".html", ".svg", ".md")):
            assert MARKUP.encode() not in content, f"{name} runs the name of a column"


def refuse_long(error):
    """A message is one line, and never a whole array."""
    assert "\n" not in str(error)
    assert 0 < len(str(error)) < 600


def check_words(done, words):
    """A failure is one line that begins with ``error:``; nothing that a terminal obeys is printed."""
    if done.code == 2 or "--help" in words:
        return
    lines = done.stderr.splitlines()
    assert not any(line.startswith(("error: unexpected ", "error: not enough memory")) for line in lines), lines
    if "--debug" in words:
        return
    odd = [line for line in lines if not line.startswith(("error: ", "note: ")) and not line.endswith("-> stdout")]
    assert not odd, f"a stray line: {odd[0]!r}"
    errors = sum(line.startswith("error: ") for line in lines)
    assert errors == (done.code == 1) or ("--strict" in words and not errors), done.stderr
    shown = done.stderr + ("" if "-" in words else done.stdout)  # a table on standard output is data
    assert all(one.isprintable() or one in "\n\t\xa0\u202f\u3000\u200c\u200d" for one in shown), "an escape sequence"
