"""Every text measure by name, as a function of the features of one answer."""

from __future__ import annotations

import math
from collections.abc import Callable

from vecuq.compare import CONTRADICTION
from vecuq.measures import text as measures_of_text
from vecuq.measures.registry import Measure
from vecuq.measures.text import agreement, graph, semantic, sequences, stated, tokens
from vecuq.measures.text.features import AnswerFeatures
from vecuq.measures.text.lacking import MissingFeatureError

# `cocoa`: of the paper's text study. `white_box`: one answer with log-probs. `black_box`: texts alone. `classic`: what
# was there first, more than `vecuq fit` takes.
text_compositions: dict[str, tuple[str, ...]] = {
    "cocoa": ("cocoa_msp", "cocoa_perplexity", "cocoa_mean_token_entropy", "msp"),
    "white_box": (
        *("msp", "perplexity", "mean_token_entropy"),
        *("min_token_probability", "token_margin", "max_token_entropy"),
    ),
    "black_box": (
        *("consistency", "degree_matrix", "eigenvalue_laplacian", "eccentricity", "semantic_entropy_empirical"),
        *("semantic_sets", "majority_share", "kernel_language_entropy", "lexical_similarity"),
    ),
    "classic": (
        *("msp", "perplexity", "mean_token_entropy", "consistency", "cocoa_msp", "cocoa_perplexity"),
        *("cocoa_mean_token_entropy", "token_sar", "sentence_sar", "sar", "degree_matrix", "eigenvalue_laplacian"),
        *("eccentricity", "semantic_entropy", "semantic_entropy_empirical", "sequence_entropy"),
        *("sequence_entropy_normalised", "lexical_similarity"),
    ),
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
    return graph.degree_matrix(features.of_several().affinity, unit_diagonal=features.settings.unit_diagonal)


def _semantic_entropy(features: AnswerFeatures) -> float:
    given, options = (features.sample_logprobs, features.classes), features.settings
    return semantic.semantic_entropy(*given, over=options.semantic_over, shift=options.semantic_shift)


def _linguistic_confidence(features: AnswerFeatures) -> float:
    found = stated.linguistic_confidence(features.stated("confidence_words"))
    if math.isnan(found):
        raise MissingFeatureError("words of confidence that are not in the table")
    return found


_LOGPROBS, _ENTROPIES = "the answer's token log-probabilities", "the answer's token entropies"
_TOP = "the most likely tokens at each of the answer's tokens"
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
    "min_token_probability": (_LOGPROBS, lambda of: tokens.min_token_probability(of.token_logprobs)),
    "token_margin": (_TOP, lambda of: tokens.token_margin(of.token_margins)),
    "max_token_entropy": (_ENTROPIES, lambda of: tokens.max_token_entropy(of.token_entropies)),
    "self_certainty": (_TOP, lambda of: tokens.self_certainty(of.token_certainties)),
    "top_k_negentropy": (
        f"{_ENTROPIES} over the k most likely tokens",
        lambda of: tokens.top_k_negentropy(of.token_entropies, of.entropy_top_k),
    ),
    "semantic_sets": (f"{_TEXTS}, {_NLI}", lambda of: semantic.semantic_sets(of.of_several().classes)),
    "majority_share": (f"{_TEXTS}, {_NLI}", lambda of: semantic.majority_share(of.of_several().classes)),
    "kernel_language_entropy": (
        f"{_TEXTS}, {_NLI}",
        lambda of: graph.kernel_language_entropy(of.of_several().graded_affinity),
    ),
    "non_contradiction": (
        "texts of the answer and of samples, an NLI model",
        lambda of: agreement.non_contradiction(of.nli_to_samples[..., CONTRADICTION]),
    ),
    "cosine": (
        "texts of the answer and of samples, compared by embeddings",
        lambda of: agreement.cosine(of.cosine_to_samples),
    ),
    "p_true": ("the probability of true that the model gave its answer", lambda of: stated.p_true(of.stated("p_true"))),
    "verbalised_confidence": (
        "the model's confidence as a number",
        lambda of: stated.verbalised_confidence(of.stated("confidence")),
    ),
    "linguistic_confidence": ("the model's confidence in words", _linguistic_confidence),
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
