"""What is known of a column before it is computed: its least and its greatest value."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from vecuq._check import Array, number, one_of, wanted_columns
from vecuq.cascade.walk import Flags
from vecuq.errors import ColumnError, SettingError
from vecuq.ranker import Ranker

Pair = tuple[Any, Any]
Given = Mapping[str, Pair | Callable[[Mapping[str, Array]], Pair]]

# As low and as high as a score goes, where nothing is known of a column.
FAR = 1e300


@dataclass(frozen=True, eq=False)
class Bounds:
    """Bounds by column, in the direction in which the columns come."""

    columns: tuple[str, ...]
    signs: Array  # (columns,), -1 where the ranker flips the column
    given: dict[str, Any]
    assumed: bool  # not given, so that a value beyond them is no error

    @staticmethod
    def of(bounds: Given | str | None, ranker: Ranker) -> Bounds:
        """Check the bounds; ``"calibration"`` is the box of the rows that fitted the map."""
        signs = np.array([-1.0 if name in ranker.flipped else 1.0 for name in ranker.columns])
        if isinstance(bounds, str):
            one_of("bounds", bounds, ("calibration",))
            ends = np.sort(_box(ranker) * signs[list(ranker.active)], axis=0)
            names = [ranker.columns[k] for k in ranker.active]
            return Bounds(ranker.columns, signs, dict(zip(names, map(tuple, ends.T.tolist()), strict=True)), True)
        given = dict(bounds or {})
        wanted_columns(given, ranker.columns, purpose="for which bounds are given", where="The ranker")
        checked = {name: bound if callable(bound) else _pair(name, bound) for name, bound in given.items()}
        return Bounds(ranker.columns, signs, checked, False)

    def ends(self, values: Array, known: Flags) -> tuple[Array, Array]:
        """Return the least and greatest values of all columns in the ranker's direction, each (rows, columns)."""
        as_they_come = values * self.signs
        found = {name: as_they_come[:, k] for k, name in enumerate(self.columns) if known[k]}
        pairs = {name: _pair_of(name, bound, found) if callable(bound) else bound for name, bound in self.given.items()}
        return self._signed(pairs, len(values))

    def fixed_ends(self) -> tuple[Array, Array]:
        """Return the ends that need no other column, each (columns,); where a function gives them, they are far."""
        low, high = self._signed({name: bound for name, bound in self.given.items() if not callable(bound)}, 1)
        return low[0], high[0]

    def refuse_outside(self, k: int, found: Array, low: Array, high: Array) -> None:
        """Raise if a value of column ``k`` lies beyond the bounds that were given for it."""
        # A relation between columns may be off by rounding.
        room = 1e-9 * (1.0 + np.abs(found))
        outside = (found < low - room) | (found > high + room)
        if outside.any() and not self.assumed:
            value = float(found[outside.argmax()] * self.signs[k])
            raise ColumnError(
                f"{self.columns[k]!r} is {value:g} in a row, beyond the bounds that were given for it; decisions made "
                f"with them would be wrong. Widen the bounds."
            )

    def _signed(self, pairs: Mapping[str, Pair], n_rows: int) -> tuple[Array, Array]:
        low = np.full((n_rows, len(self.columns)), -FAR)
        high = -low
        for name, (least, greatest) in pairs.items():
            k = self.columns.index(name)
            ends = -FAR if least is None else least, FAR if greatest is None else greatest
            low[:, k], high[:, k] = ends if self.signs[k] > 0 else (-ends[1], -ends[0])
        return low, high


def _box(ranker: Ranker) -> Array:
    """Return the least and greatest values of the rows that fitted the map, (2, varying columns)."""
    box = ranker.scaler.unweighted(np.stack([ranker.low, ranker.high]))
    return np.asarray(ranker.scaler.lower + ranker.scaler.span * box)


def _pair(name: str, bound: Any) -> Pair:
    """Return two numbers, None for an open end, the least first."""
    if isinstance(bound, str) or not hasattr(bound, "__len__") or len(bound) != 2:
        raise SettingError(f"The bounds of {name!r} must be (least, greatest) or a function; got {bound!r}.")
    least, greatest = (None if end is None else number(f"A bound of {name!r}", end) for end in bound)
    if least is not None and greatest is not None and least > greatest:
        raise SettingError(f"The bounds of {name!r} must be (least, greatest); got {bound!r}.")
    return least, greatest


def _pair_of(name: str, bound: Callable[[Mapping[str, Array]], Pair], known: Mapping[str, Array]) -> Pair:
    """Compute bounds by a function; each end may be one number or one per row."""
    got = bound(known)
    try:
        least, greatest = (None if end is None else np.asarray(end + 0.0, dtype=float) for end in got)
    except (TypeError, ValueError):
        raise SettingError(
            f"The function that bounds {name!r} must return (least, greatest), numbers or None; got {got!r}."
        ) from None
    return least, greatest
