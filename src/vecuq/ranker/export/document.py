"""A ranker as a JSON document, with every digit, and the script that scores with it in a browser."""

from __future__ import annotations

import json
from importlib.resources import files
from typing import TYPE_CHECKING, Any

import numpy as np

from vecuq._check import Array
from vecuq._version import __version__
from vecuq.conformal import HeldScores, tail_weights
from vecuq.ranker.export.exportable import exportable, tie_factor
from vecuq.transport import SCALED_LIMIT, BoxMap, GridParts, Half, Scaler

if TYPE_CHECKING:
    from vecuq.ranker.ranker import Ranker

# What the script looks at first. The version rises when an older script would read a document wrongly.
KIND, VERSION = "vecuq-scorer", 1


def json_of(ranker: Ranker, *, p_values: bool = True) -> str:
    """Return all that scoring needs as JSON text; :func:`scorer_source` reads it.

    Numbers keep every digit, and what is infinite is null. There is no ``<``, so that the text may stand inside of
    a web page as it is.
    """
    return json.dumps(_document(ranker, p_values), allow_nan=False, separators=(",", ":")).replace("<", "\\u003c")


def scorer_source() -> str:
    """Return the scorer in plain JavaScript, one module without dependencies.

    ``import { load } from "./scorer.js"``, then ``load(json).score(row)`` gives ``{uncertainty, pValue}``.
    """
    return (files("vecuq.ranker.export") / "scorer.js").read_text("utf-8")


def _document(ranker: Ranker, p_values: bool) -> dict[str, Any]:
    parts = exportable(ranker)
    return {
        "kind": KIND,
        "version": VERSION,
        "vecuq": __version__,
        "columns": list(ranker.columns),
        "flipped": sorted(ranker.flipped),
        "active": list(ranker.active),
        "medians": None if np.isnan(ranker.kept.centre).any() else ranker.kept.centre.tolist(),
        "scaling": _scaling(ranker.scaler),
        "map": _map(parts),
        "overshoot": {
            "weight": float(ranker.settings.overshoot),
            "high": ranker.high.tolist(),
            "low": ranker.low.tolist() if ranker.scaler.signed else None,
        },
        "held": _held(ranker.held) if p_values and ranker.diagnostics.n_held else None,
        "settings": ranker.settings.to_dict(),
    }


def _scaling(scaler: Scaler) -> dict[str, Any]:
    m = len(scaler.lower)
    return {
        "lower": scaler.lower.tolist(),
        "span": scaler.span.tolist(),
        "limit": SCALED_LIMIT,
        "signed": scaler.signed and scaler.kind != "identity",
        "weights": None if scaler.weights is None else scaler.weights.tolist(),
        "knots": [dict(zip(("at", "level"), map(_plain, scaler.levels(k)), strict=True)) for k in range(m)]
        if len(scaler.knots)
        else None,
    }


def _map(parts: GridParts) -> dict[str, Any]:
    return {
        "epsilon": float(parts.epsilon),
        "axes": [axis.tolist() for axis in parts.axes],
        "potentials": parts.log_v.ravel().tolist(),
        "nearest": _plain(parts.nearest),
        "farthest": _plain(parts.farthest),
        "origin": parts.origin.tolist(),
        "half": None if parts.half is None else _plain(parts.half),
        "box": None if parts.box is None else _box(parts.box),
    }


def _box(box: BoxMap) -> dict[str, Any]:
    return {
        "centre": box.centre.tolist(),
        "half": box.half.tolist(),
        "middle": box.middle.tolist(),
        "bases": [basis.tolist() for basis in box.bases],
        "first": _half(box.first),
        "second": _half(box.second),
    }


def _half(half: Half) -> dict[str, Any]:
    return {"stairs": list(half.stairs), "matrix": half.matrix.tolist()}


def _held(held: HeldScores) -> dict[str, Any]:
    """Return what p-values are counted from; with groups, the weight of the rows from each place on."""
    tails = None if held.weights is None else tail_weights(held.weights).tolist()
    return {"scores": held.scores.tolist(), "count": held.count, "tails": tails, "tie": tie_factor()}


def _plain(numbers: Array) -> list[float | None]:
    """Return numbers as JSON has them: null for an infinite one."""
    return [number if np.isfinite(number) else None for number in numbers.tolist()]
