"""Saved files that lie with a straight face: header or arrays changed, and the checksum computed again."""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from hypothesis import strategies as st

from vecuq._check import Array
from vecuq._files import tensor_bytes
from vecuq._load import _READERS
from vecuq.errors import VecuqWarning
from vecuq.testing.examples import example
from vecuq.testing.hostile.byte_level import damaged
from vecuq.testing.hostile.json_level import altered

SAVED_KINDS = tuple(_READERS)
# A change of one number to another that could as well have been fitted: nobody can see it.
NUDGE = "nudge"
# Where a number can be replaced by another that could as well have been fitted or chosen, whatever it was before.
UNDETECTABLE = (
    "settings.alpha",
    "settings.overshoot",
    "temperature",
    "seed",
    "flipped",
    *("box_low", "box_high", "seen_low", "seen_high", "moments"),
    *("counts", "breakers", "scores"),
    *("audit", "confidence", "overdue", "audits.labels", "memory.codes", "memory.hashes"),
    *("rates.probability", "rates.lower", "rates.upper", "settings.guard", "simultaneous"),
    *("made", "made.fewest_samples", "made.most_samples"),
    *("density/mahalanobis/means", "density/mahalanobis/whitening"),
)
Lie = tuple[bytes, str, str]  # the file, where it lies, and how


@st.composite
def saved_files(draw: st.DrawFn, kind: str, made: Any = None) -> Lie:
    """Return a strategy of saved files that lie: (bytes, where, how).

    The checksum of the lie is right, so only a look at its sense can refuse it. ``how`` is ``"nudge"`` where one number
    was replaced by a near one, which cannot be detected.

    Parameters
    ----------
    kind
        What is saved: ``"model"``, ``"pipeline"``, ``"monitor"`` or ``"sketch"``.
    made
        Something fitted of that kind, by default a small example.
    """
    content = (example(kind) if made is None else made).to_bytes()
    way = draw(st.sampled_from((*["header"] * 3, *["array"] * 3, NUDGE, NUDGE, "name", "bytes")))
    if way == "bytes":
        return draw(damaged(content)), "bytes", "damaged"
    header, arrays = taken_apart(content)
    if way == "header":
        header, where = draw(altered(header))
        return put_together(header, arrays), f"header {', '.join(where)}", "altered"
    name = draw(st.sampled_from(sorted(arrays)))
    if way == "name":
        return put_together(header, _renamed(draw, arrays, name)), f"array {name}", "renamed"
    how = NUDGE if way == NUDGE else draw(st.sampled_from(sorted(LIES)))
    arrays[name] = LIES[how](arrays[name])
    return put_together(header, arrays), f"array {name}", how


