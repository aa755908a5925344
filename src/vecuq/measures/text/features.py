"""What the measures of one answer need, each part computed once, on first use, and shared by all measures."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np

from vecuq._check import Array
from vecuq.compare import same_length, similarities
from vecuq.measures.text.lacking import MissingFeatureError, refuse_none
from vecuq.measures.text.settings import RECORDED
from vecuq.measures.text.token_features import TokenFeatures

_STATED = {
    "p_true": "probability of true",
    "confidence": "confidence as a number",
    "confidence_words": "confidence in words",
}


class AnswerFeatures(TokenFeatures):
    """What measures compute from one record. What the record does not have raises ``MissingFeatureError``.

    Parameters
    ----------
    record
        One question with its answers.
    settings
        How texts are compared, and the options of the original papers.
    """

    def stated(self, name: str) -> Any:
        """Return what the model says of its answer: ``p_true``, ``confidence`` or ``confidence_words``."""
        self._refuse_blank_answer()
        value = getattr(self.record, name)
        refuse_none(value, _STATED[name])
        return value

    @cached_property
    def similarity_to_samples(self) -> Array:
        """Similarity of the answer to each sample, the mean of both directions; a chosen sample to all others."""
        self._refuse_blank_answer()
        if self.record.greedy is None and len(self.samples) > 1:
            mutual = (self.similarity_of_samples + self.similarity_of_samples.T) / 2
            return np.delete(mutual[self.chosen], self.chosen)
        if self.record.greedy is None:
            raise MissingFeatureError("only one sample, two are needed")
        if self.settings.similarity == RECORDED:
            refuse_none(self.record.similarity_to_samples, "recorded similarity to the samples")
            found = similarities(self.record.similarity_to_samples).ravel()
            same_length("samples", self.samples, "recorded similarities to them", found)
            return found
        if self.answer.text is None:
            raise MissingFeatureError("no text of the answer")
        answer, texts = [self.answer.text], self.texts
        there = self._cache.table(answer, texts)[0]
        back = there if self.comparison.symmetric else self._cache.table(texts, answer)[:, 0]
        return np.asarray((there + back) / 2)

    @property
    def texts_of_others(self) -> list[str]:
        """Texts of the samples but the one that stands for the answer."""
        texts = self.of_several().texts
        return [*texts[: self.chosen], *texts[self.chosen + 1 :]]

    @cached_property
    def nli_to_samples(self) -> Array:
        """The same of the answer and each sample, (2, samples, 3): the answer as premise, and as hypothesis."""
        self._refuse_blank_answer()
        if self.settings.nli == RECORDED:
            raise MissingFeatureError("no recorded NLI probabilities of the answer and its samples")
        if self.answer.text is None:
            raise MissingFeatureError("no text of the answer")
        others = self.texts if self.record.greedy is not None else self.texts_of_others
        there = self._judged.table([self.answer.text], others)[0]
        back = self._judged.table(others, [self.answer.text])[:, 0]
        return np.stack([there, back])

    @cached_property
    def cosine_to_samples(self) -> Array:
        """Cosine of the answer's embedding with each sample's, where texts are compared so."""
        if self.settings.similarity == RECORDED or not self.settings.comparison.cosine:
            raise MissingFeatureError("texts are not compared by embeddings")
        return self.similarity_to_samples
