"""Do two answers mean the same? Comparisons of texts by words or by a model, each pair compared once."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

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
from vecuq.compare.meaning import Meaning
from vecuq.compare.named import choice, exact, numeric
from vecuq.compare.normalised import normalised
from vecuq.compare.numbers import number_in
from vecuq.compare.preparing import prepared, text_preparation
from vecuq.compare.stemming import stem
from vecuq.compare.supplied import Absent, as_needed, name_of, needed_name
from vecuq.compare.thinking import has_thinking, without_thinking

if TYPE_CHECKING:
    from vecuq.compare.endpoints import EndpointEmbedding, EndpointJudge, EndpointNLI
    from vecuq.compare.onnx_nli import OnnxNLI
    from vecuq.compare.remembered import Remembered

# Models are imported on first use: most comparisons need none.
_OF_MODELS = {
    "EndpointEmbedding": "endpoints",
    "EndpointJudge": "endpoints",
    "EndpointNLI": "endpoints",
    "OnnxNLI": "onnx_nli",
    "Remembered": "remembered",
}

__all__ = [
    "COMPARISONS",
    "CONTRADICTION",
    "ENTAILMENT",
    "MISSING",
    "STEMS",
    "WITHOUT_SPACES",
    "Absent",
    "Comparison",
    "EndpointEmbedding",
    "EndpointJudge",
    "EndpointNLI",
    "Meaning",
    "OnnxNLI",
    "PairCache",
    "PairCaches",
    "Remembered",
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


def __getattr__(name: str) -> Any:
    if name in _OF_MODELS:
        return getattr(import_module(f"vecuq.compare.{_OF_MODELS[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
