"""What a saved sketch must be: its moments are those of so many rows, all inside the box."""

from __future__ import annotations

from typing import Any

import numpy as np
from msgspec import Struct

from vecuq._check import Array, unique_names
from vecuq._files import RISING, AtLeastOne, Names, Numbers, check_arrays, refuse
from vecuq.ranker.solve import MOST_NODES
from vecuq.table import MOST_HASHES, Fingerprints


class SketchHeader(Struct):
    """What the header of a sketch states, and what its fields say of each other."""

    columns: Names
    flipped: tuple[str, ...]
    count: AtLeastOne

    def __post_init__(self) -> None:
        unique_names(self.columns)
        if not set(self.flipped) <= set(self.columns):
            raise ValueError("the flipped columns are not among the columns")


# Its square is still a number, and no box that anyone chose comes near.
_WIDEST = 1e100
RANGES = {name: Numbers("columns") for name in ("box_low", "seen_low", "seen_high", "box_high")}

# Fingerprints of the rows; files of vecuq 0.1 have none.
PRINTS = "prints"


def check_prints(name: str, arrays: dict[str, Array], n_rows: int) -> None:
    """Raise ValueError if there are fingerprints that are not those of so many rows."""
    if name not in arrays:
        return
    found = check_arrays(arrays, {name: Numbers("hashes", RISING, dtype="uint64")})["hashes"]
    if not 1 <= found <= min(n_rows, MOST_HASHES):
        raise ValueError(f"{name!r} holds {found:,} fingerprints of {n_rows:,} rows; {MOST_HASHES:,} is the most")


def saved_prints(name: str, arrays: dict[str, Any]) -> Fingerprints | None:
    """Return the fingerprints in a file; None if it has none."""
    return Fingerprints(arrays[name]) if name in arrays else None


def check_sketch(known: SketchHeader, arrays: dict[str, Array]) -> None:
    """Raise ValueError if an array of a sketch is not what it must be, by itself or beside the others."""
    n_columns = len(known.columns)
    moments = {"moments": Numbers(" ".join(["nodes"] * n_columns))}
    sizes = check_arrays(arrays, {**RANGES, **moments}, columns=n_columns)
    if sizes["nodes"] < 2 or arrays["moments"].size > 8 * MOST_NODES:
        raise ValueError(f"'moments' has {sizes['nodes']} nodes for each of {n_columns} columns")
    for lower, upper in zip(RANGES, list(RANGES)[1:], strict=False):
        refuse(upper, f"at least that of {lower!r}", arrays[upper] < arrays[lower], n_columns)
    _check_box(arrays)
    _check_moments(arrays["moments"], known.count)
    _check_means(known.count, arrays)
    check_prints(PRINTS, arrays, known.count)


def _check_box(arrays: dict[str, Array]) -> None:
    """Raise if a box is so much wider than its rows that a distance in it overflows once the rows have width one."""
    with np.errstate(over="ignore"):
        width, seen = (arrays[f"{name}_high"] - arrays[f"{name}_low"] for name in ("box", "seen"))
        far = ~np.isfinite(width) | ((seen > 0) & (width > _WIDEST * seen))
    refuse("box_high", "nearer to that of 'box_low'", far, len(far))


def _check_moments(moments: Array, count: int) -> None:
    """Raise if no rows have such moments: the first counts the rows, and none of the others exceeds it."""
    first = float(moments[(0,) * moments.ndim])
    if not np.isclose(first, count, rtol=1e-9):
        raise ValueError(f"the first number of 'moments' must be the count of rows, {count:,}, and is {first:g}")
    refuse("moments", "at most the count of rows", np.abs(moments) > count * (1.0 + 1e-9), moments.size)


def _check_means(count: int, arrays: dict[str, Array]) -> None:
    """Raise if the mean of a column, which the moments of degree one give, lies outside the range of its rows."""
    moments, width = arrays["moments"], arrays["box_high"] - arrays["box_low"]
    first = np.array([moments[tuple(int(j == k) for j in range(moments.ndim))] for k in range(moments.ndim)])
    mean = arrays["box_low"] + 0.5 * (first / count + 1.0) * width
    slack = 1e-9 * width + 1e-9 * np.abs(mean)
    inside = (mean >= arrays["seen_low"] - slack) & (mean <= arrays["seen_high"] + slack)
    refuse("moments", "that of rows inside their range", ~inside, moments.ndim)
