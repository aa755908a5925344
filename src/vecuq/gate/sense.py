"""What a saved gate must be: the fields of its header, its arrays, and what they say of each other."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import numpy as np
from msgspec import Struct

from vecuq._check import in_range, one_of, unique_names
from vecuq._files import POSITIVE, RISING, SORTED, Count, NotNegative, Numbers, Rate, Share, between, check_arrays
from vecuq.conformal import error_rate_p_values
from vecuq.errors import ModelFileError
from vecuq.gate.plan import TARGETS
from vecuq.gate.scoring import WEIGHTED
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


class TableLine(Struct):
    """What is certified at one accuracy."""

    accuracy: Rate
    coverage: Share
    accepted: Count
    wrong: NotNegative
    threshold: float | None


class TargetHeader(Struct):
    """One target, as :class:`vecuq.gate.target.Target` has it."""

    kind: str
    value: NotNegative
    cost_wrong: NotNegative
    cost_review: NotNegative

    def __post_init__(self) -> None:
        one_of("the target", self.kind, KINDS)
        if self.kind in ("accuracy", "quality", "flag_recall", "flag_precision", "budget"):
            in_range("the target", self.value, 0.0, 1.0, ends="()")
        if (self.kind == "cost") != (min(self.cost_wrong, self.cost_review) > 0):
            raise ValueError("the prices do not belong to the target")


class SettingsHeader(Struct):
    """The settings of a gate; none may be absent."""

    target: TargetHeader
    confidence: Rate
    promise: str
    guard: Rate | None
    order: str
    random_state: Count | None


class GateHeader(Struct):
    """What the header of a gate states, and what its fields say of each other."""

    settings: SettingsHeader
    order: str
    units: UnitsHeader
    rules: tuple[RuleHeader, ...]
    simultaneous: bool
    table: tuple[TableLine, ...]
    orders: dict[str, Share]
    date: str
    grouped: bool
    weights: dict[str, NotNegative] | None = None

    def __post_init__(self) -> None:
        datetime.fromisoformat(self.date)
        if [rule.unit for rule in self.rules] != list(self.units.names):
            raise ValueError("the rules are not those of the units")
        if (self.weights is not None) != (self.order == WEIGHTED):
            raise ValueError("weights and order do not go together")
        if self.settings.order not in ("best", self.order):
            raise ValueError("the order is not the one that was wanted")
        if tuple(line.accuracy for line in self.table) != TARGETS:
            raise ValueError("the table is not about the usual accuracies")


# How many rows each labelled score stands for, in a gate that vecuq 0.2 fitted to counts; and how many there may be.
_COUNTS, _MOST_ROWS = "labelled.counts", 20_000_000
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


def as_rows(arrays: dict[str, Any]) -> dict[str, Any]:
    """Return the arrays of a gate with one labelled score per row, also where vecuq 0.2 kept counts of them."""
    if _COUNTS not in arrays:
        return arrays
    names, times = ("labelled.scores", "labelled.losses", "labelled.units"), arrays[_COUNTS]
    check_arrays(arrays, {_COUNTS: Numbers("rows", POSITIVE, dtype="int64")})
    if any(arrays[name].shape != times.shape for name in names):
        raise ValueError(f"{_COUNTS!r} must hold one number per labelled score")
    if len(arrays["labelled.groups"]) or not np.isin(arrays["labelled.losses"], (0.0, 1.0)).all():
        raise ValueError("rows that were counted are right or wrong, and come in no groups")
    if times.sum(dtype=float) > _MOST_ROWS:
        raise ModelFileError(
            f"It was fitted to counts of {times.sum(dtype=float):,.0f} rows, and a gate now keeps at most "
            f"{_MOST_ROWS:,}. Draw some with `vecuq sample` and fit it to these."
        )
    found = {name: array for name, array in arrays.items() if name != _COUNTS}
    return {**found, **{name: np.repeat(found[name], times) for name in names}}


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
    bands = [arrays[f"rates.{name}"] for name in ("lower", "probability", "upper")]
    if (bands[0] > bands[1]).any() or (bands[1] > bands[2]).any():
        raise ValueError("a probability lies outside its interval")
    losses, thresholds = arrays["labelled.losses"], arrays["ladder.thresholds"]
    for k, rule in enumerate(known.rules):
        part = units == k
        _check_rule(rule, scores[part], losses[part], thresholds)
        _check_promise(known.settings, rule)
        if rule.n_groups != (len(np.unique(groups[units == k])) if known.grouped else 0):
            raise ValueError("a rule counts other groups than there are")
    _check_table(known, scores, losses, thresholds)


def _check_rule(rule: RuleHeader, scores: Any, losses: Any, thresholds: Any) -> None:
    """Raise if a rule does not say what the labelled rows show."""
    if isinstance(rule.threshold, str):
        one_of("the threshold", rule.threshold, ("all", "none"))
    if rule.n_labels != len(scores):
        raise ValueError("a rule counts other labelled rows than there are")
    if isinstance(rule.threshold, float):
        _check_threshold(rule.threshold, rule.n_accepted, rule.n_errors, scores, losses, thresholds)
    if rule.certified and not rule.n_accepted:
        raise ValueError("a rule is certified and accepts nothing")
    if not 0 <= rule.n_errors <= rule.n_accepted + 1e-6:
        raise ValueError("a rule counts more errors than rows")


def _check_promise(settings: SettingsHeader, rule: RuleHeader) -> None:
    """Raise if a rule promises what its own counts contradict."""
    if settings.target.kind != "cost" and (rule.cost or rule.cost_bound):
        raise ValueError("a rule has a cost, and there are no prices")
    if settings.target.kind not in ("accuracy", "quality"):
        return
    allowed = round(1.0 - settings.target.value, 12)
    if rule.certified != (rule.n_accepted > 0) or abs(rule.bound - (allowed if rule.certified else 1.0)) > 1e-9:
        raise ValueError("a rule has another bound than its target")
    exact = not rule.n_groups and settings.target.kind == "accuracy" and settings.promise == "confidence"
    if rule.certified and exact:
        chance = float(error_rate_p_values(rule.n_errors, rule.n_accepted, allowed))
        if chance > (1.0 - settings.confidence) * (1 + 1e-9):
            raise ValueError("a rule is certified, and its errors do not prove it")


def _check_table(known: GateHeader, scores: Any, losses: Any, thresholds: Any) -> None:
    """Raise if a line of the table does not say what the labelled rows show."""
    for line in known.table:
        if line.threshold is not None:
            _check_threshold(line.threshold, line.accepted, line.wrong, scores, losses, thresholds)
        elif line.accepted or line.wrong:
            raise ValueError("a line of the table accepts rows without a threshold")
        if abs(line.coverage * max(len(scores), 1) - line.accepted) > 1e-6 + 1e-12 * line.accepted:
            raise ValueError("a line of the table has another coverage than its accepted rows")


def _check_threshold(at: float, accepted: int, lost: float, scores: Any, losses: Any, thresholds: Any) -> None:
    if at not in thresholds:
        raise ValueError("a threshold is not one of the ladder")
    below = scores <= at
    if accepted != int(below.sum()) or abs(lost - losses[below].sum()) > 1e-6:
        raise ValueError("other rows or errors are counted than the threshold accepts")
