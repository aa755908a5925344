"""JSON with wrong values: replaced, dropped, doubled, nested too deep, or put in another's place."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from typing import Any

from hypothesis import strategies as st

Place = tuple[Any, ...]
_DEEP = "deep"  # stands for nesting that Python's own writer would refuse
odd_values = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-3, 300),
    st.sampled_from((2**31, 2**53 + 1, 2**63, -(2**63), 10**40, 10**400, 1e308, -1e308, 5e-324, 1e-300)),
    st.sampled_from((float("inf"), float("-inf"), float("nan"))),
    st.floats(),
    st.text(max_size=5),
    st.sampled_from(("", "\ud800", "\x00", "\x1b[2J", "=1+1", "<script>", "nan", "0.5", "x" * 3000)),
    st.lists(st.integers(0, 3) | st.text(max_size=3), max_size=3),
    st.dictionaries(st.text(max_size=5), st.integers(0, 3), max_size=2),
    st.sampled_from((20, 300, 900, 5000)).map(lambda depth: {_DEEP: depth}),
)


def places_in(value: Any, before: Place = ()) -> Iterator[Place]:
    """Yield every place in a nested value at which something else could stand."""
    yield before
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, part in inner:
        yield from places_in(part, (*before, key))


@st.composite
def altered(draw: st.DrawFn, value: Any, *, most: int = 2) -> tuple[Any, list[str]]:
    """Return a strategy of the same JSON value with one to ``most`` places wrong, and the names of these places."""
    changed, where = copy.deepcopy(value), []
    for _ in range(draw(st.integers(1, most))):
        place = draw(st.sampled_from([place for place in places_in(changed) if place] or [()]))
        way = draw(st.sampled_from(("replace", "replace", "drop", "rename", "swap", "double")))
        changed = _alter(draw, changed, place, way)
        where.append(".".join(map(str, place)))
    return changed, where


def _alter(draw: st.DrawFn, whole: Any, place: Place, way: str) -> Any:
    if not place:
        return draw(odd_values)
    parent, key = _at(whole, place[:-1]), place[-1]
    if way == "drop":
        del parent[key]
    elif way == "rename" and isinstance(parent, dict):
        parent[draw(st.text(max_size=4))] = parent.pop(key)
    elif way == "swap":
        other = draw(st.sampled_from(list(places_in(whole))))
        parent[key] = copy.deepcopy(_at(whole, other))
    elif way == "double" and isinstance(parent, list):
        parent.insert(key, copy.deepcopy(parent[key]))
    else:
        parent[key] = draw(odd_values)
    return whole


def _at(whole: Any, place: Place) -> Any:
    for key in place:
        whole = whole[key]
    return whole


def as_json(value: Any) -> str:
    """Return any value as JSON text, however deep, with the halves of characters and the infinities left in."""
    text = json.dumps(value)
    start, end = f'{{"{_DEEP}": ', "}"
    for depth in (20, 300, 900, 5000):
        text = text.replace(f"{start}{depth}{end}", '{"a":' * depth + "0" + "}" * depth)
    return text
