"""What a gate was asked for, checked once; and what it learned from labelled rows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vecuq._check import in_range, one_of, whole_number
from vecuq.conformal import WrongRates
from vecuq.errors import SettingError
from vecuq.gate.deciding import Decider
from vecuq.gate.rule import Labelled
from vecuq.gate.target import Target
from vecuq.gate.units import Units

PROMISES = ("confidence", "average")


@dataclass(frozen=True)
class GateSettings:
    """One target, and how it is promised; see :class:`vecuq.Gate`."""

    target: Target
    confidence: float = 0.9
    promise: str = "confidence"
    guard: float | None = None
    order: str = "model"
    random_state: int | None = None

    def __post_init__(self) -> None:
        in_range("confidence", self.confidence, 0.0, 1.0, ends="()")
        one_of("promise", self.promise, PROMISES)
        if self.guard is not None:
            in_range("guard", self.guard, 0.0, 1.0, ends="()")
        if self.random_state is not None:
            whole_number("random_state", self.random_state, 0)
        if self.promise == "average" and self.target.kind != "accuracy":
            raise SettingError(
                f"promise='average' is about accuracy or an error rate; the target is {self.target.words}."
            )

    @property
    def delta(self) -> float:
        """The probability with which the promise may fail."""
        return 1.0 - self.confidence

    @property
    def seed(self) -> int:
        """The seed of all draws; None is a fixed one too."""
        return self.random_state or 0


@dataclass(frozen=True, eq=False)
class Learned:
    """All that labelled rows taught a gate: everything that decides, and everything that the certificate says."""

    order: str
    weights: Mapping[str, float] | None  # of the columns, where labels weighted them
    units: Units
    labelled: Labelled  # the rows that certify, of all units
    places: NDArray[np.intp]  # the unit of each of them
    kept: NDArray[np.bool_] | None  # which of the rows that were given they are; not saved
    decider: Decider
    rates: WrongRates
    simultaneous: bool
    table: tuple[dict[str, Any], ...]  # what is certified at several targets at once
    orders: dict[str, float]  # what each order would have covered
    date: str
