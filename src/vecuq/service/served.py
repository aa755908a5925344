"""Served: one loaded file behind the service. What it can be asked, in numbers, in tables or in answers."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from vecuq._load import load
from vecuq.errors import ModelFileError
from vecuq.gate import Gate
from vecuq.ranker import Ranker
from vecuq.service.formats import NPZ, Format
from vecuq.service.refusal import Refusal
from vecuq.service.row_scoring import RowScorer
from vecuq.service.wire import PLAIN, Options, RowCoder, envelope, row_coder

if TYPE_CHECKING:
    from vecuq.pipeline import AnswerPipeline, VecUQPipeline

# What a client chooses makes a scorer; so many are kept.
_MOST_SCORERS = 256


@dataclass(frozen=True, eq=False)
class Served:
    """A model, with its gate and its pipeline if the file has them."""

    ranker: Ranker
    gate: Gate | None = None
    answers: AnswerPipeline | None = None
    classifier: VecUQPipeline | None = None

    @property
    def takes(self) -> str:
        """What is scored: ``rows``, ``answers`` or ``outputs``."""
        return "answers" if self.answers is not None else "outputs" if self.classifier is not None else "rows"

    @property
    def kind(self) -> str:
        """What the file holds, as it says itself."""
        if self.answers is not None:
            return "answer_pipeline"
        return "gate" if self.gate is not None else "pipeline" if self.classifier is not None else "model"

    def coder(self, options: Options) -> RowCoder:
        """Return what reads rows from JSON by these options, whether or not the model can deliver them."""
        if options is PLAIN:
            return self._plain_coder
        columns = self.ranker.columns
        return row_coder(columns, None if options.id in columns else options.id, options.by)

    @cached_property
    def _plain_coder(self) -> RowCoder:
        return row_coder(self.ranker.columns, None if PLAIN.id in self.ranker.columns else PLAIN.id, None)

    def scorer(self, options: Options) -> RowScorer:
        """Return what scores rows of numbers by these options; refuse what the model cannot deliver."""
        found: RowScorer = self._scorers(options)
        return found

    @cached_property
    def _scorers(self) -> Any:
        return lru_cache(maxsize=_MOST_SCORERS)(lambda options: RowScorer(self.ranker, self.gate, options))

    def refuse_format(self, came: Format) -> None:
        """Raise if a body cannot be what the model takes."""
        if self.takes == "outputs" and came is not NPZ:
            raise Refusal(
                422,
                "wrong_input",
                f"This model takes outputs of a classifier, as {NPZ.media}, and {came.media} came.",
            )

    def warm_up(self) -> None:
        """Rank one row, so that the first request is as quick as the next one."""
        self.ranker.rank(self.ranker.as_table(np.zeros((1, len(self.ranker.columns)))), warn=False)
        self.coder(PLAIN)


def served_of(data: bytes, **supplied: Any) -> Served:
    """Put together what a saved file holds; refuse what cannot score new rows."""
    found = load(data, **supplied)
    gate = found if isinstance(found, Gate) else None
    inside = found if gate is None else gate.model
    if isinstance(inside, Ranker):
        return Served(inside, gate)
    from vecuq.pipeline import AnswerPipeline, VecUQPipeline

    if isinstance(inside, VecUQPipeline):
        return Served(inside.ranker_, gate, classifier=inside)
    if isinstance(inside, AnswerPipeline) and gate is None:
        return Served(inside.ranker_, inside.gate_, answers=inside.without_warnings())
    raise ModelFileError(
        f"It holds a {type(found).__name__}, and the service takes what `vecuq score` takes: a model, a gate on one, a "
        f"pipeline, or a pipeline of answers."
    )


@dataclass(frozen=True, eq=False)
class Snapshot:
    """One loaded file under its name. A request holds one from its first to its last byte."""

    name: str
    generation: int
    checksum: str
    loaded_at: str
    served: Served

    @property
    def columns(self) -> tuple[str, ...]:
        """The score columns."""
        return self.served.ranker.columns

    @cached_property
    def envelope(self) -> tuple[bytes, bytes]:
        """What stands around the rows of an answer."""
        return envelope(self.name, self.checksum)
