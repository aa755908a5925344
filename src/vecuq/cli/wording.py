"""Messages of the library in the words of the command line: ``max_tokens=5`` becomes ``--max-tokens 5``."""

from __future__ import annotations

import ast
import csv
import io
import re
import shlex
from contextvars import ContextVar
from typing import Any

# The parameters of the running command.
PARAMS: ContextVar[list[Any]] = ContextVar("PARAMS", default=[])  # noqa: B039 - never changed in place
# Arguments that have another name on the command line.
_RENAMED = {
    "random_state": "seed",
    "n_jobs": "jobs",
    "api_key": "api_key_env",
    "method": "select",
    "groups": "group",
    "error": "error_rate",
}
# Options that a message may name although the running command lacks them: those of `vecuq fit` and `vecuq score`.
_OF_OTHERS = (
    *("alpha", "anchor_mass", "anchors", "columns", "epsilon", "flip", "grid", "holdback", "max_iter", "missing"),
    *("n_targets", "on_failure", "overshoot", "reference", "replace", "scaling", "seed", "select", "solver", "tol"),
    *("top", "weights", "column_groups", "group", "confidence", "accuracy", "error_rate", "promise", "unlabelled"),
)
# A list of texts as Python writes it, each in the quotes that it does not hold.
_TEXT = r"""(?:'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")"""
_NAMES = rf"\[{_TEXT}(?:, {_TEXT})*\]"
_VALUE = rf"{_NAMES}|\[[^\]]*\]|'[^']*'(?:,? or '[^']*')*|[\w+-]+(?:\.\w+)*"
# As a message writes an argument: alpha=0.05, flip=['a'], `raw=True`, `samples`, train=, or alpha must ...
_ARGUMENT = re.compile(rf"`(\w+)(?:=\w+)?`|\b(\w+)=({_VALUE})?|^(\w+)(?= (?:must|needs) )")
# What Python puts around values, and the command line does not.
_MARKS = re.compile(r"[\[\]']|\bTrue\b|(?<=,) ")
# Arguments whose values may have brackets and stars, which a shell would take for its own.
_AS_IT_IS = ("map",)
# In these a shell sees a file to read or to write: quality>=0.7.
_REDIRECTS = re.compile("[<>]")
_QUOTE = "'"
# Letters that are not printable by themselves: ends of lines, wide spaces, and what joins letters of some scripts.
_HARMLESS = (
    "\n\N{NO-BREAK SPACE}\N{NARROW NO-BREAK SPACE}\N{IDEOGRAPHIC SPACE}\N{ZERO WIDTH JOINER}\N{ZERO WIDTH NON-JOINER}"
)
# Sentences and arguments that become something else than an option with a value.
_PHRASES = {
    "vecuq.measures.list_measures() returns the names of all.": "`vecuq measures` lists all.",
    "unknown='skip'": "--skip-unknown",
    "greedy=False": "--no-greedy",
}


def as_options(message: str) -> str:
    r"""Return a message with options in place of Python arguments, to be typed as they are.

    Examples
    --------
    >>> as_options("Use scaling='quantile', or set flip=['confidence'] and anchor_mass=0.2.")
    'Use --scaling quantile, or set --flip confidence and --anchor-mass 0.2.'
    >>> as_options("Name the columns, as in columns=['logit [0]', 'a,b', 'knn'].")
    'Name the columns, as in --columns \'logit [0],"a,b",knn\'.'
    """
    known = {name: f"--{name.replace('_', '-')}" for name in _OF_OTHERS} | _options_of_this_command()

    def spelt(found: re.Match[str]) -> str:
        name = found[1] or found[2] or found[4]
        option = known.get(name if name in known else _RENAMED.get(name, name))
        if option is None:
            return found[0]
        given = found[3] or ""
        if name in _AS_IT_IS and given:
            return f"{option} {shlex.quote(given.strip(_QUOTE))}"
        value = _typed(ast.literal_eval(given)) if re.fullmatch(_NAMES, given) else _MARKS.sub("", given)
        if _REDIRECTS.search(value):
            value = shlex.quote(value)
        return f"{option} {value}".rstrip()

    for phrase, typed in _PHRASES.items():
        message = message.replace(phrase, typed)
    return _ARGUMENT.sub(spelt, message)


def _typed(names: list[str]) -> str:
    """Return names as a shell takes them for one option: those with commas in double quotes, as in a csv file."""
    line = io.StringIO()
    csv.writer(line, lineterminator="").writerow(" ".join(printable(name).splitlines()) for name in names)
    return shlex.quote(line.getvalue())


def _options_of_this_command() -> dict[str, str]:
    """Return the longest spelling of every option that the running command has."""
    return {str(one.name): max(one.opts, key=len) for one in PARAMS.get() if one.opts[0].startswith("-")}


def printable(text: str) -> str:
    r"""Return a text in which nothing steers a terminal: letters that would are question marks, lines stay.

    Examples
    --------
    >>> printable("\x1b[31mred")
    '?[31mred'
    """
    return "".join(letter if letter.isprintable() or letter in _HARMLESS else "?" for letter in text)
