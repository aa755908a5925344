"""Fields of other programs' JSON, checked for their type."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from hashlib import blake2b
from typing import Any

from vecuq._check import one_line
from vecuq.answers.schema import MOST_ANSWERS, MOST_TOKENS
from vecuq.errors import TableError

_MOST_PLAIN, _LONGEST_PLAIN = 64, 1_000
# Usual names of the right answers.
REFERENCES = ("references", "reference", "answers", "answer", "target")


def references_of(fields: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the right answers, under any of their usual names."""
    return as_texts(first_of(fields, REFERENCES), "references")


def role_of(*settings: Any) -> str | None:
    """Return the role that the settings of a request imply: temperature 0, or no sampling, is greedy."""
    for given in settings:
        if not isinstance(given, Mapping):
            continue
        if given.get("role") in ("greedy", "samples", "sample"):
            return "greedy" if given["role"] == "greedy" else "samples"
        sampled, temperature = given.get("do_sample"), given.get("temperature")
        if sampled is False:
            return "greedy"
        if isinstance(temperature, int | float) and not isinstance(temperature, bool):
            return "greedy" if temperature == 0 else "samples"
        if sampled is True:
            return "samples"
    return None


def plain_fields(fields: Mapping[str, Any]) -> dict[str, Any]:
    """Return the short texts, numbers and truth values of a line, such as a label or a topic; at most 64 of them."""
    plain = {
        str(name): value
        for name, value in fields.items()
        if isinstance(value, bool | int | float) or (isinstance(value, str) and len(value) <= _LONGEST_PLAIN)
    }
    return dict(list(plain.items())[:_MOST_PLAIN])


def first_of(fields: Mapping[str, Any], names: Sequence[str]) -> Any:
    """Return the first of the named fields that is there and not null."""
    return next((fields[name] for name in names if fields.get(name) is not None), None)


def digest_of(text: str) -> bytes:
    """Return 16 bytes that stand for a text."""
    return blake2b(text.encode(errors="replace"), digest_size=16).digest()


def as_mapping(value: Any, name: str) -> Mapping[str, Any]:
    """Return a JSON object; anything else is an error."""
    if type(value) is not dict and not isinstance(value, Mapping):
        raise TableError(f"{name} must be a JSON object; got {_shown(value)}.")
    return value


def as_list(value: Any, name: str, *, most: int = MOST_TOKENS) -> list[Any]:
    """Return a list of at most ``most`` entries; anything else is an error."""
    if not isinstance(value, list):
        raise TableError(f"{name} must be a list; got {_shown(value)}.")
    if len(value) > most:
        raise TableError(f"{name} has {len(value):,} entries; at most {most:,} are read.")
    return value


def as_text(value: Any, name: str) -> str:
    """Return a text; anything else is an error."""
    if not isinstance(value, str):
        raise TableError(f"{name} must be a text; got {_shown(value)}.")
    return value


def as_name(value: Any, name: str) -> str | None:
    """Return the name of a question, a text or a whole number (also 7.0), as text; None for null or only blanks."""
    if value is None:
        return None
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, str | int):
        raise TableError(f"{name} must be a text or a whole number; got {_shown(value)}.")
    return (value if isinstance(value, str) else _spelt(value, name)).strip() or None


def as_texts(value: Any, name: str) -> tuple[str, ...]:
    """Return one text or number, or a list of them, as texts; none for null."""
    listed = as_list(value if isinstance(value, list) else [] if value is None else [value], name, most=MOST_ANSWERS)
    if not all(isinstance(one, str | int | float) for one in listed):
        raise TableError(f"{name} must be a text or a list of texts; got {_shown(value)}.")
    return tuple(one if isinstance(one, str) else _spelt(one, name) for one in listed)


def _spelt(value: float, name: str) -> str:
    try:
        return str(value)
    except ValueError:  # more digits than Python spells out
        raise TableError(f"{name} is a huge number.") from None


def _shown(value: Any) -> str:
    """Describe a value in a few characters, however large it is."""
    if isinstance(value, str):
        return one_line(value, most=40)
    if isinstance(value, int | float) or value is None:
        try:
            return one_line(repr(value), most=40)
        except ValueError:
            return "a huge number"
    return f"a {type(value).__name__} of {len(value):,}" if hasattr(value, "__len__") else type(value).__name__