def taken_apart(content: bytes) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return header and arrays of a saved file, by safetensors alone; the checksum is left out."""
    from safetensors.numpy import load

    length = int.from_bytes(content[:8], "little")
    header = json.loads(json.loads(content[8 : 8 + length])["__metadata__"]["vecuq"])
    header.pop("checksum")
    return header, load(content)


def put_together(header: Any, arrays: dict[str, Any]) -> bytes:
    """Return header and arrays as a saved file with a right checksum."""
    if not isinstance(header, dict):
        header = {"odd": header}
    try:
        return tensor_bytes("none", {"kind": None, **header}, arrays)
    except (ValueError, TypeError, KeyError):  # what safetensors itself cannot write
        return b""


def is_undetectable(where: str, how: str) -> bool:
    """Whether nobody can see that a file lies there: other numbers are then no broken promise."""
    return how == NUDGE or any(place.endswith(UNDETECTABLE) for place in where.split(", "))


def _renamed(draw: st.DrawFn, arrays: dict[str, Any], name: str) -> dict[str, Any]:
    other = draw(st.sampled_from(("", "x", "log_v", *sorted(arrays))))
    array = arrays.pop(name)
    return arrays if draw(st.booleans()) else {**arrays, other: array}


def _with(value: float, place: int = -1) -> Callable[[Array], Array]:
    def change(array: Array) -> Array:
        changed = array.astype(float).copy()
        if changed.size:
            changed.reshape(-1)[place] = value
        return changed

    return change


def _nudged(array: Array) -> Array:
    changed = array.copy()
    if changed.size:
        flat = changed.reshape(-1)
        flat[0] = np.nextafter(flat[0], np.inf) if flat.dtype.kind == "f" else flat[0]
    return changed


LIES: dict[str, Callable[[Any], Any]] = {
    NUDGE: _nudged,
    "NaN": _with(np.nan),
    "NaN first": _with(np.nan, 0),
    "infinite": _with(np.inf),
    "minus infinity": _with(-np.inf, 0),
    "huge": _with(1e308),
    "minus huge": _with(-1e308, 0),
    "negative": lambda array: -np.abs(array.astype(float)) - 1.0,
    "zeros": np.zeros_like,
    "reversed": np.flip,
    "constant": lambda array: np.full_like(array, 0.5),
    "empty": lambda array: array[:0] if array.ndim else array,
    "short": lambda array: array[:-1] if array.ndim else array,
    "long": lambda array: np.concatenate([array, array[-1:]]) if array.ndim else array,
    "doubled": lambda array: np.concatenate([array, array]) if array.ndim else array,
    "another axis": lambda array: array[None],
    "flat": lambda array: array.reshape(-1),
    "transposed": lambda array: np.ascontiguousarray(array.T),
    "scalar": lambda array: np.asarray(0.5),
    "float32": lambda array: array.astype(np.float32),
    "float16": lambda array: np.clip(array, -6e4, 6e4).astype(np.float16),
    "int64": lambda array: np.nan_to_num(array).astype(np.int64),
    "int8": lambda array: np.clip(np.nan_to_num(array), -100, 100).astype(np.int8),
    "bool": lambda array: array.astype(bool),
}


def answers_of(kind: str, loaded: Any) -> dict[str, Array]:
    """Return what something saved has to say of some rows: two that say the same are equal, bit for bit."""
    if kind not in _PROBES:
        raise LookupError(f"Add a probe of the saved kind {kind!r} to vecuq/testing/hostile/saved.py.")
    return _PROBES[kind](loaded)


def _rows() -> Array:
    rng = np.random.default_rng(7)
    far = np.array([[50.0, 0.1], [0.0, 0.0], [1e6, 1e6], [-5.0, 3.0]])
    return np.vstack([rng.gamma(1.0, size=(20, 2)), far])


def _of_model(ranker: Any) -> dict[str, Array]:
    ranking = ranker.rank({"entropy": _rows()[:, 0], "knn": _rows()[:, 1]}, warn=False)
    p_values = np.array([]) if ranking.p_values is None else ranking.p_values
    return {"uncertainty": ranking.uncertainty, "p_values": p_values, "threshold": np.array([ranker.threshold()])}


def _of_partial(partial: Any) -> dict[str, Array]:
    """Return how many rows there are: what lies in them nobody else remembers, but they are fitted or refused."""
    _of_model(partial.fit())
    return {"count": np.array([partial.count])}


def _of_sketch(sketch: Any) -> dict[str, Array]:
    from vecuq.ranker import fit_ranker

    return {"uncertainty": _of_model(fit_ranker(sketch))["uncertainty"]}


def _of_pipeline(pipeline: Any) -> dict[str, Array]:
    from vecuq.testing.examples import logits

    return {"uncertainty": pipeline.uncertainty(logits(15, 9)), "p_values": pipeline.p_values(logits(15, 9))}


def _of_answer_pipeline(pipeline: Any) -> dict[str, Array]:
    from vecuq.testing.examples import sampled_answers

    answers = [*sampled_answers(15, 11)[0], {"text": "Goethe"}, {"text": "Goethe", "samples": ["Goethe", "Schiller"]}]
    with warnings.catch_warnings():  # the last two lack samples
        warnings.simplefilter("ignore", VecuqWarning)
        found = [pipeline.judge(answer) for answer in answers]
    names = ("uncertainty", "p_value", "p_wrong", "accept")
    return {name: np.array([getattr(one, name) for one in found], dtype=float) for name in names}


def _of_estimator_pipeline(pipeline: Any) -> dict[str, Array]:
    """Return what it says together with its classifier, which no file holds."""
    from vecuq._load import load
    from vecuq.testing.examples import class_rows, classifier

    whole = load(pipeline.to_bytes(), estimator=classifier())
    rows = class_rows(15, 14)[0]
    return {"uncertainty": whole.uncertainty(rows), "p_values": whole.p_values(rows)}


def _of_monitor(monitor: Any) -> dict[str, Array]:
    from vecuq.testing.examples import gamma_rows

    monitor.observe(gamma_rows(20, 8))
    return {"evidence": np.array(list(monitor.evidence.values())), "rows": np.array([monitor.rows])}


def _of_gate(gate: Any) -> dict[str, Array]:
    rows = {"entropy": _rows()[:, 0], "knn": _rows()[:, 1]}
    by = ["a", "b"] * (len(_rows()) // 2)
    return {"accept": gate.accept(rows, by=by), "p_wrong": gate.p_wrong(rows, interval=True)}


def _of_live(live: Any) -> dict[str, Array]:
    rows = {"entropy": _rows()[:, 0], "knn": _rows()[:, 1]}
    done = live.decide(rows, range(100, 100 + len(_rows())), by=["a", "b"] * (len(_rows()) // 2))
    stands = live.standing
    return {
        "accept": done.accept,
        "audit": done.audit,
        "standing": np.array([stands.n_counted, stands.wrong, stands.missing, stands.bound, stands.lower]),
        "evidence": np.array([stands.log_evidence]),
    }


def _of_evaluation(partial: Any) -> dict[str, Array]:
    """Return how many rows were counted: how they lie nobody else remembers, but they are evaluated or refused."""
    found = partial.evaluate()
    return {"rows": np.array([found.n_rows])}


def _of_drift(counts: Any) -> dict[str, Array]:
    """Return how many streams were tested; how many rows were counted nobody else remembers."""
    return {"streams": np.array([len(counts.test())])}


def _of_partial_gate(partial: Any) -> dict[str, Array]:
    """Return how many rows were counted, once they were certified."""
    partial.fit()
    return {"rows": np.array([partial.n_rows])}


def _of_conformal(model: Any) -> dict[str, Array]:
    rows = {"entropy": _rows()[:, 0], "knn": _rows()[:, 1]}
    return {"uncertainty": model.uncertainty(rows), "p_values": model.p_values(rows)}


def _of_cross(ranker: Any) -> dict[str, Array]:
    ranking = ranker.rank({"entropy": _rows()[:, 0], "knn": _rows()[:, 1]}, warn=False)
    return {"uncertainty": ranking.uncertainty, "p_values": ranking.p_values}


_PROBES = {
    "cross": _of_cross,
    "model": _of_model,
    "sketch": _of_sketch,
    "partial": _of_partial,
    "pipeline": _of_pipeline,
    "answer_pipeline": _of_answer_pipeline,
    "estimator_pipeline": _of_estimator_pipeline,
    "monitor": _of_monitor,
    "gate": _of_gate,
    "live": _of_live,
    "conformal": _of_conformal,
    "evaluation": _of_evaluation,
    "drift": _of_drift,
    "partial_gate": _of_partial_gate,
}
