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
    lexical_similarity,
)
from vecuq.measures.text.features import AnswerFeatures
from vecuq.measures.text.graph import degree_matrix, eccentricity, eigenvalue_laplacian
from vecuq.measures.text.measuring import MeasuredAnswer, measure_answer, measure_record
from vecuq.measures.text.relevance import token_relevance
from vecuq.measures.text.semantic import semantic_classes, semantic_entropy, semantic_entropy_empirical
from vecuq.measures.text.sequences import sar, sentence_sar, sequence_entropy, sequence_entropy_normalised
from vecuq.measures.text.settings import TextSettings
from vecuq.measures.text.tokens import mean_token_entropy, msp, perplexity, token_sar, token_sar_of_samples

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
    "degree_matrix",
    "eccentricity",
    "eigenvalue_laplacian",
    "embeddings",
    "jaccard",
    "lexical_similarity",
    "mean_token_entropy",
    "measure_answer",
    "measure_record",
    "msp",
    "pairwise",
    "perplexity",
    "rouge_l",
    "rouge_n",
    "sar",
    "semantic_classes",
    "semantic_entropy",
    "semantic_entropy_empirical",
    "sentence_sar",
    "sequence_entropy",
    "sequence_entropy_normalised",
    "token_relevance",
    "token_sar",
    "token_sar_of_samples",
    "words",
]
