"""Every text measure by name, as a function of the features of one answer."""

from __future__ import annotations

from collections.abc import Callable

from vecuq.measures import text as measures_of_text
from vecuq.measures.registry import Measure
from vecuq.measures.text import agreement, semantic, sequences, tokens
from vecuq.measures.text.features import AnswerFeatures
from vecuq.measures.text.graph import degree_matrix

# Measures of the paper's text study.
text_compositions: dict[str, tuple[str, ...]] = {
    "cocoa": ("cocoa_msp", "cocoa_perplexity", "cocoa_mean_token_entropy", "msp")
}


def _consistency(features: AnswerFeatures) -> float:
    return agreement.consistency(features.similarity_to_samples)


def _token_sar(features: AnswerFeatures) -> float:
    if features.settings.relevance_of == "samples":
        return tokens.token_sar_of_samples(features.sample_token_logprobs, features.sample_relevances)
    return tokens.token_sar(features.token_logprobs, features.relevance)


def _sentence_sar(features: AnswerFeatures) -> float:
    given = (features.sample_logprobs, features.similarity_of_samples)
    return sequences.sentence_sar(*given, temperature=features.settings.temperature)


def _sar(features: AnswerFeatures) -> float:
    given = (features.sample_token_logprobs, features.sample_relevances, features.similarity_of_samples)
    return sequences.sar(*given, temperature=features.settings.temperature)


def _degree_matrix(features: AnswerFeatures) -> float:
    return degree_matrix(features.of_several().affinity, unit_diagonal=features.settings.unit_diagonal)


def _eigenvalue_laplacian(features: AnswerFeatures) -> float:
    return features.of_several().spectrum.eigenvalue_sum()


def _eccentricity(features: AnswerFeatures) -> float:
    return features.of_several().spectrum.eccentricity()


def _semantic_entropy(features: AnswerFeatures) -> float:
    given, options = (features.sample_logprobs, features.classes), features.settings
    return semantic.semantic_entropy(*given, over=options.semantic_over, shift=options.semantic_shift)


def _semantic_entropy_empirical(features: AnswerFeatures) -> float:
    return semantic.semantic_entropy_empirical(features.of_several().classes)


def _lexical_similarity(features: AnswerFeatures) -> float:
    return agreement.lexical_similarity(features.of_several().lexical)


_ANSWER, _DRAWN = "the answer's token log-probabilities", "samples' log-probabilities"
_COMPUTED: dict[str, tuple[str, Callable[[AnswerFeatures], float]]] = {
    "msp": (_ANSWER, lambda features: tokens.msp(features.answer_logprob)),
    "perplexity": (_ANSWER, lambda features: tokens.perplexity(features.token_logprobs)),
    "mean_token_entropy": (
        "the answer's token entropies",
        lambda features: tokens.mean_token_entropy(features.token_entropies),
    ),
    "consistency": ("texts of the answer and of samples", _consistency),
    "cocoa_msp": (
        f"{_ANSWER}, texts of samples",
        lambda features: agreement.cocoa_msp(features.answer_logprob, features.similarity_to_samples),
    ),
    "cocoa_perplexity": (
        f"{_ANSWER}, texts of samples",
        lambda features: agreement.cocoa_perplexity(features.token_logprobs, features.similarity_to_samples),
    ),
    "cocoa_mean_token_entropy": (
        "the answer's token entropies, texts of samples",
        lambda features: agreement.cocoa_mean_token_entropy(features.token_entropies, features.similarity_to_samples),
    ),
    "token_sar": (f"{_ANSWER} and tokens", _token_sar),
    "sentence_sar": (f"texts of samples, {_DRAWN}", _sentence_sar),
    "sar": ("texts of samples, their tokens and token log-probabilities", _sar),
    "degree_matrix": ("texts of samples, an NLI model if there is one", _degree_matrix),
    "eigenvalue_laplacian": ("texts of samples, an NLI model if there is one", _eigenvalue_laplacian),
    "eccentricity": ("texts of samples, an NLI model if there is one", _eccentricity),
    "semantic_entropy": (f"texts of samples, {_DRAWN}, an NLI model if there is one", _semantic_entropy),
    "semantic_entropy_empirical": ("texts of samples, an NLI model if there is one", _semantic_entropy_empirical),
    "sequence_entropy": (_DRAWN, lambda features: sequences.sequence_entropy(features.sample_logprobs)),
    "sequence_entropy_normalised": (
        "samples' token log-probabilities",
        lambda features: sequences.sequence_entropy_normalised(features.sample_logprobs, features.sample_lengths),
    ),
    "lexical_similarity": ("texts of samples", _lexical_similarity),
}


def text_measures() -> list[Measure]:
    """Return every text measure, in the order of the columns."""
    return [
        Measure(name, _first_line(name), needs, compute, modality="text")
        for name, (needs, compute) in _COMPUTED.items()
    ]


def _first_line(name: str) -> str:
    line = str(getattr(measures_of_text, name).__doc__).strip().splitlines()[0].rstrip(".")
    return line.replace(":func:", "").replace("`", "")
