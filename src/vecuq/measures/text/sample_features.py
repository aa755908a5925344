"""What the samples of one question say of each other: how their texts are compared, and classes of meaning."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Self

import numpy as np
from numpy.typing import NDArray

from vecuq._check import Array
from vecuq.compare import (
    CONTRADICTION,
    ENTAILMENT,
    Comparison,
    PairCache,
    PairCaches,
    has_thinking,
    nli_comparison,
    prepared,
    similarities,
    square,
)
from vecuq.measures.text.graph import Spectrum
from vecuq.measures.text.lacking import MissingFeatureError, refuse_none
from vecuq.measures.text.semantic import semantic_classes
from vecuq.measures.text.settings import RECORDED, TextSettings

if TYPE_CHECKING:
    from vecuq.answers import Answer, AnswerRecord


class SampleFeatures:
    """What measures compute from the samples of one record, each part once, on first use."""

    def __init__(self, record: AnswerRecord, settings: TextSettings) -> None:
        self.record = record
        self.settings = settings

    @cached_property
    def samples(self) -> tuple[Answer, ...]:
        """The samples, at least one of them not empty."""
        found = self.record.samples
        if not found:
            raise MissingFeatureError("no samples")
        if all(sample.text is not None and not sample.text.strip() for sample in found):
            raise MissingFeatureError("all samples are empty")
        return found

    def of_several(self) -> Self:
        """Return this object, if there are at least two samples to compare."""
        if len(self.samples) < 2:
            raise MissingFeatureError("only one sample, two are needed")
        return self

    @cached_property
    def texts(self) -> list[str]:
        """Texts of the samples."""
        found = [sample.text for sample in self.samples]
        if any(text is None for text in found):
            raise MissingFeatureError("samples without texts")
        return [text for text in found if text is not None]

    @cached_property
    def comparison(self) -> Comparison:
        """How the texts of this question are compared; its name says what is compared."""
        whole = self.settings.prepared(self.settings.comparison)
        if whole.of_question is None:
            return whole
        said = [self.record.greedy, *self.record.samples]
        texts = [one.text for one in said if one is not None and one.text is not None]
        return whole.of_question(self.record.question or "", texts)

    @property
    def compared(self) -> str:
        """How texts were compared, in words; empty if they were not."""
        if self.settings.similarity == RECORDED or "comparison" not in vars(self):
            return ""
        name, part = self.comparison.name, self.settings.extract
        return name if part is None else f"{name} of {part}"

    @property
    def thinks(self) -> bool:
        """Whether texts were compared together with what was written while thinking."""
        if self.settings.strip_think or not self.compared:
            return False
        return any(sample.text is not None and has_thinking(sample.text) for sample in self.record.samples)

    @cached_property
    def similarity_of_samples(self) -> Array:
        """Similarity of the samples to each other; each to itself 1, unless it was recorded otherwise."""
        if self.settings.similarity == RECORDED:
            refuse_none(self.record.similarity_of_samples, "recorded similarity of the samples")
            return square(self.record.similarity_of_samples, len(self.samples))
        texts = self.texts
        return _with_ones(self._cache.table(texts, texts))

    @cached_property
    def lexical(self) -> Array:
        """Similarity of the samples' texts by their words."""
        return self._caches.of(self.settings.prepared(self.settings.lexical)).table(self.texts, self.texts)

    @cached_property
    def nli(self) -> Array:
        """Probabilities of contradiction, neutral and entailment, (samples, samples, 3)."""
        if self.settings.nli == RECORDED:
            refuse_none(self.record.nli_of_samples, "recorded NLI probabilities")
            found, wanted = similarities(self.record.nli_of_samples), (len(self.samples), len(self.samples), 3)
            if found.shape != wanted:
                raise MissingFeatureError("recorded NLI probabilities that are not (samples, samples, 3)")
            return found
        found = self._judged.table(self.texts, self.texts)
        found[np.eye(len(found), dtype=bool)] = (0.0, 0.0, 1.0)
        return found

    @cached_property
    def affinity(self) -> Array:
        """Weights of the edges between samples in the graph, (samples, samples)."""
        edges = self.settings.edges
        if edges == "entailment":
            return np.asarray(self.nli[..., ENTAILMENT])
        if edges == "no_contradiction":
            return np.asarray(1.0 - self.nli[..., CONTRADICTION])
        if edges == "similarity":
            return self.similarity_of_samples
        return _with_ones(self._caches.of(self.settings.prepared("jaccard")).table(self.texts, self.texts))

    @cached_property
    def graded_affinity(self) -> Array:
        """The same for the heat kernel: by an NLI model, entailment and half of neutral."""
        if self.settings.edges in ("entailment", "no_contradiction"):
            return np.asarray((1.0 + self.nli[..., ENTAILMENT] - self.nli[..., CONTRADICTION]) / 2)
        return self.affinity

    @cached_property
    def spectrum(self) -> Spectrum:
        """Eigenvalues and eigenvectors of that graph."""
        return Spectrum.of(self.affinity, unit_diagonal=self.settings.unit_diagonal)

    @cached_property
    def classes(self) -> NDArray[np.intp]:
        """Number of the class of meaning of each sample."""
        if self.settings.nli is None:
            if np.isnan(self.affinity).any():
                raise MissingFeatureError("similarities with missing values")
            return semantic_classes(self.affinity >= self.settings.same_meaning)
        if np.isnan(self.nli).any():
            raise MissingFeatureError("NLI probabilities with missing values")
        verdicts = self.nli.argmax(axis=-1)
        return semantic_classes(
            verdicts == ENTAILMENT if self.settings.merge == "entailment" else verdicts != CONTRADICTION
        )

    @cached_property
    def _caches(self) -> PairCaches:
        return PairCaches()

    @cached_property
    def _cache(self) -> PairCache:
        return self._caches.of(self.comparison)

    @cached_property
    def _judged(self) -> PairCache:
        """What the NLI model says of pairs of texts."""
        judge = self.settings.nli
        if judge is None or isinstance(judge, str):
            raise MissingFeatureError("no NLI model")
        return PairCache(prepared(nli_comparison(judge), self.settings.preparation))


def _with_ones(matrix: Array) -> Array:
    np.fill_diagonal(matrix, 1.0)
    return matrix
