"""The JSON header of a saved file: strict to read, and declared as a msgspec Struct by every kind."""

from __future__ import annotations

import json
import math
import re
from typing import Annotated, Any, TypeVar

import msgspec
from msgspec import Meta, Struct

from vecuq.errors import ModelFileError

# Whole numbers above this are no longer exact as float64, and nothing that we count comes near.
_MOST = 2**53

Count = Annotated[int, Meta(ge=0, le=_MOST)]
AtLeastOne = Annotated[int, Meta(ge=1, le=_MOST)]
NotNegative = Annotated[float, Meta(ge=0.0)]
Positive = Annotated[float, Meta(gt=0.0)]
Share = Annotated[float, Meta(ge=0.0, le=1.0)]
Rate = Annotated[float, Meta(gt=0.0, lt=1.0)]
Names = Annotated[tuple[str, ...], Meta(min_length=1)]

_Header = TypeVar("_Header", bound=Struct)


class Origin(Struct):
    """What a saved file of any format, now or later, states of itself."""

    format: AtLeastOne
    library: str


class Envelope(Origin):
    """What every saved file of a format that we know states of itself."""

    kind: str
    checksum: str


def header_text(header: dict[str, Any]) -> str:
    """Return a header as one text, always the same for the same header."""
    if _has_half_characters(header):
        raise ModelFileError("A column name holds half a character (a lone surrogate) and cannot be saved; rename it.")
    return json.dumps(header, sort_keys=True)


def parsed_header(text: str) -> dict[str, Any]:
    """Return what :func:`header_text` was given; raise ValueError for keys that come twice or numbers without end."""
    header = json.loads(text, object_pairs_hook=_each_once, parse_constant=_finite, parse_float=_finite)
    if not isinstance(header, dict):
        raise ValueError("it is not an object")
    if _has_half_characters(header):
        raise ValueError("a text in it holds half a character")
    return header


def _has_half_characters(header: dict[str, Any]) -> bool:
    """Whether any text holds a lone surrogate, which JSON can write and no terminal or table can."""
    try:
        json.dumps(header, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        return True
    return False


def _each_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made = dict(pairs)
    if len(made) < len(pairs):
        raise ValueError("a field comes twice")
    return made


def _finite(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        raise ValueError(f"{text} is not a finite number")
    return value


def checked_header(header: dict[str, Any], kind: type[_Header]) -> _Header:
    """Return a header as the Struct that declares its fields; raise ValueError at the first that is not as declared.

    Fields that the Struct does not name are ignored: a later version may add some.

    Examples
    --------
    >>> checked_header({"format": "two"}, Envelope)
    Traceback (most recent call last):
    ValueError: 'format' in its header: expected int, got str
    """
    try:
        return msgspec.convert(header, kind)
    except msgspec.ValidationError as error:
        raise ValueError(_in_our_words(str(error))) from None


def _in_our_words(said: str) -> str:
    """Return what msgspec said, the field first: ``Expected `int`, got `str` - at `$.alpha``` becomes ours."""
    what, _, place = said.partition(" - at ")
    field = place.strip("`").removeprefix("$").removeprefix(".")
    plain = re.sub("`", "", what)
    where = f"{field!r} in its header: " if field else "its header: "
    return where + plain[:1].lower() + plain[1:]
