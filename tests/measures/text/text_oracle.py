"""The oracle's examples as our records: values of lm-polygraph 0.7.0 and of the original authors' code."""

import gzip
import json
from pathlib import Path

import numpy as np

from vecuq.answers import AnswerRecord
from vecuq.measures.text import TextSettings

PATH = Path(__file__).parents[2] / "data" / "text_oracle.json.gz"
RECORDED = {"similarity": "recorded", "nli": "recorded"}
NAMES = {
    "msp": "MaximumSequenceProbability",
    "perplexity": "Perplexity",
    "mean_token_entropy": "MeanTokenEntropy",
    "consistency": "Consistency_GreedyAveDissimilarity",
    "cocoa_msp": "CocoaMSP",
    "cocoa_perplexity": "CocoaPPL",
    "cocoa_mean_token_entropy": "CocoaMTE",
    "token_sar": "TokenSAR",
    "sentence_sar": "SentenceSAR",
    "sar": "SAR",
    "degree_matrix": "DegMat_NLI_score_entail",
    "eigenvalue_laplacian": "EigValLaplacian_NLI_score_entail",
    "eccentricity": "Eccentricity_NLI_score_entail",
    "semantic_entropy": "SemanticEntropy",
    "semantic_entropy_empirical": "SemanticEntropyEmpirical",
    "sequence_entropy": "MonteCarloSequenceEntropy",
    "sequence_entropy_normalised": "MonteCarloNormalizedSequenceEntropy",
    "lexical_similarity": "LexicalSimilarity_rougeL",
}
GRAPH = ("degree_matrix", "eigenvalue_laplacian", "eccentricity")


def settings_and_names():
    """Every setting that lm-polygraph has a value for, with its names of our measures."""
    yield TextSettings(**RECORDED), NAMES
    for affinity, theirs in (("no_contradiction", "NLI_score_contra"), ("jaccard", "Jaccard_score")):
        named = {name: NAMES[name].replace("NLI_score_entail", theirs) for name in GRAPH}
        yield TextSettings(**RECORDED, affinity=affinity), named
    for lexical, theirs in (("rouge_1", "rouge1"), ("rouge_2", "rouge2"), ("bleu", "BLEU")):
        yield TextSettings(**RECORDED, lexical=lexical), {"lexical_similarity": f"LexicalSimilarity_{theirs}"}


def read():
    return json.loads(gzip.decompress(PATH.read_bytes()))


def number(value):
    """Numbers that JSON cannot hold are words there."""
    if isinstance(value, list):
        return [number(one) for one in value]
    return float(value) if value in ("NaN", "Infinity", "-Infinity") else value


def record_of(inputs):
    """One example as a record with every similarity computed beforehand."""
    contra, entail = np.array(inputs["semantic_matrix_contra"]), np.array(inputs["semantic_matrix_entail"])
    samples = zip(
        inputs["sample_texts"],
        inputs["sample_log_likelihoods"],
        inputs["sample_log_probs"],
        inputs["sample_token_similarity"],
        strict=True,
    )
    return AnswerRecord.of(
        {
            "logprobs": number(inputs["greedy_log_likelihoods"]),
            "entropies": inputs["entropy"],
            "token_similarity": inputs["token_similarity"],
            "similarity_to_samples": inputs["greedy_sentence_similarity"],
            "similarity_of_samples": inputs["sample_sentence_similarity"],
            "nli_of_samples": np.stack([contra, 1 - contra - entail, entail], axis=-1),
            "samples": [
                {"text": text, "logprobs": number(each), "logprob": number(whole), "token_similarity": similar}
                for text, each, whole, similar in samples
            ],
        }
    )
