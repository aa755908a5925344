r"""Ranges as the catalogue prints them, ``[0, \log K]``, turned into numbers that can be checked."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class Sizes:
    """How large the example is that a range is checked on; the letters of the catalogue."""

    K: int = 0  # classes
    M: int = 0  # members
    n: int = 0  # samples
    V: int = 0  # tokens of the vocabulary
    m: int = 0  # score columns
    N: int = 0  # calibration rows


@dataclass(frozen=True)
class Interval:
    """A range of numbers; ends may be left out."""

    low: float
    high: float
    has_low: bool
    has_high: bool

    def holds(self, value: float, slack: float = 1e-9) -> bool:
        """Whether a number lies within, give or take rounding."""
        above = value >= self.low - slack if self.has_low else value > self.low
        below = value <= self.high + slack if self.has_high else value < self.high
        return above and below


# Every end that an entry may have, as it is printed.
ENDS: dict[str, Callable[[Sizes], float]] = {
    "0": lambda of: 0.0,
    "1": lambda of: 1.0,
    "-1": lambda of: -1.0,
    "2": lambda of: 2.0,
    r"\infty": lambda of: math.inf,
    r"-\infty": lambda of: -math.inf,
    "n": lambda of: float(of.n),
    "N + 1": lambda of: of.N + 1.0,
    "1 - 1/K": lambda of: 1.0 - 1.0 / of.K,
    "1 - 1/M": lambda of: 1.0 - 1.0 / of.M,
    "1 - 1/n": lambda of: 1.0 - 1.0 / of.n,
    r"1 - 1/\sqrt K": lambda of: 1.0 - of.K**-0.5,
    r"\log K": lambda of: math.log(of.K),
    r"\log \min(K, M)": lambda of: math.log(min(of.K, of.M)),
    r"\log V": lambda of: math.log(of.V),
    r"\log n": lambda of: math.log(of.n),
    r"\sqrt{n - 1}": lambda of: math.sqrt(of.n - 1),
    r"2 m \log(N + 1)": lambda of: 2.0 * of.m * math.log(of.N + 1),
    r"(N + 1)/\pi": lambda of: (of.N + 1) / math.pi,
    r"-(N + 1)/\pi": lambda of: -(of.N + 1) / math.pi,
}


def interval_of(printed: str, sizes: Sizes) -> Interval:
    r"""Return the numbers that a printed range stands for, such as ``[0, 1 - 1/K]``."""
    found = re.fullmatch(r"([\[(])(.*)([\])])", printed)
    if not found:
        raise ValueError(f"A range must be an interval such as [0, 1); got {printed!r}.")
    for cut in (match.start() for match in re.finditer(", ", found[2])):
        low, high = found[2][:cut], found[2][cut + 2 :]
        if low in ENDS and high in ENDS:
            return Interval(ENDS[low](sizes), ENDS[high](sizes), found[1] == "[", found[3] == "]")
    raise ValueError(f"The ends of {printed!r} are not known; add them to ENDS.")
