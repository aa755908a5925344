"""Do two answers mean the same? Comparisons of texts by words or by a model, each pair compared once."""

from vecuq.compare.checked import MISSING, entropies, floats, logprobs, same_length, similarities, square
from vecuq.compare.comparison import (
    COMPARISONS,
    CONTRADICTION,
    ENTAILMENT,
    Comparison,
    PairCache,
    PairCaches,
    comparison_of,
    embeddings,
    nli_comparison,
    pairwise,
)
from vecuq.compare.lexical import (
    STEMS,
    WITHOUT_SPACES,
    bleu,
    common_subsequence,
    jaccard,
    rouge_l,
    rouge_n,
    stemmed_words,
    words,
)
from vecuq.compare.stemming import stem

__all__ = [
    "COMPARISONS",
    "CONTRADICTION",
    "ENTAILMENT",
    "MISSING",
    "STEMS",
    "WITHOUT_SPACES",
    "Comparison",
    "PairCache",
    "PairCaches",
    "bleu",
    "common_subsequence",
    "comparison_of",
    "embeddings",
    "entropies",
    "floats",
    "jaccard",
    "logprobs",
    "nli_comparison",
    "pairwise",
    "rouge_l",
    "rouge_n",
    "same_length",
    "similarities",
    "square",
    "stem",
    "stemmed_words",
    "words",
]
