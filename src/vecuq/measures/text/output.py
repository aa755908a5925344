"""TextOutput: what a language model said to one question, and what is known of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

from vecuq.errors import TableError


@dataclass(frozen=True, eq=False)
class SampledText:
    """One sampled answer. What is not known is None, and never a stand-in.

    Parameters
    ----------
    text
        The answer as text.
    token_logprobs
        Natural log-probabilities of its tokens, without the end of sequence.
    logprob
        Log-probability of the whole, its end included; the sum of ``token_logprobs`` where absent.
    tokens
        The tokens as text, as many as ``token_logprobs``.
    token_similarity
        Similarity of question and answer to the same without each token, where it was worked out beforehand.
    """

    text: str | None = None
    token_logprobs: Sequence[float] | None = None
    logprob: float | None = None
    tokens: Sequence[str] | None = None
    token_similarity: Sequence[float] | None = None


@dataclass(frozen=True, eq=False)
class TextOutput:
    """The answer to one question, most often the greedy one, with samples beside it. What is not known is None.

    Parameters
    ----------
    text
        The answer as text.
    token_logprobs
        Natural log-probabilities of its tokens, end of sequence included where it is known.
    token_entropies
        Entropy over the vocabulary at each token, in nats.
    samples
        Other answers to the same question.
    question
        What was asked.
    logprob
        Log-probability of the whole, its end included; the sum of ``token_logprobs`` where absent.
    tokens
        The tokens as text, as many as ``token_logprobs``.
    token_similarity
        Similarity of question and answer to the same without each token, where it was worked out beforehand.
    n_end
        How many of the last tokens ended the answer and are no part of its text: the end-of-sequence token, or those of
        a stop string. They count in the log-probabilities, and have no relevance of their own.
    similarity_to_samples
        (samples,) the answer's similarity to each sample, for ``TextSettings(similarity="recorded")``.
    similarity_of_samples
        (samples, samples), for the same.
    nli_of_samples
        (samples, samples, 3) probabilities of contradiction, neutral, entailment; premise, hypothesis; for
        ``TextSettings(nli="recorded")``.
    """

    text: str | None = None
    token_logprobs: Sequence[float] | None = None
    token_entropies: Sequence[float] | None = None
    samples: Sequence[SampledText] = ()
    question: str | None = None
    logprob: float | None = None
    tokens: Sequence[str] | None = None
    token_similarity: Sequence[float] | None = None
    n_end: int = 0
    similarity_to_samples: Any = None
    similarity_of_samples: Any = None
    nli_of_samples: Any = None

    @staticmethod
    def of(record: Mapping[str, Any]) -> TextOutput:
        """Make an answer of a plain record, whose keys are the names above; samples are records or texts.

        Examples
        --------
        >>> answer = TextOutput.of({"text": "Paris", "samples": ["Paris", {"text": "Lyon", "token_logprobs": [-2.0]}]})
        >>> [sample.text for sample in answer.samples]
        ['Paris', 'Lyon']
        """
        given = _known(record, TextOutput)
        given["samples"] = tuple(map(_sample, given.get("samples") or ()))
        return TextOutput(**given)


def _sample(given: Any) -> SampledText:
    if isinstance(given, SampledText):
        return given
    return SampledText(text=given) if isinstance(given, str) else SampledText(**_known(given, SampledText))


def _known(record: Any, kind: type) -> dict[str, Any]:
    names = [field.name for field in fields(kind)]
    if not isinstance(record, Mapping):
        raise TableError(f"{kind.__name__} needs a record with keys such as {names[:3]}; got {type(record).__name__}.")
    unknown = [key for key in record if key not in names]
    if unknown:
        raise TableError(f"{kind.__name__} has no {unknown}. It may have {names}.")
    return dict(record)
