"""The commands of a page's `sh` blocks: which are run, how, and which are only checked.

`vecuq ...` runs in this process, which saves the start of an interpreter. `vecuq serve` runs beside the page until it
ends. Harmless tools run in a shell. `pip install` and `make` are checked against pyproject.toml and the Makefile.
Everything else is refused: the block needs `<!-- skip: reason -->`.
"""

import os
import re
import shlex
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from unittest.mock import patch

from typer.main import get_command
from typer.testing import CliRunner

from vecuq.cli import app

ROOT = Path(__file__).parents[2]
HARMLESS = {
    *("cat", "cp", "cut", "diff", "echo", "false", "grep", "gunzip", "gzip", "head", "ls", "mkdir", "mv", "printf"),
    *("python", "seq", "sort", "tail", "tee", "test", "touch", "tr", "true", "uniq", "wc", "zcat", "vecuq"),
}
HERE = ("127.0.0.1", "localhost")
QUOTES = re.compile(r"'[^']*'|\"(?:[^\"\\$`]|\\.)*\"")
HERE_DOCUMENT = re.compile(r"<<-?\s*['\"]?(\w+)['\"]?")
ASSIGNED = re.compile(r"^\w+=")
REDIRECTED = re.compile(r"^(?P<command>.*?)\s+>\s*(?P<file>[\w./-]+)$", re.DOTALL)
# Web pages fetch files; node knows only whole addresses.
FETCH = """import { readFileSync } from "node:fs";
globalThis.fetch = async (name) => ({ text: async () => readFileSync(name, "utf8") });
"""
SECONDS = 300  # after which a command is given up; nothing is asserted about time


class CommandError(AssertionError):
    """A command of a page that failed, or that a page must not run."""


def commands_in(code):
    """Return the commands of a block: lines, joined where one goes on in the next."""
    found, open_lines = [], []
    for line in code.splitlines():
        open_lines.append(line)
        text = "\n".join(open_lines)
        if not _goes_on(text):
            found.append(text)
            open_lines = []
    found += ["\n".join(open_lines)] if open_lines else []
    return [text.strip() for text in found if text.strip() and not text.lstrip().startswith("#")]


def _goes_on(text):
    """Whether a command ends in a backslash, within quotes, or within a here document."""
    if text.endswith("\\"):
        return True
    document = _here_document(text)
    if document is not None:
        return document[1] not in text.splitlines()[1:]
    try:
        shlex.split(text, comments=True)
    except ValueError:
        return True
    return False


def _here_document(text):
    """Return the match of `<<END` in the first line of a command, if there is one outside of quotes."""
    first = text.partition("\n")[0]
    return HERE_DOCUMENT.search(first) if "<<" in QUOTES.sub("", first) else None


def words_of(text):
    """Return the words of a command; a backslash at the end of a line joins lines."""
    first = text.partition("\n")[0] if _here_document(text) else text.replace("\\\n", " ")
    return shlex.split(first, comments=True)


def is_plain(text):
    """Whether a command has nothing that only a shell understands."""
    return not re.search(r"[$`*?|&;<>(){}~]", re.sub(r"(^|\s)#.*", "", QUOTES.sub("", text)))


def check_command(text):
    """Refuse what a page must not run, and `vecuq` commands and options that do not exist."""
    for words in _simple_commands(text):
        name, rest = Path(words[0]).name, words[1:]
        if name == "vecuq":
            check_vecuq(rest)
        elif name in ("pip", "uv", "make"):
            check_known(words)
        elif name == "curl" and not all(_is_here(word) for word in rest if "://" in word):
            raise CommandError(f"`{text}` calls another machine; skip it, with the reason.")
        elif name not in {*HARMLESS, "cd", "curl", "export"}:
            raise CommandError(f"`{name}` is not among the tools that a page may run; skip it, with the reason.")


def _is_here(address):
    return address.partition("://")[2].partition("/")[0].partition(":")[0] in HERE


def _simple_commands(text):
    """Yield the words of each command of a line with pipes, lists and redirections."""
    body = text.partition("\n")[0] if _here_document(text) else text.replace("\\\n", " ")
    lexer = shlex.shlex(body, posix=True, punctuation_chars=True)
    lexer.whitespace_split = True
    words, skip_next = [], False
    for word in [*lexer, ";"]:
        if set(word) <= set("|&;()"):
            if words:
                yield words
            words = []
        elif set(word) <= set("<>"):
            skip_next = True
        elif skip_next:
            skip_next = False
        elif words or not ASSIGNED.match(word):
            words.append(word)


def check_vecuq(words):
    """Refuse a command or an option that the command line does not know; nothing is run."""
    command, rest = get_command(app), list(words)
    context = command.make_context("vecuq", [], resilient_parsing=True)
    context.resilient_parsing = False  # which would take any command
    try:
        if rest and not rest[0].startswith("-"):
            name, command, rest = command.resolve_command(context, rest)
            context = command.make_context(name, [], parent=context, resilient_parsing=True)
        context.resilient_parsing = False  # and any option
        command.make_parser(context).parse_args(rest)
    except Exception as error:
        raise CommandError(f"`vecuq {shlex.join(words)}`: {error}") from None


def check_known(words):
    """Check the extras of `pip install 'vecuq[...]'` and the targets of `make`."""
    if words[0] == "make":
        targets = set(re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE))
        unknown = {word for word in words[1:] if "=" not in word and not word.startswith("-")} - targets
        if unknown:
            raise CommandError(f"The Makefile has no target {sorted(unknown)}.")
        return
    extras = set(tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["optional-dependencies"])
    named = {one.strip() for word in words for list_ in re.findall(r"vecuq\[(.*?)\]", word) for one in list_.split(",")}
    if named - extras:
        raise CommandError(f"vecuq has no extra {sorted(named - extras)}; it has {sorted(extras)}.")


def run_vecuq(words):
    """Run a command of vecuq in this process; return its exit code, what it printed, and what it printed as errors."""
    with patch("os.cpu_count", return_value=1):  # the numbers are the same, and no process has to be started
        done = CliRunner().invoke(app, words)
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        raise done.exception
    return done.exit_code, done.stdout, done.stderr


def run_in_shell(text, programs):
    """Run a command line in a shell that finds these programs first; return the same three."""
    path = os.pathsep.join([str(programs), os.environ["PATH"]])
    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", text],
        check=False,
        env={**os.environ, "PATH": path},
        capture_output=True,
        text=True,
        timeout=SECONDS,
        stdin=subprocess.DEVNULL,
    )
    return done.returncode, done.stdout, done.stderr


def run_script(code):
    """Run a JavaScript module in node, where `fetch` reads the files of this folder; nothing without node."""
    if shutil.which("node") is None:
        return 0, "", ""
    Path("block.mjs").write_text(code, "utf-8")
    Path("fetch.mjs").write_text(FETCH, "utf-8")
    return run_in_shell("node --import ./fetch.mjs block.mjs", Path())


def make_programs(folder):
    """Write `vecuq` and `python` as programs of this environment into a folder."""
    folder.mkdir()
    for name, module in (("vecuq", " -m vecuq"), ("python", "")):
        program = folder / name
        program.write_text(f'#!/bin/sh\nexec "{sys.executable}"{module} "$@"\n')
        program.chmod(0o755)
    return folder
