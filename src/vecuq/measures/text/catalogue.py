"""Every text measure by name, as a function of the parts of one answer."""

from __future__ import annotations

from collections.abc import Callable

from vecuq.measures import text as measures_of_text
from vecuq.measures.registry import Measure
from vecuq.measures.text import agreement, semantic, sequences, tokens
from vecuq.measures.text.graph import degree_matrix
from vecuq.measures.text.parts import Parts

# Measures of the paper's text study.
text_compositions: dict[str, tuple[str, ...]] = {
    "cocoa": ("cocoa_msp", "cocoa_perplexity", "cocoa_mean_token_entropy", "msp")
}


def _consistency(parts: Parts) -> float:
    return agreement.consistency(parts.similarity_to_samples)


def _token_sar(parts: Parts) -> float:
    if parts.settings.relevance_of == "samples":
        return tokens.token_sar_of_samples(parts.sample_token_logprobs, parts.sample_relevances)
    return tokens.token_sar(parts.token_logprobs, parts.relevance)


def _sentence_sar(parts: Parts) -> float:
    asked = parts.settings.temperature
    return sequences.sentence_sar(parts.sample_logprobs, parts.similarity_of_samples, temperature=asked)


def _sar(parts: Parts) -> float:
    given = (parts.sample_token_logprobs, parts.sample_relevances, parts.similarity_of_samples)
    return sequences.sar(*given, temperature=parts.settings.temperature)


def _degree_matrix(parts: Parts) -> float:
    return degree_matrix(parts.of_several().affinity, unit_diagonal=parts.settings.unit_diagonal)


def _eigenvalue_laplacian(parts: Parts) -> float:
    return parts.of_several().spectrum.eigenvalue_sum()


def _eccentricity(parts: Parts) -> float:
    return parts.of_several().spectrum.eccentricity()


def _semantic_entropy(parts: Parts) -> float:
    asked = parts.settings
    given = (parts.sample_logprobs, parts.classes)
    return semantic.semantic_entropy(*given, over=asked.semantic_over, shift=asked.semantic_shift)


def _semantic_entropy_empirical(parts: Parts) -> float:
    return semantic.semantic_entropy_empirical(parts.of_several().classes)


def _lexical_similarity(parts: Parts) -> float:
    return agreement.lexical_similarity(parts.of_several().lexical)


_ANSWER, _DRAWN = "the answer's token log-probabilities", "samples' log-probabilities"
_COMPUTED: dict[str, tuple[str, Callable[[Parts], float]]] = {
    "msp": (_ANSWER, lambda parts: tokens.msp(parts.answer_logprob)),
    "perplexity": (_ANSWER, lambda parts: tokens.perplexity(parts.token_logprobs)),
    "mean_token_entropy": (
        "the answer's token entropies",
        lambda parts: tokens.mean_token_entropy(parts.token_entropies),
    ),
    "consistency": ("texts of the answer and of samples", _consistency),
    "cocoa_msp": (
        f"{_ANSWER}, texts of samples",
        lambda parts: agreement.cocoa_msp(parts.answer_logprob, parts.similarity_to_samples),
    ),
    "cocoa_perplexity": (
        f"{_ANSWER}, texts of samples",
        lambda parts: agreement.cocoa_perplexity(parts.token_logprobs, parts.similarity_to_samples),
    ),
    "cocoa_mean_token_entropy": (
        "the answer's token entropies, texts of samples",
        lambda parts: agreement.cocoa_mean_token_entropy(parts.token_entropies, parts.similarity_to_samples),
    ),
    "token_sar": (f"{_ANSWER} and tokens", _token_sar),
    "sentence_sar": (f"texts of samples, {_DRAWN}", _sentence_sar),
    "sar": ("texts of samples, their tokens and token log-probabilities", _sar),
    "degree_matrix": ("texts of samples, an NLI model if there is one", _degree_matrix),
    "eigenvalue_laplacian": ("texts of samples, an NLI model if there is one", _eigenvalue_laplacian),
    "eccentricity": ("texts of samples, an NLI model if there is one", _eccentricity),
    "semantic_entropy": (f"texts of samples, {_DRAWN}, an NLI model if there is one", _semantic_entropy),
    "semantic_entropy_empirical": ("texts of samples, an NLI model if there is one", _semantic_entropy_empirical),
    "sequence_entropy": (_DRAWN, lambda parts: sequences.sequence_entropy(parts.sample_logprobs)),
    "sequence_entropy_normalised": (
        "samples' token log-probabilities",
        lambda parts: sequences.sequence_entropy_normalised(parts.sample_logprobs, parts.sample_lengths),
    ),
    "lexical_similarity": ("texts of samples", _lexical_similarity),
}


def text_measures() -> list[Measure]:
    """Return every text measure, in the order of the columns they make."""
    return [
        Measure(name, _first_line(name), needs, compute, modality="text")
        for name, (needs, compute) in _COMPUTED.items()
    ]


def _first_line(name: str) -> str:
    said = str(getattr(measures_of_text, name).__doc__).strip().splitlines()[0].rstrip(".")
    return said.replace(":func:", "").replace("`", "")
