"""Files with wrong bytes: flipped, cut, doubled, swapped, overwritten by numbers that stand for sizes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

from hypothesis import strategies as st

# Sizes, counts and offsets that a reader should not believe, as files write them.
_ORDERS: tuple[Literal["little", "big"], ...] = ("little", "big")
_LIES = tuple(
    number.to_bytes(width, order, signed=number < 0)
    for width in (1, 2, 4, 8)
    for order in _ORDERS
    for number in (0, 1, -1, 2 ** (8 * width - 1) - 1, -(2 ** (8 * width - 1)), 2 ** (4 * width))
)


@st.composite
def damaged(draw: st.DrawFn, content: bytes, *, most: int = 3) -> bytes:
    """Return a strategy of the same bytes with one to ``most`` of them wrong."""
    for _ in range(draw(st.integers(1, most))):
        content = _WAYS[draw(st.sampled_from(sorted(_WAYS)))](draw, content)
    return content


def _place(draw: st.DrawFn, content: bytes) -> int:
    return draw(st.integers(0, max(len(content) - 1, 0)))


def _flip(draw: st.DrawFn, content: bytes) -> bytes:
    if not content:
        return content
    place, bit = _place(draw, content), draw(st.integers(0, 7))
    return content[:place] + bytes([content[place] ^ (1 << bit)]) + content[place + 1 :]


def _overwrite(draw: st.DrawFn, content: bytes) -> bytes:
    lie: bytes = draw(st.sampled_from(_LIES))
    # Most formats align their numbers.
    place = _place(draw, content) // len(lie) * len(lie)
    return content[:place] + lie + content[place + len(lie) :]


def _cut(draw: st.DrawFn, content: bytes) -> bytes:
    return content[: _place(draw, content)]


def _drop(draw: st.DrawFn, content: bytes) -> bytes:
    place = _place(draw, content)
    return content[:place] + content[place + draw(st.integers(1, 16)) :]


def _double(draw: st.DrawFn, content: bytes) -> bytes:
    place, length = _place(draw, content), draw(st.integers(1, 64))
    return content[: place + length] + content[place:]


def _insert(draw: st.DrawFn, content: bytes) -> bytes:
    place = _place(draw, content)
    return content[:place] + draw(st.binary(min_size=1, max_size=9)) + content[place:]


_WAYS: dict[str, Callable[[st.DrawFn, bytes], bytes]] = {
    "flip": _flip,
    "overwrite": _overwrite,
    "cut": _cut,
    "drop": _drop,
    "double": _double,
    "insert": _insert,
}
