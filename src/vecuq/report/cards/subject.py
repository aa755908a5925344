"""What a card is about, taken apart: the pipeline, the gate and the order inside a saved thing, and its bytes."""

from __future__ import annotations

import hashlib
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from vecuq._check import existing_file
from vecuq._files import saved_header
from vecuq._load import load
from vecuq.baselines import Conformal
from vecuq.errors import ModelFileError, TableError
from vecuq.gate import Gate, LiveGate
from vecuq.pipeline import AnswerPipeline, EstimatorPipeline, VecUQPipeline
from vecuq.ranker import CrossRanker, Ranker, VecUQ

_PIPELINES = (VecUQPipeline, AnswerPipeline, EstimatorPipeline)
# What each kind is called on its card, and the name of a file of it where there is none.
_WORDS = {
    Ranker: ("model of uncertainty scores", "model.vecuq"),
    Conformal: ("model of uncertainty scores, with another order than vecuq's", "model.vecuq"),
    VecUQPipeline: ("pipeline from the outputs of a classifier to an uncertainty", "pipeline.vecuq"),
    EstimatorPipeline: ("pipeline from the features of a classifier to an uncertainty", "pipeline.vecuq"),
    AnswerPipeline: ("pipeline from answers of a language model to an uncertainty", "bot.vecuq"),
    Gate: ("gate: which rows may be trusted", "gate.vecuq"),
    LiveGate: ("gate in use, with the audit of its decisions", "live.vecuq"),
}


@dataclass(frozen=True)
class Subject:
    """A saved thing, and what is inside it.

    Attributes
    ----------
    thing
        What was saved.
    order
        What gives rows their uncertainty: a Ranker, a Conformal, or an object of a user.
    gate, live, pipeline
        What decides, what watches it, and what measures raw rows; None where there is none.
    name
        The name of the file, as commands name it.
    content
        The bytes of the file; empty for what cannot be saved.
    """

    thing: Any
    order: Any
    gate: Gate | None
    live: LiveGate | None
    pipeline: Any
    name: str
    content: bytes

    @property
    def kind(self) -> str:
        """What it is, in a few words."""
        return next(words for kind, (words, _) in _WORDS.items() if isinstance(self.thing, kind))

    @property
    def header(self) -> dict[str, Any]:
        """What the file states of itself."""
        return saved_header(self.content) if self.content else {}

    @property
    def sha256(self) -> str:
        """What distinguishes the file from any other, as ``sha256sum`` prints it."""
        return hashlib.sha256(self.content).hexdigest() if self.content else ""

    @property
    def ranker(self) -> Ranker | None:
        """The ranker that gives the order; None where something else does."""
        return self.order if isinstance(self.order, Ranker) else None

    @property
    def takes_answers(self) -> bool:
        """Whether its rows are answers of a language model."""
        return isinstance(self.pipeline, AnswerPipeline)

    @property
    def needs_classifier(self) -> bool:
        """Whether it works only together with a classifier that no file holds."""
        return isinstance(self.pipeline, EstimatorPipeline)


def subject_of(source: Any) -> Subject:
    """Read a file, or take a fitted thing; anything that neither ranks nor decides is refused."""
    if isinstance(source, str | os.PathLike):
        file = existing_file(source)
        if not saved_header(file):
            raise ModelFileError(f"{file} was not saved by vecuq; a card is about a model, gate or pipeline.")
        return _taken_apart(load(file), Path(file).name, file.read_bytes())
    thing = source.ranker_ if isinstance(source, VecUQ) and hasattr(source, "ranker_") else source
    known = next((name for kind, (_, name) in _WORDS.items() if isinstance(thing, kind)), None)
    if known is None:
        raise TableError(
            f"A card is about a fitted model, gate or pipeline; got {type(source).__name__}. Give a VecUQ, Ranker, "
            f"Gate, LiveGate, Conformal or pipeline, or the path of a saved one."
        )
    return _taken_apart(thing, known, _bytes_of(thing))


def _taken_apart(thing: Any, name: str, content: bytes) -> Subject:
    if not isinstance(thing, tuple(_WORDS)):
        raise ModelFileError(
            f"{name} holds a {type(thing).__name__}, which neither ranks nor decides; a card is about a model, gate or "
            f"pipeline."
        )
    live = thing if isinstance(thing, LiveGate) else None
    inside = live.gate if live is not None else thing
    pipeline = inside if isinstance(inside, AnswerPipeline) else None
    gate = inside.gate_ if isinstance(inside, AnswerPipeline) else inside if isinstance(inside, Gate) else None
    model = gate.model if isinstance(inside, Gate) and gate is not None else inside
    pipeline = pipeline or (model if isinstance(model, _PIPELINES) else None)
    return Subject(thing, getattr(model, "ranker_", model), gate, live, pipeline, name, content)


def _bytes_of(thing: Any) -> bytes:
    """Return what a file of it would hold; nothing for a gate of a model that cannot be saved."""
    try:
        return bytes(thing.to_bytes())
    except ModelFileError:
        return b""


def calibration_groups(order: Any) -> int | None:
    """Return how many groups of calibration rows are counted; None where rows do not come in groups."""
    if isinstance(order, CrossRanker):  # its own map holds nothing back, its folds do
        return None if order.folds[0].n_groups is None else order.n_units
    if isinstance(order, Conformal):
        return None if order.groups_ is None else int(order.held_.count)
    return order.n_groups if isinstance(order, Ranker) else None


def is_cross(subject: Subject) -> bool:
    """Whether every calibration row was held back once, from one of several maps."""
    return isinstance(subject.order, CrossRanker)
