"""What a model says of itself over HTTP: columns, settings, calibration distribution, the gate's certificate."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from vecuq._check import Array
from vecuq.errors import SettingError
from vecuq.gate import Gate
from vecuq.ranker import Ranker
from vecuq.service.served import Snapshot

# A hundred and one points draw a distribution.
_LEVELS = np.linspace(0.0, 1.0, 101)


def described(snapshot: Snapshot) -> dict[str, Any]:
    """Return everything that a page or a client needs to know of a model, as plain values without NaN."""
    served, ranker = snapshot.served, snapshot.served.ranker
    exported, why_not = exported_map(ranker)
    found = {
        "name": snapshot.name,
        "kind": served.kind,
        "takes": served.takes,
        "is_answers": served.answers is not None,
        "checksum": snapshot.checksum,
        "generation": snapshot.generation,
        "loaded_at": snapshot.loaded_at,
        "columns": list(ranker.columns),
        "flipped": sorted(ranker.flipped),
        "constant": list(ranker.diagnostics.constant_columns),
        "n_map": ranker.diagnostics.n_map,
        "n_held": ranker.diagnostics.n_held,
        "smallest_alpha": smallest_alpha(ranker),
        "settings": ranker.settings.to_dict(),
        "calibration": calibration(ranker),
        "gate": None if served.gate is None else _gate(served.gate),
        "exportable": exported is not None,
        "not_exportable": why_not,
        "measures": None if served.answers is None else list(served.answers.measures_),
    }
    return dict(_plain(found))


def smallest_alpha(ranker: Ranker) -> float | None:
    """Return the smallest false-alarm rate that the held-back rows can deliver; None where there are none."""
    return 1.0 / (ranker.held.count + 1.0) if ranker.diagnostics.n_held else None


def calibration(ranker: Ranker) -> dict[str, Any]:
    """Return quantiles of the held-back rows, column by column as the user has them, and of their uncertainty."""
    held = ranker.kept.held
    signs = [-1.0 if name in ranker.flipped else 1.0 for name in ranker.columns]
    columns = {
        name: _quantiles(sign * held[:, k]) for k, (name, sign) in enumerate(zip(ranker.columns, signs, strict=True))
    }
    medians = ranker.kept.centre * signs
    return {
        "levels": _LEVELS.tolist(),
        "rows": len(held),
        "columns": columns if len(held) else None,
        "medians": dict(zip(ranker.columns, medians.tolist(), strict=True)),
        "uncertainty": _quantiles(ranker.calibration_scores),
    }


def _quantiles(values: Array) -> list[float]:
    return np.quantile(values, _LEVELS).tolist() if len(values) else []


def _gate(gate: Gate) -> dict[str, Any]:
    certificate = gate.certificate()
    return {
        "target": gate.target.words,
        "kind": gate.target.kind,
        "value": gate.target.value,
        "confidence": gate.confidence,
        "promise": gate.promise,
        "certified": gate.certified_,
        "threshold": gate.threshold_,
        "coverage": gate.coverage_,
        "bound": gate.bound_,
        "order": gate.order_,
        "guard": gate.settings.guard,
        "by_category": len(gate.rules_) > 1 or gate.rules_[0].unit != "",
        "needs_batch": not gate.learned_.decider.by_threshold,
        "certificate": certificate.to_dict(),
        "certificate_text": str(certificate),
        "table": gate.table_,
    }


def exported_map(ranker: Ranker) -> tuple[str | None, str | None]:
    """Return the model for the scorer in the browser, or why there is none."""
    try:
        return ranker.to_json(), None
    except SettingError as error:
        return None, str(error)


def _plain(value: Any) -> Any:
    """Return a value as JSON knows it: null for what is not finite."""
    if isinstance(value, dict):
        return {str(name): _plain(one) for name, one in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(one) for one in value]
    if isinstance(value, np.generic):
        value = value.item()
    return None if isinstance(value, float) and not math.isfinite(value) else value
