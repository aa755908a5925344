"""Saved counts of a gate: settings, thresholds, counts and the model; and what they must be to be read again."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, astuple
from typing import Any

import numpy as np
from msgspec import Struct, structs

from vecuq._check import Array, unique_names
from vecuq._files import NOT_NEGATIVE, RISING, SORTED, Count, Numbers, between, check_arrays, checked_header
from vecuq.conformal import Ladder
from vecuq.gate.artefact import model_bytes
from vecuq.gate.partial import PartialGate, ladders_of, refuse_rows_needed
from vecuq.gate.scoring import usable_guard, usable_model, usable_order
from vecuq.gate.seen import SeenCounts
from vecuq.gate.sense import SettingsHeader
from vecuq.gate.settings import GateSettings
from vecuq.gate.target import Target
from vecuq.gate.units import ALL

KIND = "partial_gate"


class PartialGateHeader(Struct):
    """What the header of counts states, and what its fields say of each other."""

    settings: SettingsHeader
    orders: tuple[str, ...]
    by_category: bool | None
    categories: tuple[str, ...]
    given: bool
    seen: tuple[Count, Count, Count, Count, Count, Count]

    def __post_init__(self) -> None:
        unique_names(self.orders)
        unique_names(self.categories)
        if self.orders[:1] != (self.settings.order,):
            raise ValueError("the first order is not the one that was wanted")
        if (self.by_category is None) != (not self.categories) or (self.by_category is None) != (not self.seen[0]):
            raise ValueError("the categories are not those of the rows")
        if self.by_category is False and self.categories != (ALL,):
            raise ValueError("there are categories, and none were given")
        n_rows, map_rows, map_known, weight_rows, weight_known, held = self.seen
        if not (map_rows <= map_known <= n_rows and weight_rows <= weight_known <= n_rows and held <= n_rows):
            raise ValueError("more rows match the model's than there are")


def parts_of(partial: PartialGate) -> tuple[str, dict[str, Any], dict[str, Array]]:
    """Return kind, header and arrays of a file that holds counts; the same counts give the same file."""
    names = sorted(partial.counts)
    header = {
        "settings": asdict(partial.settings),
        "orders": list(partial.orders),
        "by_category": partial.by_category,
        "categories": names,
        "given": partial.given,
        "seen": list(astuple(partial.seen)),
    }
    shape = (len(names), 2, len(partial.orders), partial.n_cells, 2)
    counts = np.array([partial.counts[name] for name in names], dtype=np.int64).reshape(shape)
    arrays: dict[str, Any] = {"counts": counts, "model": np.frombuffer(model_bytes(partial.model), dtype=np.uint8)}
    for k, ladder in enumerate(partial.ladders.values()):
        arrays |= {f"{k}.thresholds": ladder.thresholds, f"{k}.coverage": ladder.coverage}
    return KIND, header, arrays


def partial_gate_of(header: dict[str, Any], arrays: dict[str, Any], load: Callable[[bytes], Any]) -> PartialGate:
    """Put counts together again; raise if a part of them makes no sense, by itself or beside the others."""
    known = checked_header(header, PartialGateHeader)
    ladders = {order: _ladder(arrays, k) for k, order in enumerate(known.orders)}
    _check_counts(known, arrays, ladders)
    target = Target(**structs.asdict(known.settings.target))
    settings = GateSettings(**{**structs.asdict(known.settings), "target": target})
    refuse_rows_needed(settings)
    model = usable_model(load(arrays["model"].tobytes()))
    for order in known.orders:
        usable_order(model, order)
    if settings.guard is not None:
        usable_guard(model, settings.guard)
    _check_thresholds(known, ladders, ladders_of(model, settings, None, required=False))
    made = PartialGate.__new__(PartialGate)
    made.model, made.settings, made.given, made.ladders = model, settings, known.given, ladders
    made.by_category, made.seen = known.by_category, SeenCounts(*known.seen)
    made.counts = dict(zip(known.categories, arrays["counts"], strict=True))
    return made


def _ladder(arrays: dict[str, Any], place: int) -> Ladder:
    thresholds, coverage = f"{place}.thresholds", f"{place}.coverage"
    share = between(0.0, 1.0)
    found = check_arrays(arrays, {thresholds: Numbers("steps", RISING), coverage: Numbers("steps", SORTED, share)})
    if not found["steps"]:
        raise ValueError(f"{thresholds!r} holds no threshold")
    return Ladder(arrays[thresholds], arrays[coverage])


def _check_thresholds(known: PartialGateHeader, ladders: dict[str, Ladder], own: dict[str, Ladder]) -> None:
    """Raise if thresholds are not those of the model; rows without labels may have set those of the gate's order."""
    if set(known.orders) != {known.settings.order, *own}:
        raise ValueError("the orders are not those of the model")
    for order in known.orders[1 if known.given else 0 :]:
        if not np.array_equal(ladders[order].thresholds, own[order].thresholds) or not np.array_equal(
            ladders[order].coverage, own[order].coverage
        ):
            raise ValueError("the thresholds are not those of the model")


def _check_counts(known: PartialGateHeader, arrays: dict[str, Any], ladders: dict[str, Ladder]) -> None:
    """Raise if counts are not those of the thresholds, or orders count different rows."""
    steps = [len(ladder.thresholds) for ladder in ladders.values()]
    shape = f"{len(known.categories)} 2 {len(steps)} {max(steps) + 2} 2"
    check_arrays(
        arrays, {"counts": Numbers(shape, NOT_NEGATIVE, dtype="int64"), "model": Numbers("bytes", dtype="uint8")}
    )
    counts = arrays["counts"]
    if len(arrays) != 2 + 2 * len(steps):
        raise ValueError("there are other arrays than the header names")
    by_label = counts.sum(axis=3)
    if (by_label != by_label[:, :, :1]).any():
        raise ValueError("the orders count different rows")
    if int(by_label[:, :, 0].sum()) != known.seen[0] or int(by_label[:, 1, 0].sum()) != known.seen[1]:
        raise ValueError("other rows are counted than there are")
    if (counts[:, :, 0].sum(axis=(1, 2, 3)) < 1).any():
        raise ValueError("a category has no rows")
    if any(counts[:, :, k, step + 2 :].any() for k, step in enumerate(steps)):
        raise ValueError("rows are counted beyond the thresholds")
