"""A saved model for other programs: an ONNX file, JSON, or a script that scores by itself."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from vecuq._files import write_atomic
from vecuq.errors import ModelFileError, SettingError
from vecuq.gate import Gate, LiveGate
from vecuq.ranker import Ranker, scorer_source
from vecuq.table import PathLike
from vecuq.workflows.places import kind_word, load_any_model, refuse_place

# What is written, by the ending of the name; the kinds are those of `contents`.
_KINDS = {".onnx": "onnx", ".json": "scorer", ".js": "script"}


@dataclass(frozen=True)
class Exported:
    """What was exported: how, which columns in which order, whether with p-values, and what was left behind."""

    kind: str
    columns: tuple[str, ...]
    p_values: bool
    note: str | None


def export(model: PathLike, out: PathLike, *, p_values: bool = True, force: bool = False) -> Exported:
    """Write the model of a saved file so that other programs score with it; the ending of ``out`` says how.

    ``.onnx`` is a graph for ONNX runtimes, ``.json`` all that scoring needs as text, ``.js`` a script that holds both
    this text and the scorer. Of a gate, the model inside is exported, not the decision.
    """
    kind = _kind_of(out)
    refuse_place(out, writes=kind, reads=[model], force=force)
    ranker, left = _ranker_in(model)
    write: dict[str, Callable[[], Any]] = {
        "onnx": lambda: ranker.to_onnx(out, p_values=p_values),
        "scorer": lambda: write_atomic(out, ranker.to_json(p_values=p_values).encode()),
        "script": lambda: write_atomic(out, _script(ranker, p_values).encode()),
    }
    write[kind]()
    return Exported(kind, ranker.columns, p_values and bool(ranker.diagnostics.n_held), left)


def _kind_of(out: PathLike) -> str:
    """Return what is written to a file of this name."""
    kind = _KINDS.get(Path(out).suffix.lower())
    if kind is None:
        raise SettingError(f"{out} must end in .onnx, .json or .js, which says how the model is exported.")
    return kind


def _ranker_in(model: PathLike) -> tuple[Ranker, str | None]:
    """Return the ranker that a file holds, and what is not exported of it."""
    found = load_any_model(model)
    gate = found.gate if isinstance(found, LiveGate) else found
    inside = gate.model if isinstance(gate, Gate) else gate
    if not isinstance(inside, Ranker):
        where = f"{model} holds a {kind_word(found)}" + (f" of a {kind_word(inside)}" if inside is not gate else "")
        raise ModelFileError(f"{where}; a model written by `vecuq fit` is needed here.")
    return inside, _left_behind(gate) if isinstance(gate, Gate) else None


def _left_behind(gate: Gate) -> str:
    """Return what of a gate is not in the exported file."""
    said = "Only the model inside the gate is exported, not its decision."
    if gate.order_ != "model" or gate.settings.guard is not None or gate.threshold_ is None:
        return said
    accepts = "no row" if gate.threshold_ == -math.inf else f"rows with an uncertainty of at most {gate.threshold_!r}"
    return f"{said} It accepts {accepts}."


def _script(ranker: Ranker, p_values: bool) -> str:
    return f"{scorer_source()}\nexport const model = load({ranker.to_json(p_values=p_values)});\n"
