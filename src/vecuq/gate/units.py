"""Categories with a certificate each: which have labels enough, and which are pooled."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vecuq._check import one_line
from vecuq.conformal import fewest_labels
from vecuq.errors import TableError

# The name of the unit of all rows, and of the pool of categories with few labels.
ALL, POOL = "", "pooled"
# A category leaves the pool with so many times the labels that one start needs. Measured on 57 subjects: at 2 times
# coverage falls as labels grow, because each must prove its target with labels of its own; at 8 times nearly all
# categories stay pooled.
_TIMES = 4


@dataclass(frozen=True)
class Units:
    """Which unit every known category belongs to: itself, or the pool of those with few labels."""

    names: tuple[str, ...]  # of the units, the pool last
    of_category: dict[str, int]  # the place of its unit

    @property
    def pooled(self) -> tuple[str, ...]:
        """The categories in the pool."""
        return tuple(name for name, k in self.of_category.items() if self.names[k] != name)

    def places(self, by: Sequence[str]) -> NDArray[np.intp]:
        """Return the unit of every row; -1 for a category that no label had."""
        found, inverse = np.unique(np.asarray(by, dtype=object).astype(str), return_inverse=True)
        return np.array([self.of_category.get(name, -1) for name in found], dtype=np.intp)[inverse]


EVERYTHING = Units((ALL,), {ALL: 0})


def units_of(by: Sequence[str], *, allowed: float, delta: float) -> Units:
    """Pool the categories whose labels could hardly certify anything: fewer than four times what one start needs.

    Examples
    --------
    >>> units_of(["a"] * 400 + ["b"] * 10 + ["c"] * 12, allowed=0.1, delta=0.1).pooled
    ('b', 'c')
    """
    found, times = np.unique(np.asarray(by, dtype=object).astype(str), return_counts=True)
    counts = {str(name): int(count) for name, count in zip(found, times, strict=True)}
    enough = _TIMES * fewest_labels(min(allowed, 0.5), delta / 2, errors=1)
    own = [name for name in sorted(counts) if counts[name] >= enough]
    few = [name for name in sorted(counts) if counts[name] < enough]
    if len(few) == 1:  # a pool of one is a category
        own, few = sorted([*own, *few]), []
    names = (*own, *([_pool_name(list(counts))] if few else []))
    return Units(names, {name: k for k, name in enumerate(own)} | dict.fromkeys(few, len(own)))


def _pool_name(taken: Sequence[str], name: str = POOL) -> str:
    """Return a name that no category has."""
    return name if name not in taken else _pool_name(taken, f"{name}_")


def categories(by: Any, n_rows: int) -> list[str]:
    """Return the category of every row as text; a missing one is an error."""
    values = np.asarray(by, dtype=object)
    if values.shape != (n_rows,):
        raise TableError(f"by must name one category per row: {n_rows:,} rows, and shape {values.shape}.")
    missing = sum(value is None or value != value for value in values)  # noqa: PLR0124 - NaN differs from itself
    if missing:
        raise TableError(f"{missing:,} of {n_rows:,} rows have no category; fill it in, or leave these rows out.")
    return [one_line(value, most=200) for value in values]
