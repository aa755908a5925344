"""A ranker as an ONNX graph: one tensor of rows in the user's columns and directions, uncertainty and p-value out."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import numpy as np

from vecuq._version import __version__
from vecuq.conformal import HeldScores, tail_weights
from vecuq.ranker.export.exportable import exportable, tie_factor
from vecuq.ranker.export.onnx_map import images
from vecuq.ranker.export.onnx_nodes import Graph, Input, whole
from vecuq.transport import SCALED_LIMIT, Scaler

if TYPE_CHECKING:
    from vecuq.ranker.ranker import Ranker

INPUT, OUTPUTS = "scores", ("uncertainty", "p_value")


def onnx_bytes(ranker: Ranker, *, p_values: bool = True) -> bytes:
    """Return a ranker as an ONNX file.

    The input ``scores`` is (rows, columns) in float64, in the ranker's order of columns and as the user has them:
    what is flipped is flipped inside. The outputs are ``uncertainty`` and, if rows were held back and ``p_values`` is
    true, ``p_value``; both are NaN in a row with a value that is missing or infinite.
    """
    parts, graph = exportable(ranker), Graph(INPUT, len(ranker.columns))
    scaled = _scaled(graph, ranker, INPUT)
    score = _score(graph, ranker, scaled, images(graph, parts, scaled))
    finite = graph("LessOrEqual", graph("Abs", INPUT), np.finfo(float).max)
    complete = graph("Cast", graph("ReduceMin", graph("Cast", finite, to=_INT32), whole(1), keepdims=0), to=_BOOL)
    score = graph("Where", complete, graph("Squeeze", score, whole(1)), np.nan)
    outputs = {OUTPUTS[0]: score}
    if p_values and ranker.diagnostics.n_held:
        outputs[OUTPUTS[1]] = graph("Where", complete, _p_value(graph, ranker.held, score), np.nan)
    return graph.model(outputs, _facts(ranker))


def _scaled(graph: Graph, ranker: Ranker, rows: str) -> str:
    """Return the active columns, all pointing upwards, on one scale: as :meth:`vecuq.transport.Scaler.transform`."""
    if ranker.flipped:
        rows = graph("Mul", rows, np.array([-1.0 if name in ranker.flipped else 1.0 for name in ranker.columns]))
    if len(ranker.active) < len(ranker.columns):
        rows = graph("Gather", rows, whole(*ranker.active), axis=1)
    scaler = ranker.scaler
    scaled = graph("Div", graph("Sub", rows, scaler.lower), scaler.span)
    scaled = graph("Clip", scaled, -SCALED_LIMIT, SCALED_LIMIT)
    if len(scaler.knots):
        scaled = graph("Concat", *(_level(graph, scaler, k, rows, scaled) for k in range(len(scaler.lower))), axis=1)
    if scaler.signed and scaler.kind != "identity":
        scaled = graph("Sub", graph("Mul", scaled, 2.0), 1.0)
    return scaled if scaler.weights is None else graph("Mul", scaled, scaler.weights)


def _level(graph: Graph, scaler: Scaler, k: int, rows: str, scaled: str) -> str:
    """Return a column through its quantile knots, (rows, 1); as it was scaled outside of the calibration range."""
    places, levels = scaler.levels(k)
    value = graph("Squeeze", graph.columns(rows, k, k + 1), whole(1))
    passed: Input = graph.below(places[1:-1], value, equal=True) if len(places) > 2 else whole(0)
    left, width, rise = (graph("Gather", each, passed) for each in (places[:-1], np.diff(places), np.diff(levels)))
    level = graph("Mul", graph("Div", graph("Sub", value, left), width), rise)
    level = graph("Add", level, graph("Gather", levels[:-1], passed))
    inside = graph("And", graph("GreaterOrEqual", value, places[0]), graph("LessOrEqual", value, places[-1]))
    outside = graph("Squeeze", graph.columns(scaled, k, k + 1), whole(1))
    return graph("Unsqueeze", graph("Where", inside, level, outside), whole(1))


def _score(graph: Graph, ranker: Ranker, scaled: str, ranks: str) -> str:
    """Return length of the rank image plus overshoot, (rows, 1), as :meth:`vecuq.Ranker.score_scaled`."""
    length = graph("Sqrt", graph.sums(graph("Mul", ranks, ranks)))
    if ranker.settings.overshoot == 0:
        return length
    beyond = graph("Max", graph("Sub", scaled, ranker.high), 0.0)
    if ranker.scaler.signed:
        beyond = graph("Max", beyond, graph("Sub", ranker.low, scaled))
    largest = graph("ReduceMax", beyond, whole(1))
    largest = graph("Where", graph("Greater", largest, 0.0), largest, 1.0)
    share = graph("Div", beyond, largest)  # its squares do not overflow
    distance = graph("Mul", largest, graph("Sqrt", graph.sums(graph("Mul", share, share))))
    return graph("Add", length, graph("Mul", distance, float(ranker.settings.overshoot)))


def _p_value(graph: Graph, held: HeldScores, score: str) -> str:
    """Return the p-value of every score: as :meth:`vecuq.conformal.HeldScores.p_values`, ties counting."""
    below = graph.below(held.scores, graph("Mul", score, tie_factor()))
    if held.weights is None:
        counted = graph("Sub", float(len(held.scores)), graph("Cast", below, to=_DOUBLE))
    else:
        counted = graph("Gather", tail_weights(held.weights), below)
    return graph("Div", graph("Add", counted, 1.0), held.count + 1.0)


def _facts(ranker: Ranker) -> dict[str, str]:
    """Return what a reader of the file should know, as texts."""
    facts = {
        "vecuq": __version__,
        "columns": list(ranker.columns),
        "flipped": sorted(ranker.flipped),
        "settings": ranker.settings.to_dict(),
        "held_back": ranker.diagnostics.n_held,
        "meaning": "uncertainty: higher is more uncertain; p_value: small is unlike the calibration rows",
    }
    return {name: value if isinstance(value, str) else json.dumps(value) for name, value in facts.items()}


# Types, as ONNX numbers them.
_INT32, _BOOL, _DOUBLE = 6, 9, 11
