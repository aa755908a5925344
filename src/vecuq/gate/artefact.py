"""The saved gate: settings, rules and labelled scores, with the model inside; and how it is put together again."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import asdict
from typing import Any

import numpy as np
from msgspec import structs

from vecuq._check import Array
from vecuq._files import checked_header
from vecuq.conformal import Ladder, WrongRates
from vecuq.errors import ModelFileError
from vecuq.gate.deciding import Decider
from vecuq.gate.gate import Gate
from vecuq.gate.rule import Labelled, Rule
from vecuq.gate.scoring import WEIGHTED, can_weigh, columns_in, usable_guard, usable_model, usable_order
from vecuq.gate.sense import GateHeader, as_rows, check_gate
from vecuq.gate.settings import GateSettings, Learned
from vecuq.gate.target import Target
from vecuq.gate.units import ALL, Units


def parts_of(gate: Gate) -> tuple[str, dict[str, Any], dict[str, Array]]:
    """Return kind, header and arrays of a file that holds a gate."""
    learned = gate.learned_
    header = {
        "settings": asdict(gate.settings),
        "order": learned.order,
        "weights": None if learned.weights is None else dict(learned.weights),
        "units": {"names": list(learned.units.names), "of_category": learned.units.of_category},
        "rules": [{**asdict(rule), "threshold": _written(rule.threshold)} for rule in learned.decider.rules],
        "simultaneous": learned.simultaneous,
        "table": list(learned.table),
        "orders": learned.orders,
        "date": learned.date,
        "grouped": learned.labelled.groups is not None,
    }
    return "gate", header, {**_arrays_of(learned), "model": np.frombuffer(model_bytes(gate.model), dtype=np.uint8)}


def _arrays_of(learned: Learned) -> dict[str, Any]:
    labelled, rates = learned.labelled, learned.rates
    groups = np.empty(0, dtype=np.int64) if labelled.groups is None else labelled.groups.astype(np.int64)
    return {
        "ladder.thresholds": labelled.ladder.thresholds,
        "ladder.coverage": labelled.ladder.coverage,
        "labelled.scores": labelled.scores,
        "labelled.losses": labelled.losses,
        "labelled.groups": groups,
        "labelled.units": learned.places.astype(np.int64),
        "rates.probability": rates.probability,
        "rates.lower": rates.lower,
        "rates.upper": rates.upper,
    }


def gate_of(header: dict[str, Any], arrays: dict[str, Any], load: Callable[[bytes], Any]) -> Gate:
    """Put a gate together again; raise if a part of it makes no sense, by itself or beside the others."""
    known, arrays = checked_header(header, GateHeader), as_rows(arrays)
    check_gate(known, arrays)
    target = Target(**structs.asdict(known.settings.target))
    settings = GateSettings(**{**structs.asdict(known.settings), "target": target})
    groups = arrays["labelled.groups"].astype(np.intp) if known.grouped else None
    ladder = Ladder(arrays["ladder.thresholds"], arrays["ladder.coverage"])
    labelled = Labelled(ALL, arrays["labelled.scores"], arrays["labelled.losses"], groups, ladder)
    units = Units(known.units.names, dict(known.units.of_category))
    places = arrays["labelled.units"].astype(np.intp)
    rules = tuple(Rule(**{**structs.asdict(rule), "threshold": _read(rule.threshold)}) for rule in known.rules)
    parts = tuple(labelled.only(places == k, name) for k, name in enumerate(units.names))
    learned = Learned(
        order=known.order,
        weights=known.weights,
        units=units,
        labelled=labelled,
        places=places,
        kept=None,
        decider=Decider(rules, parts, settings.target, settings.promise),
        rates=WrongRates(*(arrays[f"rates.{name}"] for name in ("probability", "lower", "upper"))),
        simultaneous=known.simultaneous,
        table=tuple(map(structs.asdict, known.table)),
        orders=known.orders,
        date=known.date,
    )
    model = usable_model(load(arrays["model"].tobytes()))
    usable_order(model, known.order, choices=(WEIGHTED,) if known.weights is not None and can_weigh(model) else ())
    if known.weights is not None and set(known.weights) != set(columns_in(model)):
        raise ValueError("the weights are not those of the columns")
    if settings.guard is not None:
        usable_guard(model, settings.guard)
    return Gate.from_learned(model, settings, learned)


def _written(threshold: float) -> float | str:
    """Return a threshold as JSON has it; infinite ones are words."""
    return float(threshold) if np.isfinite(threshold) else "all" if threshold > 0 else "none"


def _read(threshold: float | str) -> float:
    return {"all": np.inf, "none": -np.inf}.get(threshold, np.nan) if isinstance(threshold, str) else float(threshold)


def model_bytes(model: Any) -> bytes:
    """Return the bytes of a model that can be saved; refuse any other."""
    if not hasattr(model, "to_bytes"):
        raise ModelFileError(
            f"A gate is saved with its model, and a {type(model).__name__} cannot be saved. Use a VecUQ, Ranker, "
            f"VecUQPipeline or Conformal."
        )
    return bytes(model.to_bytes())


def model_checksum(model: Any) -> str:
    """Return what distinguishes a model from any other; of one that cannot be saved, its name."""
    try:
        return hashlib.sha256(model_bytes(model)).hexdigest()
    except ModelFileError:
        return type(model).__name__


def labels_checksum(learned: Learned) -> str:
    """Return what distinguishes the labelled rows, by their scores and labels, from any others."""
    digest = hashlib.sha256(learned.labelled.scores.tobytes())
    digest.update(learned.labelled.losses.tobytes())
    return digest.hexdigest()
