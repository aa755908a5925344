"""What holds for every text measure: its range, its reasons, and that the order of samples makes no difference."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vecuq.answers import CONFIDENCE_WORDS
from vecuq.measures import list_measures
from vecuq.measures.text import TextSettings, embeddings, kernel_language_entropy, measure_answer

ANY, POSITIVE, SHARE = (-math.inf, math.inf), (0, math.inf), (0, 1)
# The least and the largest value that the documentation names, for n samples.
RANGES = {
    **dict.fromkeys(["msp", "perplexity", "mean_token_entropy", "max_token_entropy", "token_sar"], POSITIVE),
    **dict.fromkeys(["cocoa_msp", "cocoa_perplexity", "cocoa_mean_token_entropy"], POSITIVE),
    **dict.fromkeys(["sequence_entropy", "sequence_entropy_normalised"], POSITIVE),
    **dict.fromkeys(["sentence_sar", "sar", "semantic_entropy"], ANY),
    **dict.fromkeys(["consistency", "degree_matrix", "non_contradiction", "cosine"], SHARE),
    **dict.fromkeys(["min_token_probability", "token_margin", "top_k_negentropy"], SHARE),
    **dict.fromkeys(["p_true", "verbalised_confidence", "linguistic_confidence"], SHARE),
    "self_certainty": (-math.inf, 0),
    "lexical_similarity": (-1, 0),
    "eigenvalue_laplacian": lambda n: (1, n),
    "eccentricity": lambda n: (0, math.sqrt(n - 1)),
    "semantic_entropy_empirical": lambda n: (0, math.log(n)),
    "kernel_language_entropy": lambda n: (0, math.log(n)),
    "semantic_sets": lambda n: (1, n),
    "majority_share": lambda n: (0, 1 - 1 / n),
}
TEXTS = st.lists(st.sampled_from(["Paris", "in Paris", "Lyon", "Nice it is", "", "  "]), min_size=1, max_size=6)


def said(text, random, *, k=4):
    tokens = [f" {word}" for word in text.split()] + ["</s>"]
    p = np.sort(random.dirichlet(np.ones(k), len(tokens)))
    return {
        "text": text,
        "tokens": tokens,
        "logprobs": np.log(p[:, -1]).tolist(),
        "entropies": (-(p * np.log(p)).sum(axis=1)).tolist(),
        "entropy_top_k": k,
        "margins": (p[:, -1] - p[:, -2]).tolist(),
        "certainties": (-np.log(p).mean(axis=1) - np.log(k)).tolist(),
        "n_end": 1,
    }


def record(texts, random):
    answer, *samples = (said(text, random) for text in ["Paris it is", *texts])
    stated = {"p_true": random.random(), "confidence": random.random()}
    words = str(random.choice(list(CONFIDENCE_WORDS)))
    return {**answer, **stated, "confidence_words": words, "question": "Capital?", "samples": samples}


def same_words(pairs):
    """An NLI model by words: those of one text among those of the other."""
    shares = [len(set(a.split()) & set(b.split())) / len(set(b.split())) for a, b in pairs]
    return [[0.7 * (1 - share), 0.3 * (1 - share), share] for share in shares]


BY_LETTERS = embeddings(lambda texts: [[text.count(letter) for letter in "aeiouprsly"] for text in texts])
WAYS = [TextSettings(), TextSettings(nli=same_words), TextSettings(similarity=BY_LETTERS, nli=same_words)]


def test_every_measure_has_a_range_here():
    assert set(RANGES) == set(list_measures()["text"])


@pytest.mark.parametrize("way", WAYS, ids=["words", "nli", "embeddings"])
@settings(max_examples=25, deadline=None)
@given(TEXTS, st.integers(0, 2**32 - 1))
def test_every_value_lies_in_its_range_or_is_missing_with_a_reason(way, texts, seed):
    found = measure_answer(record(texts, np.random.default_rng(seed)), settings=way)
    assert {name for name, value in found.values.items() if math.isnan(value)} == set(found.reasons)
    for name, value in found.values.items():
        if name not in found.reasons:
            low, high = RANGES[name](len(texts)) if callable(RANGES[name]) else RANGES[name]
            assert low - 1e-9 <= value <= high + 1e-9, name


# Classes are formed in the order of the samples: where agreement is no equivalence, they may depend on it.
BY_CLASSES = {"semantic_entropy", "semantic_entropy_empirical", "semantic_sets", "majority_share"}


@pytest.mark.parametrize("way", WAYS, ids=["words", "nli", "embeddings"])
@settings(max_examples=25, deadline=None)
@given(TEXTS, st.integers(0, 2**32 - 1), st.randoms())
def test_the_order_of_samples_changes_no_value_and_no_reason(way, texts, seed, shuffling):
    given_record = record(texts, np.random.default_rng(seed))
    mixed = {**given_record, "samples": shuffling.sample(given_record["samples"], len(texts))}
    names = sorted(set(RANGES) - BY_CLASSES)
    found, again = (measure_answer(one, names, way) for one in (given_record, mixed))
    assert again.values == pytest.approx(found.values, abs=1e-9, nan_ok=True)
    assert again.reasons == found.reasons


@settings(max_examples=25, deadline=None)
@given(TEXTS, st.integers(0, 2**32 - 1), st.randoms())
def test_where_agreement_is_equality_the_order_changes_no_class_either(texts, seed, shuffling):
    given_record = record(texts, np.random.default_rng(seed))
    mixed = {**given_record, "samples": shuffling.sample(given_record["samples"], len(texts))}
    equal = TextSettings(similarity=lambda one, other: float(one == other))
    found, again = (measure_answer(one, sorted(BY_CLASSES), equal) for one in (given_record, mixed))
    assert again.values == pytest.approx(found.values, abs=1e-9, nan_ok=True)


def test_a_record_of_nothing_has_every_measure_missing_with_a_reason():
    for way in WAYS:
        found = measure_answer({"text": None}, settings=way)
        assert set(found.reasons) == set(RANGES)
        assert all(math.isnan(value) for value in found.values.values())


def test_an_nli_model_is_asked_once_for_each_pair_of_answer_and_samples():
    asked = []

    def judge(pairs):
        asked.extend(pairs)
        return same_words(pairs)

    samples = ["Paris", "Lyon", "Paris it is", "Lyon"]
    found = measure_answer({"text": "Paris it is", "samples": samples}, settings=TextSettings(nli=judge)).values
    assert len(asked) == len(set(asked)) == 6  # three distinct texts, both ways
    ways = [("Paris it is", text) for text in samples] + [(text, "Paris it is") for text in samples]
    contradictions = [0.0 if one == other else same_words([(one, other)])[0][0] for one, other in ways]
    assert found["non_contradiction"] == pytest.approx(np.mean(contradictions))
    recorded = measure_answer({"text": "a", "samples": ["b"]}, ["non_contradiction"], TextSettings(nli="recorded"))
    assert "no recorded NLI probabilities of the answer" in recorded.reasons["non_contradiction"]


def test_the_kernel_counts_neutral_verdicts_half_as_its_authors_do():
    nli = [[[0.0, 0.0, 1.0], [0.2, 0.5, 0.3]], [[0.1, 0.1, 0.8], [0.0, 0.0, 1.0]]]
    found = measure_answer(
        {"samples": ["a", "b"], "nli_of_samples": nli}, ["kernel_language_entropy"], TextSettings(nli="recorded")
    )
    expected = kernel_language_entropy([[1.0, 0.3 + 0.25], [0.8 + 0.05, 1.0]])
    assert found.values["kernel_language_entropy"] == pytest.approx(expected)
