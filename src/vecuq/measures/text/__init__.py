"""Measures of the answers of a language model, as functions of plain arrays and lists.

Every function returns one number, higher = more uncertain, in natural logarithms. Where there is too little data it
returns NaN, and never a 0 that looks like confidence. :func:`measure_answer` computes all measures that one answer
allows.
"""

from vecuq.compare import COMPARISONS, Comparison, bleu, embeddings, jaccard, pairwise, rouge_l, rouge_n, words
from vecuq.measures.text.agreement import (
    cocoa_mean_token_entropy,
    cocoa_msp,
    cocoa_perplexity,
    consistency,
    cosine,
    lexical_similarity,
    non_contradiction,
)
from vecuq.measures.text.features import AnswerFeatures
from vecuq.measures.text.graph import degree_matrix, eccentricity, eigenvalue_laplacian, kernel_language_entropy
from vecuq.measures.text.measuring import MeasuredAnswer, measure_answer, measure_record
from vecuq.measures.text.relevance import token_relevance
from vecuq.measures.text.semantic import (
    majority_share,
    semantic_classes,
    semantic_entropy,
    semantic_entropy_empirical,
    semantic_sets,
)
from vecuq.measures.text.sequences import sar, sentence_sar, sequence_entropy, sequence_entropy_normalised
from vecuq.measures.text.settings import TextSettings
from vecuq.measures.text.stated import linguistic_confidence, p_true, verbalised_confidence
from vecuq.measures.text.tokens import (
    max_token_entropy,
    mean_token_entropy,
    min_token_probability,
    msp,
    perplexity,
    self_certainty,
    token_margin,
    token_sar,
    token_sar_of_samples,
    top_k_negentropy,
)

__all__ = [
    "COMPARISONS",
    "AnswerFeatures",
    "Comparison",
    "MeasuredAnswer",
    "TextSettings",
    "bleu",
    "cocoa_mean_token_entropy",
    "cocoa_msp",
    "cocoa_perplexity",
    "consistency",
    "cosine",
    "degree_matrix",
    "eccentricity",
    "eigenvalue_laplacian",
    "embeddings",
    "jaccard",
    "kernel_language_entropy",
    "lexical_similarity",
    "linguistic_confidence",
    "majority_share",
    "max_token_entropy",
    "mean_token_entropy",
    "measure_answer",
    "measure_record",
    "min_token_probability",
    "msp",
    "non_contradiction",
    "p_true",
    "pairwise",
    "perplexity",
    "rouge_l",
    "rouge_n",
    "sar",
    "self_certainty",
    "semantic_classes",
    "semantic_entropy",
    "semantic_entropy_empirical",
    "semantic_sets",
    "sentence_sar",
    "sequence_entropy",
    "sequence_entropy_normalised",
    "token_margin",
    "token_relevance",
    "token_sar",
    "token_sar_of_samples",
    "top_k_negentropy",
    "verbalised_confidence",
    "words",
]
