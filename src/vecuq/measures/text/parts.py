"""Parts: what the measures of one answer need, each worked out once, on first use, and shared by all of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vecuq._check import Array
from vecuq.measures.text.checked import floats, same_length, similarities, square
from vecuq.measures.text.comparison import CONTRADICTION, ENTAILMENT, PairCache, PairCaches, nli_comparison
from vecuq.measures.text.graph import Spectrum
from vecuq.measures.text.missing import MissingPartError, numbers, refuse_none
from vecuq.measures.text.output import SampledText, TextOutput
from vecuq.measures.text.relevance import token_relevance
from vecuq.measures.text.semantic import semantic_classes
from vecuq.measures.text.settings import RECORDED, TextSettings


@dataclass(frozen=True, eq=False)
class Parts:
    """The parts of one answer. A part that cannot be had raises :class:`MissingPartError` with the reason."""

    answer: TextOutput
    settings: TextSettings

    @cached_property
    def token_logprobs(self) -> Array:
        """Log-probabilities of the answer's tokens."""
        self._refuse_blank_answer()
        return numbers(self.answer.token_logprobs, "token log-probabilities")

    @cached_property
    def answer_logprob(self) -> Array:
        """What adds up to the log-probability of the answer: the one number if it is given, else its tokens'."""
        if self.answer.logprob is None:
            return self.token_logprobs
        self._refuse_blank_answer()
        return numbers([self.answer.logprob], "log-probability of the answer")

    @cached_property
    def token_entropies(self) -> Array:
        """Entropies at the answer's tokens."""
        self._refuse_blank_answer()
        return numbers(self.answer.token_entropies, "token entropies")

    @cached_property
    def relevance(self) -> Array:
        """Relevance of the answer's tokens."""
        self._refuse_blank_answer()
        return self._relevance(self.answer, len(self.token_logprobs), "of the answer")

    @cached_property
    def samples(self) -> Sequence[SampledText]:
        """The samples, of which there is at least one that says something."""
        found = self.answer.samples
        if not found:
            raise MissingPartError("no samples")
        if all(sample.text is not None and not sample.text.strip() for sample in found):
            raise MissingPartError("all samples are empty")
        return found

    def of_several(self) -> Parts:
        """Return these parts, if there are at least two samples to compare."""
        if len(self.samples) < 2:
            raise MissingPartError("only one sample, two are needed")
        return self

    @cached_property
    def sample_logprobs(self) -> Array:
        """Log-probability of each sample."""
        found = [_whole(sample) for sample in self.samples]
        if any(one is None for one in found):
            raise MissingPartError("samples without log-probabilities")
        return numbers(found, "log-probabilities of the samples")

    @cached_property
    def sample_lengths(self) -> list[int]:
        """Number of tokens of each sample."""
        found = [s.tokens if s.token_logprobs is None else s.token_logprobs for s in self.samples]
        if any(one is None for one in found):
            raise MissingPartError("samples without token log-probabilities")
        return [len(one) for one in found if one is not None]

    @cached_property
    def sample_token_logprobs(self) -> list[Array]:
        """Log-probabilities of each sample's tokens."""
        found = [sample.token_logprobs for sample in self.samples]
        if any(one is None for one in found):
            raise MissingPartError("samples without token log-probabilities")
        return [floats(one) for one in found]

    @cached_property
    def sample_relevances(self) -> list[Array]:
        """Relevance of each sample's tokens, of which an empty sample has none; samples of the same tokens share it."""
        if any(sample.text is not None and not sample.text.strip() for sample in self.samples):
            raise MissingPartError("an empty sample has no tokens to weigh")
        known: dict[tuple[str, ...], Array] = {}
        found = []
        for sample, logprobs in zip(self.samples, self.sample_token_logprobs, strict=True):
            if not len(logprobs):
                raise MissingPartError("samples without tokens")
            key = tuple(sample.tokens or ())
            relevance = known.get(key) if sample.token_similarity is None else None
            if relevance is None:
                relevance = self._relevance(sample, len(logprobs), "of the samples")
            if sample.token_similarity is None:
                known[key] = relevance
            found.append(relevance)
        return found

    @cached_property
    def texts(self) -> list[str]:
        """Texts of the samples."""
        found = [sample.text for sample in self.samples]
        if any(text is None for text in found):
            raise MissingPartError("samples without texts")
        return [text for text in found if text is not None]

    @cached_property
    def similarity_to_samples(self) -> Array:
        """Similarity of the answer to each sample, the mean of both directions."""
        self._refuse_blank_answer()
        if self.settings.similarity == RECORDED:
            refuse_none(self.answer.similarity_to_samples, "recorded similarity to the samples")
            found = similarities(self.answer.similarity_to_samples).ravel()
            same_length("samples", self.samples, "recorded similarities to them", found)
            return found
        if self.answer.text is None:
            raise MissingPartError("no text of the answer")
        there = self._cache.table([self.answer.text], self.texts)[0]
        back = self._cache.table(self.texts, [self.answer.text])[:, 0]
        return np.asarray((there + back) / 2)

    @cached_property
    def similarity_of_samples(self) -> Array:
        """Similarity of the samples to each other; each to itself 1, unless it was recorded otherwise."""
        if self.settings.similarity == RECORDED:
            refuse_none(self.answer.similarity_of_samples, "recorded similarity of the samples")
            return square(self.answer.similarity_of_samples, len(self.samples))
        return _with_ones(self._cache.table(self.texts, self.texts))

    @cached_property
    def lexical(self) -> Array:
        """Similarity of the samples' texts by their words."""
        return self._caches.of(self.settings.lexical).table(self.texts, self.texts)

    @cached_property
    def nli(self) -> Array:
        """Probabilities of contradiction, neutral and entailment, (samples, samples, 3)."""
        judge = self.settings.nli
        if judge == RECORDED:
            refuse_none(self.answer.nli_of_samples, "recorded NLI probabilities")
            found, wanted = similarities(self.answer.nli_of_samples), (len(self.samples), len(self.samples), 3)
            if found.shape != wanted:
                raise MissingPartError("recorded NLI probabilities that are not (samples, samples, 3)")
            return found
        if judge is None or isinstance(judge, str):
            raise MissingPartError("no NLI model")
        found = PairCache(nli_comparison(judge)).table(self.texts, self.texts)
        found[np.eye(len(found), dtype=bool)] = (0.0, 0.0, 1.0)
        return found

    @cached_property
    def affinity(self) -> Array:
        """What joins the samples in the graph, (samples, samples)."""
        edges = self.settings.edges
        if edges == "entailment":
            return np.asarray(self.nli[..., ENTAILMENT])
        if edges == "no_contradiction":
            return np.asarray(1.0 - self.nli[..., CONTRADICTION])
        if edges == "similarity":
            return self.similarity_of_samples
        return _with_ones(self._caches.of("jaccard").table(self.texts, self.texts))

    @cached_property
    def spectrum(self) -> Spectrum:
        """Eigenvalues and eigenvectors of that graph."""
        return Spectrum.of(self.affinity, unit_diagonal=self.settings.unit_diagonal)

    @cached_property
    def classes(self) -> NDArray[np.intp]:
        """Class of meaning of each sample."""
        if self.settings.nli is None:
            if np.isnan(self.affinity).any():
                raise MissingPartError("similarities that are no numbers")
            return semantic_classes(self.affinity >= self.settings.same_meaning)
        if np.isnan(self.nli).any():
            raise MissingPartError("NLI probabilities that are no numbers")
        verdicts = self.nli.argmax(axis=-1)
        return semantic_classes(
            verdicts == ENTAILMENT if self.settings.merge == "entailment" else verdicts != CONTRADICTION
        )

    @cached_property
    def _caches(self) -> PairCaches:
        return PairCaches()

    @property
    def _cache(self) -> PairCache:
        return self._caches.of(self.settings.similarity)

    def _refuse_blank_answer(self) -> None:
        if self.answer.text is not None and not self.answer.text.strip():
            raise MissingPartError("the answer is empty")

    def _relevance(self, of: TextOutput | SampledText, n_tokens: int, whose: str) -> Array:
        if of.token_similarity is not None:
            found = 1.0 - similarities(of.token_similarity).ravel()
        elif self.settings.similarity == RECORDED:
            raise MissingPartError(f"no recorded token similarity {whose}")
        elif of.tokens is None:
            raise MissingPartError(f"no tokens {whose} as text")
        else:
            n_end = of.n_end if isinstance(of, TextOutput) else 0
            found = token_relevance(of.tokens, self.answer.question or "", similarity=self._cache, n_end=n_end)
        if len(found) != n_tokens:
            raise MissingPartError(f"tokens {whose} that do not match their log-probabilities in number")
        return found


def _whole(sample: SampledText) -> float | None:
    """Return the log-probability of a sample, from its tokens where need be."""
    if sample.logprob is not None:
        return sample.logprob
    # Nothing adds up to 0, a probability of 1: without its end, an empty sample's probability is not known.
    return float(floats(sample.token_logprobs).sum()) if _any(sample.token_logprobs) else None


def _any(values: Sequence[Any] | None) -> bool:
    return values is not None and len(values) > 0


def _with_ones(matrix: Array) -> Array:
    np.fill_diagonal(matrix, 1.0)
    return matrix
