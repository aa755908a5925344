"""Wrong bytes and wrong JSON: what a careless disk, a careless program or an attacker makes of good ones."""

import copy
import json

from hypothesis import strategies as st

# Sizes, counts and offsets that a reader should not believe, as files write them.
SIZES = tuple(
    number.to_bytes(width, order, signed=number < 0)
    for width in (1, 2, 4, 8)
    for order in ("little", "big")
    for number in (0, 1, -1, 2 ** (8 * width - 1) - 1, -(2 ** (8 * width - 1)), 2 ** (4 * width))
)


@st.composite
def damaged(draw, content, most=3, begin=0):
    """The same bytes with one to ``most`` wrong, behind the first ``begin``: flipped, cut, doubled, overwritten."""
    for _ in range(draw(st.integers(1, most))):
        last = max(len(content) - 1, 0)
        place = draw(st.integers(min(begin, last), last))
        head, tail = content[:place], content[place:]
        way = draw(st.sampled_from(("flip", "overwrite", "overwrite", "cut", "drop", "double", "insert")))
        if way == "flip" and tail:
            content = head + bytes([tail[0] ^ (1 << draw(st.integers(0, 7)))]) + tail[1:]
        elif way == "overwrite":
            size = draw(st.sampled_from(SIZES))
            at = place // len(size) * len(size)  # most formats align their numbers
            content = content[:at] + size + content[at + len(size) :]
        elif way == "cut":
            content = head
        elif way == "drop":
            content = head + tail[draw(st.integers(1, 16)) :]
        elif way == "double":
            content = head + tail[: draw(st.integers(1, 64))] + tail
        else:
            content = head + draw(st.binary(min_size=1, max_size=9)) + tail
    return content


DEEP = "deep"  # stands for nesting that Python's own writer would refuse
DEPTHS = (20, 300, 900, 5000)
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
    st.sampled_from(DEPTHS).map(lambda depth: {DEEP: depth}),
)


def places_in(value, before=()):
    yield before
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, part in inner:
        yield from places_in(part, (*before, key))


def at(whole, place):
    for key in place:
        whole = whole[key]
    return whole


@st.composite
def altered(draw, value, most=2):
    """The same JSON value with one to ``most`` places wrong: replaced, dropped, renamed, swapped, doubled."""
    whole = copy.deepcopy(value)
    for _ in range(draw(st.integers(1, most))):
        places = [place for place in places_in(whole) if place]
        if not places:
            return draw(odd_values)
        *before, key = draw(st.sampled_from(places))
        parent = at(whole, before)
        way = draw(st.sampled_from(("replace", "replace", "drop", "rename", "swap", "double")))
        if way == "drop":
            del parent[key]
        elif way == "rename" and isinstance(parent, dict):
            parent[draw(st.text(max_size=4))] = parent.pop(key)
        elif way == "swap":
            parent[key] = copy.deepcopy(at(whole, draw(st.sampled_from(places))))
        elif way == "double" and isinstance(parent, list):
            parent.insert(key, copy.deepcopy(parent[key]))
        else:
            parent[key] = draw(odd_values)
    return whole


def as_json(value):
    """Any value as the bytes of JSON, however deep, with halves of characters and infinities left in."""
    text = json.dumps(value)
    for depth in DEPTHS:
        text = text.replace(f'{{"{DEEP}": {depth}}}', '{"a":' * depth + "0" + "}" * depth)
    return text.encode("utf-8", "surrogatepass")


@st.composite
def altered_json(draw, value):
    """One line of JSON with wrong values, sometimes with wrong bytes too."""
    text = as_json(draw(altered(value)))
    return draw(damaged(text)).replace(b"\n", b" ") if draw(st.integers(0, 4)) == 0 else text
