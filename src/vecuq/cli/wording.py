"""Messages of the library in the words of the command line: ``max_tokens`` becomes ``--max-tokens``."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager

import typer

from vecuq.errors import VecuqError

# Arguments that have another name on the command line.
_RENAMED = {"random_state": "seed", "n_jobs": "jobs", "api_key": "api_key_env"}
# An argument is quoted, perhaps with its value (`raw=True`), or is the subject of the message (samples must be ...).
_ARGUMENT = re.compile(r"`(\w+)(?:=\w+)?`|^(\w+)(?= (?:must|needs) )")
_LISTING = "vecuq.measures.list_measures() returns the names of all."


def name_options(message: str, ctx: typer.Context) -> str:
    """Return a message with options of a command in place of Python arguments."""
    options = {one.name: max(one.opts, key=len) for one in ctx.command.params if one.opts[0].startswith("-")}

    def spelt(found: re.Match[str]) -> str:
        name = found[1] or found[2]
        return options.get(_RENAMED.get(name, name), found[0])

    return _ARGUMENT.sub(spelt, message.replace(_LISTING, "`vecuq measures` lists all."))


@contextmanager
def option_names(ctx: typer.Context) -> Iterator[None]:
    """Let the errors raised inside name options instead of Python arguments."""
    try:
        yield
    except VecuqError as error:
        error.args = (name_options(str(error), ctx), *error.args[1:])
        raise
