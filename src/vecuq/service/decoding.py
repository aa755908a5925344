"""JSON that cannot be read, in words that name the row and the column."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import msgspec

from vecuq._check import one_line
from vecuq.service.refusal import Refusal

_ROW = re.compile(r"(?P<what>.*) - at `\$(?:\.rows\[(?P<row>\d+)\])?(?:\.(?P<name>.*))?`$", re.DOTALL)
_EXPECTED = re.compile(r"Expected `(?P<needed>[^`]*)`, got `(?P<came>[^`]*)`")

_CAME = {"str": "a text", "bool": "true or false", "array": "a list", "object": "a record", "int": "a whole number"}
SHAPE = '{"rows": [{...}, ...]}'


def decoded(decode: Callable[[Any], Any], content: Any, *, row: int | None = None, shape: str = SHAPE) -> Any:
    """Return what a decoder makes of JSON of a shape; ``row`` is the place of a row that is decoded by itself."""
    try:
        return decode(content)
    except msgspec.ValidationError as error:
        raise _invalid(str(error), row, shape) from None
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise bad_body(one_line(error, most=120).rstrip("."), shape) from None
    except RecursionError:
        raise bad_body("lists and records go too deep", shape) from None


def bad_body(reason: str, shape: str = SHAPE) -> Refusal:
    """Return the refusal of a body that is no JSON, or none of ours."""
    return Refusal(400, "bad_body", f"The body is not JSON as in {shape}: {reason}.")


def _invalid(said: str, row: int | None, shape: str) -> Refusal:
    """Return what is wrong with a value, by row and column."""
    found = _ROW.match(said)
    if found is None:
        return Refusal(422, "bad_rows", f"The body cannot be used: {_whole(said)} Send {shape}.")
    place, name = found["row"] if row is None else str(row), found["name"]
    expected = _EXPECTED.match(found["what"])
    what = one_line(found["what"]) if expected is None else _in_words(expected)
    if place is None:
        return Refusal(422, "bad_option", f"The field {one_line(name or 'body', most=80)!r} of the body: {what}.")
    if name is None:
        return Refusal(422, "bad_rows", f"Row {place} (counting from 0): {what}.")
    return Refusal(422, "bad_rows", f"Row {place} (counting from 0), field {one_line(name, most=80)!r}: {what}.")


def _whole(said: str) -> str:
    """Return what is wrong with a body as a whole."""
    expected = _EXPECTED.match(said)
    if expected is None:
        return f"{one_line(said)}."
    return f"it is {_CAME.get(expected['came'], expected['came'])} itself."


def _in_words(expected: re.Match[str]) -> str:
    kinds = {"float | null": "a number or null is needed", "object": "a record of named numbers is needed"}
    needed = kinds.get(expected["needed"], f"{expected['needed']} is needed")
    return f"{needed}; got {_CAME.get(expected['came'], expected['came'])}"
