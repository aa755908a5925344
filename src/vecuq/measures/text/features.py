"""What the measures of one answer need, each part computed once, on first use, and shared by all measures."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from vecuq._check import Array
from vecuq.compare import (
    COMPARISONS,
    CONTRADICTION,
    ENTAILMENT,
    Comparison,
    PairCache,
    PairCaches,
    floats,
    has_thinking,
    nli_comparison,
    prepared,
    same_length,
    similarities,
    square,
)
from vecuq.errors import VecuqError
from vecuq.measures.text.graph import Spectrum
from vecuq.measures.text.relevance import token_relevances
from vecuq.measures.text.semantic import semantic_classes
from vecuq.measures.text.settings import RECORDED, TextSettings

if TYPE_CHECKING:
    from vecuq.answers import Answer, AnswerRecord

_STATED = {
    "p_true": "probability of true",
    "confidence": "confidence as a number",
    "confidence_words": "confidence in words",
}


class MissingFeatureError(VecuqError):
    """Something that an answer lacks. Its message is the reason, the same words for all answers that lack it."""


class AnswerFeatures:
    """What measures compute from one record. What the record does not have raises :class:`MissingFeatureError`.

    Parameters
    ----------
    record
        One question with its answers.
    settings
        How texts are compared, and the options of the original papers.
    """

    def __init__(self, record: AnswerRecord, settings: TextSettings) -> None:
        self.record = record
        self.settings = settings
        self._relevance_of_tokens: dict[tuple[tuple[str, ...], int], Array] = {}

    @cached_property
    def answer(self) -> Answer:
        """The greedy answer; where there is none, the sample that stands for it."""
        if self.record.greedy is not None:
            return self.record.greedy
        return self.record.samples[self.chosen] if self.record.samples else _no_answer()

    @cached_property
    def chosen(self) -> int:
        """Number of the sample that stands for the answer where there is no greedy one; the first of equals."""
        if self.settings.answer == "first" or len(self.record.samples) < 2:
            return 0
        try:
            if self.settings.answer == "majority":
                return int(np.argmax(self.classes == np.bincount(self.classes).argmax()))
            return int((self.similarity_of_samples + self.similarity_of_samples.T).sum(axis=1).argmax())
        except MissingFeatureError:  # samples without texts: there is nothing to choose by
            return 0

    @cached_property
    def token_logprobs(self) -> Array:
        """Log-probabilities of the answer's tokens."""
        self._refuse_blank_answer()
        return _numbers(self.answer.logprobs, "token log-probabilities")

    @cached_property
    def answer_logprob(self) -> Array:
        """The terms of the answer's log-probability: the one number if it is given, else its tokens'."""
        if self.answer.logprob is None:
            return self.token_logprobs
        self._refuse_blank_answer()
        return _numbers([self.answer.logprob], "log-probability of the answer")

    @cached_property
    def token_entropies(self) -> Array:
        """Entropies at the answer's tokens."""
        self._refuse_blank_answer()
        return _numbers(self.answer.entropies, "token entropies")

    @cached_property
    def entropy_top_k(self) -> int:
        """Over how many of the most likely tokens the answer's entropies run."""
        k = self.answer.entropy_top_k
        if k is None:
            raise MissingFeatureError("entropies over the whole vocabulary, not over its most likely tokens")
        if k < 2:
            raise MissingFeatureError("entropies over a single token")
        return k

    @cached_property
    def token_margins(self) -> Array:
        """Probability of the most likely token minus that of the second, at each of the answer's tokens."""
        self._refuse_blank_answer()
        return _numbers(self.answer.margins, "log-probabilities of the most likely tokens")

    @cached_property
    def token_certainties(self) -> Array:
        """Divergence of the uniform law from the distribution at each of the answer's tokens."""
        self._refuse_blank_answer()
        return _numbers(self.answer.certainties, "log-probabilities of the most likely tokens")

    def stated(self, name: str) -> Any:
        """Return what the model says of its answer: ``p_true``, ``confidence`` or ``confidence_words``."""
        self._refuse_blank_answer()
        value = getattr(self.record, name)
        _refuse_none(value, _STATED[name])
        return value

    @cached_property
    def relevance(self) -> Array:
        """Relevance of the answer's tokens."""
        self._refuse_blank_answer()
        said = self.answer
        return self._relevance(said.tokens, said.token_similarity, said.n_end, self.token_logprobs, "of the answer")

    @cached_property
    def samples(self) -> tuple[Answer, ...]:
        """The samples, at least one of them not empty."""
        found = self.record.samples
        if not found:
            raise MissingFeatureError("no samples")
        if all(sample.text is not None and not sample.text.strip() for sample in found):
            raise MissingFeatureError("all samples are empty")
        return found

    def of_several(self) -> AnswerFeatures:
        """Return this object, if there are at least two samples to compare."""
        if len(self.samples) < 2:
            raise MissingFeatureError("only one sample, two are needed")
        return self

    @cached_property
    def sample_logprobs(self) -> Array:
        """Log-probability of each sample."""
        found = [sample.total_logprob for sample in self.samples]
        if any(one is None for one in found):
            raise MissingFeatureError("samples without log-probabilities")
        return _numbers(found, "log-probabilities of the samples")

    @cached_property
    def sample_lengths(self) -> list[int]:
        """Number of tokens of each sample, without those that ended it."""
        found = [s.text_tokens if s.logprobs is None else s.text_logprobs for s in self.samples]
        if any(one is None for one in found):
            raise MissingFeatureError("samples without token log-probabilities")
        return [len(one) for one in found if one is not None]

    @cached_property
    def sample_token_logprobs(self) -> list[Array]:
        """Log-probabilities of each sample's tokens, without those that ended it."""
        found = [sample.text_logprobs for sample in self.samples]
        if any(one is None for one in found):
            raise MissingFeatureError("samples without token log-probabilities")
        return [floats(one) for one in found]

    @cached_property
    def sample_relevances(self) -> list[Array]:
        """Relevance of each sample's tokens, of which an empty sample has none; samples of the same tokens share it."""
        if any(sample.text is not None and not sample.text.strip() for sample in self.samples):
            raise MissingFeatureError("an empty sample has no tokens to weigh")
        if not all(map(len, self.sample_token_logprobs)):
            raise MissingFeatureError("samples without tokens")
        pairs = zip(self.samples, self.sample_token_logprobs, strict=True)
        return [self._sample_relevance(sample, logprobs) for sample, logprobs in pairs]

    def _sample_relevance(self, sample: Answer, logprobs: Array) -> Array:
        similarity = sample.token_similarity
        if similarity is not None:
            similarity = similarity[: len(similarity) - sample.n_end]
        return self._relevance(sample.text_tokens, similarity, 0, logprobs, "of the samples")

    @cached_property
    def texts(self) -> list[str]:
        """Texts of the samples."""
        found = [sample.text for sample in self.samples]
        if any(text is None for text in found):
            raise MissingFeatureError("samples without texts")
        return [text for text in found if text is not None]

    @property
    def texts_of_others(self) -> list[str]:
        """Texts of the samples but the one that stands for the answer."""
        texts = self.of_several().texts
        return [*texts[: self.chosen], *texts[self.chosen + 1 :]]

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
            _refuse_none(self.record.similarity_to_samples, "recorded similarity to the samples")
            found = similarities(self.record.similarity_to_samples).ravel()
            same_length("samples", self.samples, "recorded similarities to them", found)
            return found
        if self.answer.text is None:
            raise MissingFeatureError("no text of the answer")
        answer, texts = [self.answer.text], self.texts
        there: Array = self._cache.table(answer, texts)[0]
        return there if self.comparison.symmetric else (there + self._cache.table(texts, answer)[:, 0]) / 2

    @cached_property
    def similarity_of_samples(self) -> Array:
        """Similarity of the samples to each other; each to itself 1, unless it was recorded otherwise."""
        if self.settings.similarity == RECORDED:
            _refuse_none(self.record.similarity_of_samples, "recorded similarity of the samples")
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
            _refuse_none(self.record.nli_of_samples, "recorded NLI probabilities")
            found, wanted = similarities(self.record.nli_of_samples), (len(self.samples), len(self.samples), 3)
            if found.shape != wanted:
                raise MissingFeatureError("recorded NLI probabilities that are not (samples, samples, 3)")
            return found
        found = self._judged.table(self.texts, self.texts)
        found[np.eye(len(found), dtype=bool)] = (0.0, 0.0, 1.0)
        return found

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
    def _judged(self) -> PairCache:
        """What the NLI model says of pairs of texts."""
        judge = self.settings.nli
        if judge is None or isinstance(judge, str):
            raise MissingFeatureError("no NLI model")
        return PairCache(prepared(nli_comparison(judge), self.settings.preparation))

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
    def _cache(self) -> PairCache:
        return self._caches.of(self.comparison)

    @property
    def _weighing(self) -> PairCache:
        """What says how much a text changes without one of its tokens."""
        way = self.settings.comparison
        return self._caches.of(way if way.weighs_tokens else "rouge_l")

    def _refuse_blank_answer(self) -> None:
        if self.answer.text is not None and not self.answer.text.strip():
            raise MissingFeatureError("the answer is empty")

    def _relevance(
        self,
        tokens: tuple[str, ...] | None,
        similarity: Sequence[float] | None,
        n_end: int,
        logprobs: Array,
        whose: str,
    ) -> Array:
        if similarity is not None:
            found = 1.0 - similarities(similarity).ravel()
        elif self.settings.similarity == RECORDED:
            raise MissingFeatureError(f"no recorded token similarity {whose}")
        elif tokens is None:
            raise MissingFeatureError(f"no tokens {whose} as text")
        else:
            found = self._weighed(tokens, n_end)
        if len(found) != len(logprobs):
            raise MissingFeatureError(f"tokens {whose} that do not match their log-probabilities in number")
        return found

    def _weighed(self, tokens: tuple[str, ...], n_end: int) -> Array:
        """Return the relevance of some tokens; by ROUGE-L, those of all samples at once take hardly longer."""
        known = self._relevance_of_tokens
        if (tokens, n_end) not in known:
            cheap = self._weighing.comparison is COMPARISONS["rouge_l"]
            wanted = dict.fromkeys([(tokens, n_end), *(self._tokens_of_samples if cheap else ())])
            new = [one for one in wanted if one not in known]
            found = token_relevances(new, self.record.question or "", similarity=self._weighing)
            known.update(zip(new, found, strict=True))
        return known[tokens, n_end]

    @property
    def _tokens_of_samples(self) -> list[tuple[tuple[str, ...], int]]:
        found = (sample.text_tokens for sample in self.record.samples if sample.token_similarity is None)
        return [(tokens, 0) for tokens in found if tokens is not None]


def _numbers(values: Any, name: str) -> Array:
    """Return values as an array, if there are any and none is missing."""
    _refuse_none(values, name)
    found = floats(values).ravel()
    if not found.size:
        raise MissingFeatureError(f"no {name}")
    if np.isnan(found).any():
        raise MissingFeatureError(f"{name} with missing values")
    return found


def _refuse_none(value: Any, name: str) -> None:
    if value is None:
        raise MissingFeatureError(f"no {name}")


def _no_answer() -> Answer:
    from vecuq.answers import Answer

    return Answer(text=None)


def _with_ones(matrix: Array) -> Array:
    np.fill_diagonal(matrix, 1.0)
    return matrix
