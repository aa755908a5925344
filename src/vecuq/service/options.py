"""The options of a request: from the query string, from the body, or the same from both."""

from __future__ import annotations

from typing import Any
from urllib.parse import parse_qsl

import msgspec

from vecuq.service.refusal import Refusal
from vecuq.service.wire import OPTION_NAMES, PLAIN, GivenOptions, Options, given_in

_NONE: dict[str, Any] = {}
_MOST_FIELDS = 32
_TRUTH = {"1": True, "true": True, "yes": True, "0": False, "false": False, "no": False}
_FLAGS = ("explain", "record", "replace", "texts")


def bad_option(message: str) -> Refusal:
    """Return the refusal of an option."""
    return Refusal(422, "bad_option", message)


def query_options(query: bytes) -> dict[str, Any]:
    """Return the options of a query string, by name; one that is not known is refused."""
    if not query:
        return _NONE
    try:
        pairs = parse_qsl(query.decode("ascii"), keep_blank_values=True, max_num_fields=_MOST_FIELDS)
    except ValueError:
        raise bad_option("The query string cannot be read; give options as in ?alpha=0.05&explain=true.") from None
    found: dict[str, Any] = {}
    for name, text in pairs:
        value = _value(name, text)
        if found.setdefault(name, value) != value:
            raise bad_option(f"The option {name} came twice, with different values; give it once.")
    return found


def _value(name: str, text: str) -> Any:
    """Return one option as its type."""
    if name not in OPTION_NAMES:
        raise bad_option(f"There is no option {name[:40]!r}. The options are {', '.join(OPTION_NAMES)}.")
    value: Any = _TRUTH.get(text.lower(), text) if name in _FLAGS else text
    try:
        return given_in(msgspec.convert({name: value}, GivenOptions, strict=False))[name]
    except (msgspec.ValidationError, KeyError):
        needed = {"alpha": "a number", "confidence": "a number", "missing": "nan, marginal or error"}.get(name)
        raise bad_option(f"The option {name} needs {needed or 'true or false'}; got {text[:40]!r}.") from None


def merged(query: dict[str, Any], body: dict[str, Any]) -> Options:
    """Return the options of a request; one that came in both places with different values is refused."""
    if not query and not body:
        return PLAIN
    for name, value in body.items():
        if query.get(name, value) != value:
            raise bad_option(f"The option {name} is {query[name]!r} in the query string and {value!r} in the body.")
    return Options(**{**query, **body})
