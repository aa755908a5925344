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


def _semantic_entropy(features: AnswerFeatures) -> float:
    given, options = (features.sample_logprobs, features.classes), features.settings
    return semantic.semantic_entropy(*given, over=options.semantic_over, shift=options.semantic_shift)


_LOGPROBS, _ENTROPIES = "the answer's token log-probabilities", "the answer's token entropies"
_TEXTS, _NLI, _DRAWN = "texts of samples", "an NLI model if there is one", "samples' log-probabilities"
# What each measure needs, in words, and how it is computed.
_COMPUTED: dict[str, tuple[str, Callable[[AnswerFeatures], float]]] = {
    "msp": (_LOGPROBS, lambda of: tokens.msp(of.answer_logprob)),
    "perplexity": (_LOGPROBS, lambda of: tokens.perplexity(of.token_logprobs)),
    "mean_token_entropy": (_ENTROPIES, lambda of: tokens.mean_token_entropy(of.token_entropies)),
    "consistency": ("texts of the answer and of samples", lambda of: agreement.consistency(of.similarity_to_samples)),
    "cocoa_msp": (
        f"{_LOGPROBS}, {_TEXTS}",
        lambda of: agreement.cocoa_msp(of.answer_logprob, of.similarity_to_samples),
    ),
    "cocoa_perplexity": (
        f"{_LOGPROBS}, {_TEXTS}",
        lambda of: agreement.cocoa_perplexity(of.token_logprobs, of.similarity_to_samples),
    ),
    "cocoa_mean_token_entropy": (
        f"{_ENTROPIES}, {_TEXTS}",
        lambda of: agreement.cocoa_mean_token_entropy(of.token_entropies, of.similarity_to_samples),
    ),
    "token_sar": (f"{_LOGPROBS} and tokens", _token_sar),
    "sentence_sar": (f"{_TEXTS}, {_DRAWN}", _sentence_sar),
    "sar": (f"{_TEXTS}, their tokens and token log-probabilities", _sar),
    "degree_matrix": (f"{_TEXTS}, {_NLI}", _degree_matrix),
    "eigenvalue_laplacian": (f"{_TEXTS}, {_NLI}", lambda of: of.of_several().spectrum.eigenvalue_sum()),
    "eccentricity": (f"{_TEXTS}, {_NLI}", lambda of: of.of_several().spectrum.eccentricity()),
    "semantic_entropy": (f"{_TEXTS}, {_DRAWN}, {_NLI}", _semantic_entropy),
    "semantic_entropy_empirical": (
        f"{_TEXTS}, {_NLI}",
        lambda of: semantic.semantic_entropy_empirical(of.of_several().classes),
    ),
    "sequence_entropy": (_DRAWN, lambda of: sequences.sequence_entropy(of.sample_logprobs)),
    "sequence_entropy_normalised": (
        "samples' token log-probabilities",
        lambda of: sequences.sequence_entropy_normalised(of.sample_logprobs, of.sample_lengths),
    ),
    "lexical_similarity": (_TEXTS, lambda of: agreement.lexical_similarity(of.of_several().lexical)),
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
