"""The saved pipeline of answers: measures, comparison, split, and the gate or model inside; put together again."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any

import numpy as np
from msgspec import Struct, structs
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from vecuq._check import Array, one_line, one_of, unique_names
from vecuq._files import Count, Names, Numbers, check_arrays, checked_header
from vecuq.decide import Made
from vecuq.errors import ModelFileError, VecuqError
from vecuq.gate import Gate
from vecuq.measures import known_measures, text
from vecuq.options import MISSING
from vecuq.pipeline.answers import AnswerPipeline
from vecuq.ranker import Ranker, VecUQ

KIND = "answer_pipeline"
_TABLE = {"model": Numbers("bytes", dtype="uint8")}


class SplitHeader(Struct):
    """How many answers did what."""

    map: Count
    weights: Count
    gate: Count
    incomplete: Count


class MadeHeader(Struct):
    """How the answers were made that a pipeline was fitted to."""

    fewest_samples: Count
    most_samples: Count
    questions: str

    def __post_init__(self) -> None:
        one_of("questions", self.questions, ("all", "some", "none"))
        if self.fewest_samples > self.most_samples:
            raise ValueError("the fewest samples are more than the most")


class AnswersHeader(Struct):
    """What the header of a pipeline of answers states."""

    measures: Names
    comparison: dict[str, Any]
    missing: str
    split: SplitHeader
    date: str
    made: MadeHeader | None
    fields: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        one_of("missing", self.missing, MISSING)
        unique_names(self.measures)
        datetime.fromisoformat(self.date)


def parts_of(pipeline: AnswerPipeline) -> tuple[str, dict[str, Any], dict[str, Array]]:
    """Return kind, header and arrays of a file that holds a pipeline; the gate is saved with its model inside."""
    check_is_fitted(pipeline)
    header = {
        "measures": list(pipeline.measures_),
        "comparison": pipeline.settings_.to_dict(),
        "missing": pipeline.estimator_.missing,
        "split": pipeline.split_,
        "date": pipeline.date_,
        "made": None if pipeline.made_ is None else pipeline.made_._asdict(),
        "fields": list(pipeline.fields_),
    }
    inside: Any = pipeline.ranker_ if pipeline.gate_ is None else pipeline.gate_
    return KIND, header, {"model": np.frombuffer(inside.to_bytes(), dtype=np.uint8)}


def answers_of(
    header: dict[str, Any], arrays: dict[str, Any], load: Callable[[bytes], Any], supplied: Mapping[str, Any]
) -> AnswerPipeline:
    """Put a pipeline together again; raise if a part of it makes no sense, by itself or beside the others.

    A file only names commands, endpoints and model files. Nothing is run or called here: whoever loads it supplies
    them again.
    """
    known = checked_header(header, AnswersHeader)
    check_arrays(arrays, _TABLE)
    settings = _settings_of(known.comparison, supplied)
    inside = load(arrays["model"].tobytes())
    gate = inside if isinstance(inside, Gate) else None
    ranker = inside if gate is None else gate.model
    _check(known, ranker, gate)
    estimator = VecUQ.from_ranker(ranker).set_params(missing=known.missing)
    made = AnswerPipeline(
        measures=list(known.measures), settings=settings, estimator=_unfitted(estimator), **_target(gate)
    )
    made.measures_, made.settings_, made.date_ = known.measures, settings, known.date
    made.estimator_, made.ranker_ = estimator, ranker
    made.gate_ = None if gate is None else Gate.from_learned(estimator, gate.settings, gate.learned_)
    made.split_, made.fields_ = structs.asdict(known.split), known.fields
    made.made_, made._said = None if known.made is None else Made(**structs.asdict(known.made)), set()
    return made


def _unfitted(estimator: VecUQ) -> VecUQ:
    """Return what to fit again: the measures are the columns, and labels may learn other weights."""
    learned = getattr(estimator.weights, "learned", False)
    again: VecUQ = clone(estimator)
    again.set_params(columns=None, flip=None, **({"weights": None} if learned else {}))
    return again


def _target(gate: Gate | None) -> dict[str, float]:
    """Return accuracy and confidence of a gate; one with another target came later, by ``with_gate``."""
    if gate is None or gate.target.kind != "accuracy":
        return {}
    return {"accuracy": gate.target.value, "confidence": gate.confidence}


def _settings_of(saved: dict[str, Any], supplied: Mapping[str, Any]) -> text.TextSettings:
    try:
        return text.TextSettings.from_dict(saved, **supplied)
    except VecuqError as error:
        raise ModelFileError(str(error)) from None


def _check(known: AnswersHeader, ranker: Any, gate: Gate | None) -> None:
    """Raise if measures, model, gate and counts do not belong together."""
    unknown = [name for name in known.measures if name not in known_measures("text")]
    if unknown:
        raise ModelFileError(
            f"No installed package knows the measure {one_line(repr(unknown[0]), most=60)}. Install the one that adds "
            f"it, or fit again."
        )
    if not isinstance(ranker, Ranker) or (ranker.columns, ranker.flipped) != (known.measures, frozenset()):
        raise ValueError("the model inside does not rank these measures")
    if known.missing == "marginal":
        ranker.require_kept_rows()
    if known.split.map != ranker.diagnostics.n_map + ranker.diagnostics.n_held:
        raise ValueError("the model was fitted on another number of answers")
    weights = ranker.settings.weights
    if known.split.weights != int(getattr(weights, "n_labels", None) or 0):
        raise ValueError("the weights were learned from another number of answers")
    if known.split.gate != (0 if gate is None else len(gate.learned_.labelled.scores)):
        raise ValueError("the gate was certified by another number of answers")
