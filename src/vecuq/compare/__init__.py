"""Do two answers mean the same? Comparisons of texts by words or by a model, each pair compared once."""

from vecuq.compare.by_model import entailment, judgement
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
from vecuq.compare.extract import boxed_in, choice_in, extraction, json_field_in
from vecuq.compare.lexical import (
    WITHOUT_SPACES,
    bleu,
    common_subsequence,
    jaccard,
    rouge_l,
    rouge_n,
    stemmed_words,
    words,
)
from vecuq.compare.meaning import Meaning
from vecuq.compare.named import choice, exact, numeric
from vecuq.compare.normalised import normalised
from vecuq.compare.numbers import number_in
from vecuq.compare.preparing import prepared, text_preparation
from vecuq.compare.stemming import stem
from vecuq.compare.supplied import Absent, as_needed, name_of, needed_name
from vecuq.compare.thinking import has_thinking, without_thinking

__all__ = [
    "COMPARISONS",
    "CONTRADICTION",
    "ENTAILMENT",
    "MISSING",
    "WITHOUT_SPACES",
    "Absent",
    "Comparison",
    "Meaning",
    "PairCache",
    "PairCaches",
    "as_needed",
    "bleu",
    "boxed_in",
    "choice",
    "choice_in",
    "common_subsequence",
    "comparison_of",
    "embeddings",
    "entailment",
    "entropies",
    "exact",
    "extraction",
    "floats",
    "has_thinking",
    "jaccard",
    "json_field_in",
    "judgement",
    "logprobs",
    "name_of",
    "needed_name",
    "nli_comparison",
    "normalised",
    "number_in",
    "numeric",
    "pairwise",
    "prepared",
    "rouge_l",
    "rouge_n",
    "same_length",
    "similarities",
    "square",
    "stem",
    "stemmed_words",
    "text_preparation",
    "without_thinking",
    "words",
]
