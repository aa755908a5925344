"""How parts are shared into tasks: small ones together, for every task has a price; by their sizes alone."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TypeVar

T = TypeVar("T")
# A task with so much to read takes long enough for its price not to matter.
ENOUGH_BYTES = 2**24
# No task has more parts, so that a retry does not begin too far back.
MOST_PARTS = 64
# So many partial fits are added at once.
BRANCHES = 16


def grouped(items: Iterable[T], sizes: Iterable[int], *, least_groups: int = 1) -> list[list[T]]:
    """Return neighbours together until they are large enough, in their order.

    Parameters
    ----------
    items
        What is shared.
    sizes
        How many bytes each item is.
    least_groups
        How many groups there should be, as far as there are items.

    Examples
    --------
    >>> grouped("abcd", [2**23, 2**23, 2**25, 1])
    [['a', 'b'], ['c'], ['d']]
    """
    found = list(zip(items, sizes, strict=True))
    enough = min(ENOUGH_BYTES, sum(size for _, size in found) // max(least_groups, 1))
    most = max(1, min(MOST_PARTS, len(found) // max(least_groups, 1)))
    groups: list[list[T]] = []
    filled = enough
    for item, size in found:
        if filled >= enough or len(groups[-1]) >= most:
            groups.append([])
            filled = 0
        groups[-1].append(item)
        filled += size
    return groups


def branches(items: Sequence[T]) -> Iterator[list[T]]:
    """Yield neighbours that are added in one step, in their order."""
    for start in range(0, len(items), BRANCHES):
        yield list(items[start : start + BRANCHES])
