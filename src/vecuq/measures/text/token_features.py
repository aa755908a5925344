"""What the tokens of one answer and of its samples say: probabilities, entropies, and how much each token matters."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from vecuq._check import Array
from vecuq.compare import COMPARISONS, PairCache, floats, similarities
from vecuq.measures.text.lacking import MissingFeatureError, numbers
from vecuq.measures.text.relevance import token_relevances
from vecuq.measures.text.sample_features import SampleFeatures
from vecuq.measures.text.settings import RECORDED, TextSettings

if TYPE_CHECKING:
    from vecuq.answers import Answer, AnswerRecord


class TokenFeatures(SampleFeatures):
    """What measures compute from tokens, and which answer they are about."""

    def __init__(self, record: AnswerRecord, settings: TextSettings) -> None:
        super().__init__(record, settings)
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
        return numbers(self.answer.logprobs, "token log-probabilities")

    @cached_property
    def answer_logprob(self) -> Array:
        """The terms of the answer's log-probability: the one number if it is given, else its tokens'."""
        if self.answer.logprob is None:
            return self.token_logprobs
        self._refuse_blank_answer()
        return numbers([self.answer.logprob], "log-probability of the answer")

    @cached_property
    def token_entropies(self) -> Array:
        """Entropies at the answer's tokens."""
        self._refuse_blank_answer()
        return numbers(self.answer.entropies, "token entropies")

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
        return numbers(self.answer.margins, "log-probabilities of the most likely tokens")

    @cached_property
    def token_certainties(self) -> Array:
        """Divergence of the uniform law from the distribution at each of the answer's tokens."""
        self._refuse_blank_answer()
        return numbers(self.answer.certainties, "log-probabilities of the most likely tokens")

    @cached_property
    def relevance(self) -> Array:
        """Relevance of the answer's tokens."""
        self._refuse_blank_answer()
        said = self.answer
        return self._relevance(said.tokens, said.token_similarity, said.n_end, self.token_logprobs, "of the answer")

    @cached_property
    def sample_logprobs(self) -> Array:
        """Log-probability of each sample."""
        found = [sample.total_logprob for sample in self.samples]
        if any(one is None for one in found):
            raise MissingFeatureError("samples without log-probabilities")
        return numbers(found, "log-probabilities of the samples")

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

    @property
    def _weighing(self) -> PairCache:
        """What says how much a text changes without one of its tokens."""
        way = self.settings.comparison
        return self._caches.of(way if way.weighs_tokens else "rouge_l")


def _no_answer() -> Answer:
    from vecuq.answers import Answer

    return Answer(text=None)
