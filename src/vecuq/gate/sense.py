"""What a saved gate must be: the fields of its header, its arrays, and what they say of each other."""

from __future__ import annotations

from typing import Any

import numpy as np
from msgspec import Struct

from vecuq._check import in_range, one_of, unique_names
from vecuq._files import RISING, SORTED, Count, Numbers, Share, between, check_arrays
from vecuq.gate.target import KINDS


class UnitsHeader(Struct):
    """Which unit every known category belongs to."""

    names: tuple[str, ...]
    of_category: dict[str, Count]

    def __post_init__(self) -> None:
        unique_names(self.names)
        if not self.names or sorted({*self.of_category.values()}) != list(range(len(self.names))):
            raise ValueError("the categories do not belong to the units")


class RuleHeader(Struct):
    """One rule, as :class:`vecuq.gate.rule.Rule` has it."""

    unit: str
    threshold: float | str
    certified: bool
    n_labels: Count
    n_groups: Count
    n_accepted: Count
    n_errors: float
    bound: Share
    cost: float
    cost_bound: float


class GateHeader(Struct):
    """What the header of a gate states, and what its fields say of each other."""

    settings: dict[str, Any]
    order: str
    units: UnitsHeader
    rules: tuple[dict[str, Any], ...]
    simultaneous: bool
    table: tuple[dict[str, Any], ...]
    orders: dict[str, Share]
    date: str
    grouped: bool

    def __post_init__(self) -> None:
        import msgspec

        target = self.settings.get("target")
        if not isinstance(target, dict):
            raise ValueError("the target is absent")
        one_of("the target", target.get("kind"), KINDS)
        in_range("the target", target.get("value"), 0.0)
        rules = [msgspec.convert(rule, RuleHeader) for rule in self.rules]
        if [rule.unit for rule in rules] != list(self.units.names):
            raise ValueError("the rules are not those of the units")


_TABLE = {
    "ladder.thresholds": Numbers("steps", RISING),
    "ladder.coverage": Numbers("steps", SORTED, between(0.0, 1.0)),
    "labelled.losses": Numbers("rows", between(0.0, 1.0)),
    "labelled.units": Numbers("rows", dtype="int64"),
    "rates.probability": Numbers("cells", SORTED, between(0.0, 1.0)),
    "rates.lower": Numbers("cells", SORTED, between(0.0, 1.0)),
    "rates.upper": Numbers("cells", SORTED, between(0.0, 1.0)),
    "model": Numbers("bytes", dtype="uint8"),
}


def check_gate(known: GateHeader, arrays: dict[str, Any]) -> None:
    """Raise ValueError if a part of a gate is not what it must be, by itself or beside the others."""
    sizes = check_arrays(arrays, _TABLE)
    scores, units = arrays["labelled.scores"], arrays["labelled.units"]
    if scores.dtype != np.float64 or scores.shape != (sizes["rows"],) or np.isinf(scores).any():
        raise ValueError("'labelled.scores' must hold one score per labelled row")
    if sizes["cells"] != sizes["steps"] + 1:
        raise ValueError("there is not one probability per step, and one beyond")
    if ((units < 0) | (units >= len(known.units.names))).any():
        raise ValueError("a labelled row belongs to no unit")
    groups = arrays["labelled.groups"]
    if groups.dtype != np.int64 or groups.shape != ((sizes["rows"],) if known.grouped else (0,)):
        raise ValueError("'labelled.groups' must name one group per labelled row, or none")
    if len(groups) and not np.array_equal(np.unique(groups), np.arange(groups.max() + 1)):
        raise ValueError("the groups are not numbered from 0 on")
    for k, rule in enumerate(known.rules):
        _check_rule(rule, scores[units == k], arrays["labelled.losses"][units == k], arrays["ladder.thresholds"])


def _check_rule(rule: dict[str, Any], scores: Any, losses: Any, thresholds: Any) -> None:
    """Raise if a rule does not say what the labelled rows show."""
    threshold = rule["threshold"]
    if isinstance(threshold, str):
        one_of("the threshold", threshold, ("all", "none"))
    elif threshold not in thresholds:
        raise ValueError("a rule has a threshold that is not one of the ladder")
    if rule["n_labels"] != len(scores):
        raise ValueError("a rule counts other labelled rows than there are")
    if isinstance(threshold, float) and rule["n_accepted"] != int((scores <= threshold).sum()):
        raise ValueError("a rule counts other accepted rows than its threshold accepts")
    if isinstance(threshold, float) and abs(rule["n_errors"] - losses[scores <= threshold].sum()) > 1e-6:
        raise ValueError("a rule counts other errors than the accepted rows have")
