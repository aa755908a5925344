"""From one answer to its measures: what is shared, what is missing, and why."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vecuq.answers import Answer, AnswerRecord, parse_record
from vecuq.errors import SettingError, TableError
from vecuq.measures import Measure, list_measures, registry
from vecuq.measures.text import (
    AnswerFeatures,
    Comparison,
    TextSettings,
    embeddings,
    lexical_similarity,
    measure_answer,
    msp,
    rouge_l,
    token_relevance,
    token_sar,
)

# These need a model beside the answers: of inference, or of embeddings.
BY_MODEL = {"non_contradiction", "cosine"}
ALL = set(list_measures()["text"]) - BY_MODEL
OF_ENTROPIES = {"mean_token_entropy", "max_token_entropy", "top_k_negentropy"}
OF_TOKENS = {"msp", "perplexity", "min_token_probability", "token_margin", "self_certainty", "token_sar", *OF_ENTROPIES}
STATED = {"p_true", "verbalised_confidence", "linguistic_confidence"}
OF_LOGPROBS = {"msp", "perplexity", "min_token_probability", "cocoa_msp", "cocoa_perplexity", "token_sar"}
OF_ANSWER = {"consistency", *OF_TOKENS, *STATED} | {name for name in ALL if name.startswith("cocoa")}
NEED_TWO = {
    *("degree_matrix", "eigenvalue_laplacian", "eccentricity", "semantic_entropy_empirical", "lexical_similarity"),
    *("semantic_sets", "majority_share", "kernel_language_entropy"),
}


def said(text, *, logprob=-0.5, **more):
    tokens = [piece if k == 0 else " " + piece for k, piece in enumerate(text.split())]
    return {"text": text, "tokens": tokens, "token_logprobs": [logprob] * len(tokens), **more}


def record(**changes):
    texts = ("Paris", "Lyon", "Paris", "in Paris", "Nice")
    samples = [said(text, logprob=-0.2 * k - 0.1) for k, text in enumerate(texts)]
    top = {"token_entropies": [0.3, 0.2, 0.1], "entropy_top_k": 5, "margins": [0.5, 0.7, 0.9]}
    stated = {"p_true": 0.8, "confidence": 0.9, "confidence_words": "Likely"}
    whole = {**said("Paris it is"), **top, "certainties": [1.0, 2.0, 3.0], **stated}
    return {**whole, "question": "Capital?", "samples": samples, **changes}


def measured(answer, settings=None):
    """Every measure that needs no model beside the answers."""
    return measure_answer(answer, sorted(ALL), settings)


BY_ROUGE_L = TextSettings(similarity="rouge_l")


def without(entry, *keys):
    return {key: value for key, value in entry.items() if key not in keys}


def test_a_full_record_has_every_measure_of_the_interface_and_no_reason():
    found = measure_answer(record())
    assert set(found.values) == ALL | BY_MODEL
    assert len(ALL | BY_MODEL) == 31
    assert found.reasons == {"non_contradiction": "no NLI model", "cosine": "texts are not compared by embeddings"}
    assert all(math.isfinite(found.values[name]) for name in ALL)


def test_the_values_are_those_of_the_functions():
    given_record, found = record(), measure_answer(record(), settings=BY_ROUGE_L).values
    texts = [sample["text"] for sample in given_record["samples"]]
    assert found["msp"] == msp(given_record["token_logprobs"])
    assert found["consistency"] == pytest.approx(np.mean([1 - rouge_l("Paris it is", text) for text in texts]))
    assert found["lexical_similarity"] == lexical_similarity(texts)
    relevance = token_relevance(given_record["tokens"], "Capital?")
    assert found["token_sar"] == token_sar(given_record["token_logprobs"], relevance)


@pytest.mark.parametrize(
    ("changes", "missing", "reason"),
    [
        ({"text": "", "tokens": ["</s>"], "token_logprobs": [-0.01], "token_entropies": [0.01]}, OF_ANSWER, "empty"),
        ({"text": " \n"}, OF_ANSWER, "the answer is empty"),
        ({"token_logprobs": None}, OF_LOGPROBS, "no token log-prob"),
        ({"token_logprobs": []}, OF_LOGPROBS, "no token log-prob"),
        ({"token_entropies": None}, {"cocoa_mean_token_entropy", *OF_ENTROPIES}, "no token entropies"),
        ({"entropy_top_k": None}, {"top_k_negentropy"}, "over the whole vocabulary"),
        ({"entropy_top_k": 1}, {"top_k_negentropy"}, "over a single token"),
        ({"margins": None}, {"token_margin"}, "no log-probabilities of the most likely tokens"),
        ({"certainties": [1.0, None, 2.0]}, {"self_certainty"}, "with missing values"),
        ({"p_true": None}, {"p_true"}, "no probability of true"),
        ({"confidence": None}, {"verbalised_confidence"}, "no confidence as a number"),
        ({"confidence_words": None}, {"linguistic_confidence"}, "no confidence in words"),
        ({"confidence_words": "not likely"}, {"linguistic_confidence"}, "not in the table"),
        ({"tokens": None}, {"token_sar"}, "no tokens of the answer"),
        ({"tokens": ["Paris", " it"]}, {"token_sar"}, "do not match"),
        ({"text": None}, {"consistency", *(name for name in ALL if name.startswith("cocoa"))}, "no text of the answer"),
        ({"samples": []}, ALL - OF_TOKENS - STATED, "no samples"),
        ({"samples": [said("Paris")]}, NEED_TWO, "only one sample"),
        ({"samples": [said("", logprob=0.0)] * 3}, ALL - OF_TOKENS - STATED, "all samples are empty"),
    ],
    ids=lambda value: str(value)[:30] if isinstance(value, dict) else "",
)
def test_a_part_that_is_absent_costs_the_measures_that_need_it_and_no_other(changes, missing, reason):
    found = measured(record(**changes))
    assert set(found.reasons) == missing
    assert all(reason in told for told in found.reasons.values())
    assert {name for name, value in found.values.items() if math.isnan(value)} == missing


@pytest.mark.parametrize(
    ("absent", "missing", "reason"),
    [
        (
            ("token_logprobs",),
            {"sentence_sar", "sar", "semantic_entropy", "sequence_entropy", "sequence_entropy_normalised"},
            "samples without",
        ),
        (("tokens",), {"sar"}, "no tokens of the samples"),
        (
            ("text",),
            (NEED_TWO | {"consistency", "sentence_sar", "sar", "semantic_entropy"})
            | {name for name in ALL if name.startswith("cocoa")},
            "samples without texts",
        ),
    ],
)
def test_one_sample_that_lacks_a_part_is_told(absent, missing, reason):
    samples = record()["samples"]
    samples[2] = without(samples[2], *absent)
    found = measured(record(samples=samples))
    assert set(found.reasons) == missing
    assert all(reason in told for told in found.reasons.values())


def test_an_empty_sample_is_never_certain():
    blank = {"text": "", "tokens": [], "token_logprobs": []}
    found = measured(record(samples=[*record()["samples"], blank]))
    assert found.reasons["sequence_entropy"] == "samples without log-probabilities"
    assert found.reasons["sar"] == "an empty sample has no tokens to weigh"
    assert found.values["consistency"] > measure_answer(record()).values["consistency"]
    known = measured(record(samples=[*record()["samples"], {**blank, "logprob": -3.0}]))
    assert set(known.reasons) == {"sar"}


def test_answers_that_are_only_texts_have_the_measures_of_texts():
    found = measured({"text": "Paris", "samples": ["Paris", "Lyon", "Paris"]})
    assert ALL - set(found.reasons) == NEED_TWO | {"consistency"}


def test_a_single_log_probability_is_enough_for_msp():
    found = measure_answer(without(record(logprob=-2.5), "token_logprobs"))
    assert found.values["msp"] == 2.5
    assert found.values["cocoa_msp"] == 2.5 * found.values["consistency"]
    assert found.reasons["perplexity"] == "no token log-probabilities"


def test_samples_with_whole_log_probabilities_keep_their_end():
    samples = [{**sample, "logprob": sum(sample["token_logprobs"]) - 1.0} for sample in record()["samples"]]
    ended, bare = measure_answer(record(samples=samples)).values, measure_answer(record()).values
    assert ended["sequence_entropy"] == pytest.approx(bare["sequence_entropy"] + 1.0)
    assert ended["sar"] == bare["sar"]


def test_identical_samples_that_equal_the_answer_are_least_uncertain():
    found = measure_answer(record(text="Paris it is", samples=[said("Paris it is")] * 4)).values
    for name in ("consistency", "cocoa_msp", "degree_matrix", "eccentricity", "semantic_entropy_empirical"):
        assert found[name] == 0.0
    assert found["lexical_similarity"] == -1.0
    assert found["eigenvalue_laplacian"] == 1.0


@settings(max_examples=40, deadline=None)
@given(st.permutations(range(5)))
def test_the_order_of_samples_makes_no_difference(order):
    samples = record()["samples"]
    found = measured(record(samples=[samples[k] for k in order])).values
    assert found == pytest.approx(measured(record()).values, abs=1e-9)


def test_a_sample_that_comes_again_and_again_draws_the_measures_to_certainty():
    once, often = record(), record(samples=[*record()["samples"], *[said("Paris", logprob=-0.1)] * 20])
    for name in ("degree_matrix", "semantic_entropy_empirical", "lexical_similarity", "eigenvalue_laplacian"):
        values = [measure_answer(given, settings=BY_ROUGE_L).values[name] for given in (often, once)]
        assert values[0] < values[1]


def counting(compare, **more):
    asked = []

    def counted(pairs):
        asked.append(list(pairs))
        return [compare(one, other) for one, other in pairs]

    return Comparison("counted", counted, **more), asked


def test_all_measures_of_an_answer_share_its_similarities():
    comparison, asked = counting(rouge_l, symmetric=True)
    names = sorted(ALL - {"token_sar", "sar"})
    found = measure_answer(record(), names, TextSettings(similarity=comparison, lexical=comparison))
    pairs = [frozenset(pair) for batch in asked for pair in batch]
    distinct = {"Paris", "Lyon", "in Paris", "Nice", "Paris it is"}
    assert len(pairs) == len(set(pairs)) == len(distinct) * (len(distinct) - 1) // 2
    expected = measure_answer(record(), settings=BY_ROUGE_L).values
    assert found.values == pytest.approx({name: expected[name] for name in names})


def test_consistency_alone_compares_with_the_answer_only():
    comparison, asked = counting(rouge_l)
    measure_answer(record(), ["consistency"], TextSettings(similarity=comparison))
    assert {frozenset(pair) for batch in asked for pair in batch} == {
        frozenset({"Paris it is", other}) for other in ("Paris", "Lyon", "in Paris", "Nice")
    }


def test_a_comparison_with_a_direction_counts_both_ways():
    found = measure_answer(
        {"text": "aa", "samples": ["b", "cc"]}, ["consistency"], TextSettings(similarity=lambda a, b: float(len(a) > 1))
    )
    assert found.values["consistency"] == pytest.approx(1 - (0.5 + 1.0) / 2)


def test_sentence_embeddings_serve_every_measure():
    by_letters = embeddings(lambda texts: [[text.count(letter) + 0.1 for letter in "aeiouprsly"] for text in texts])
    found = measure_answer(record(), settings=TextSettings(similarity=by_letters))
    assert set(found.reasons) == {"non_contradiction"}
    assert found.values["cosine"] == pytest.approx(found.values["consistency"] / 2)


def nli(pairs):
    """Texts that share a word entail each other; others contradict each other."""
    shared = [bool(set(one.split()) & set(other.split())) for one, other in pairs]
    return [[0.05, 0.15, 0.8] if same else [0.6, 0.3, 0.1] for same in shared]


def test_an_nli_model_decides_the_graph_and_the_classes():
    found = measure_answer(record(), settings=TextSettings(nli=nli)).values
    entailed = np.full((5, 5), 0.1)
    together = [0, 2, 3]
    entailed[np.ix_(together, together)] = 0.8
    entailed[0, 2] = entailed[2, 0] = 1.0
    np.fill_diagonal(entailed, 1.0)
    assert found["degree_matrix"] == pytest.approx((1 - entailed).mean())
    assert found["semantic_entropy_empirical"] == pytest.approx(-(0.6 * math.log(0.6) + 0.4 * math.log(0.2)))


def test_merging_unless_contradictory_makes_fewer_classes():
    def unsure(pairs):
        return [[0.2, 0.6, 0.2] for _ in pairs]

    strict = measure_answer(record(), settings=TextSettings(nli=unsure)).values["semantic_entropy_empirical"]
    loose = measure_answer(record(), settings=TextSettings(nli=unsure, merge="no_contradiction")).values
    assert strict > loose["semantic_entropy_empirical"] == 0.0


def test_without_an_nli_model_alike_samples_are_one_meaning():
    names = ["semantic_entropy_empirical"]
    joined, apart = (
        measure_answer(record(), names, TextSettings(similarity="rouge_l", same_meaning=share)).values[names[0]]
        for share in (0.6, 0.7)
    )
    assert joined == pytest.approx(-(0.6 * math.log(0.6) + 0.4 * math.log(0.2)))  # "in Paris" is 2/3 "Paris"
    assert apart == pytest.approx(-(0.4 * math.log(0.4) + 0.6 * math.log(0.2)))


def test_records_that_lack_what_was_promised_are_told():
    found = measure_answer(record(), settings=TextSettings(similarity="recorded", nli="recorded"))
    assert found.reasons["consistency"] == "no recorded similarity to the samples"
    assert found.reasons["sentence_sar"] == "no recorded similarity of the samples"
    assert found.reasons["degree_matrix"] == "no recorded NLI probabilities"
    assert "no recorded token similarity of the answer" in found.reasons["token_sar"]
    assert "lexical_similarity" not in found.reasons


def test_infinite_and_undefined_values_are_told_apart():
    found = measure_answer(record(token_logprobs=[-math.inf, -1.0, -1.0], samples=[said("Paris it is")] * 2))
    assert found.values["msp"] == math.inf
    assert "0 times infinity" in found.reasons["cocoa_msp"]
    gaps = measure_answer(record(token_logprobs=[None, -1.0, -1.0]))
    assert gaps.reasons["msp"] == "token log-probabilities with missing values"


def test_numbers_that_cannot_be_are_refused():
    with pytest.raises(TableError, match="natural logarithm"):
        measure_answer(record(token_logprobs=[0.9, 0.8, 0.7]))
    with pytest.raises(TableError, match="5 and 2"):
        measure_answer(record(similarity_to_samples=[0.5, 0.5]), ["consistency"], TextSettings(similarity="recorded"))


def test_records_of_unknown_keys_or_kinds_are_refused():
    with pytest.raises(TableError, match="answr"):
        AnswerRecord.of({"answr": "Paris"})
    for wrong in ({"samples": [3]}, "Paris"):
        with pytest.raises(TableError, match="must be a mapping"):
            AnswerRecord.of(wrong)
    with pytest.raises(TableError, match="`text` must be a text"):
        AnswerRecord.of({"text": 3})
    with pytest.raises(TableError, match="`logprobs` must be a list of numbers"):
        AnswerRecord.of({"text": "Paris", "logprobs": ["a"]})
    with pytest.raises(TableError, match="leave out"):
        AnswerRecord.of({"text": "Paris", "greedy": "Lyon"})


def test_a_record_is_frozen_and_its_answers_may_be_texts():
    record = AnswerRecord.of({"greedy": "Paris", "samples": ["Lyon"]})
    with pytest.raises(AttributeError):
        record.greedy.text = "Nice"
    assert (record.greedy.text, record.samples[0].text) == ("Paris", "Lyon")
    assert AnswerRecord.of(record) is record


def test_a_record_of_a_file_and_a_mapping_of_the_same_have_the_same_measures():
    given_record = record()
    line = AnswerRecord.of({"id": "q", **given_record}).to_line()
    assert measure_answer(parse_record(line, "there")) == measure_answer(given_record)


def test_a_sample_of_a_file_counts_its_end_in_its_probability_and_not_in_its_tokens():
    drawn = Answer(text="a b", tokens=("a", " b", "</s>"), logprobs=(-1.0, -2.0, -4.0), n_end=1)
    features = AnswerFeatures(AnswerRecord(id="q", greedy=drawn, samples=(drawn,)), TextSettings())
    assert features.sample_logprobs.tolist() == [-7.0]
    assert features.sample_lengths == [2]
    assert features.sample_token_logprobs[0].tolist() == [-1.0, -2.0]
    assert features.token_logprobs.tolist() == [-1.0, -2.0, -4.0]
    assert len(features.sample_relevances[0]) == 2
    assert features.relevance[2] == 0.0


def test_recorded_similarities_come_with_a_line_of_our_schema():
    given_record = AnswerRecord.of(
        {"id": "q", "text": "a", "samples": ["b", "c"], "similarity_to_samples": [0.25, 0.75]}
    )
    settings = TextSettings(similarity="recorded")
    for one in (given_record, parse_record(given_record.to_line(), "there")):
        assert measure_answer(one, ["consistency"], settings).values == {"consistency": 0.5}
    wrong = given_record.to_line().replace("0.25", "7.0")
    with pytest.raises(TableError, match="similarity_to_samples"):
        parse_record(wrong, "there")


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        ({"similarity": "rouge"}, "similarity must be one of"),
        ({"affinity": "entailment"}, "needs nli"),
        ({"affinity": "nli"}, "affinity must be one of"),
        ({"nli": "deberta"}, "nli must be a function"),
        ({"same_meaning": 0.0}, "same_meaning"),
        ({"relevance_of": "all"}, "relevance_of"),
        ({"temperature": -1.0}, "temperature"),
    ],
)
def test_settings_that_cannot_be_are_refused_at_once(wrong, told):
    with pytest.raises(SettingError, match=told):
        TextSettings(**wrong)


def test_a_composition_stands_for_its_columns_and_an_unknown_name_is_told():
    columns = ["cocoa_msp", "cocoa_perplexity", "cocoa_mean_token_entropy", "msp"]
    assert list(measure_answer(record(), ["cocoa"]).values) == columns
    with pytest.raises(SettingError, match="Did you mean 'consistency'"):
        measure_answer(record(), ["consistancy"])
    with pytest.raises(SettingError, match="At least one"):
        measure_answer(record(), [])


def test_a_text_measure_of_another_package_is_listed_by_its_modality_and_computed(monkeypatch):
    class Point:
        name = "length"

        def load(self):
            return Measure(
                "length", "Number of letters", "text", lambda features: len(features.answer.text), modality="text"
            )

    monkeypatch.setattr("vecuq._check.entry_points", lambda group: [Point()])
    registry.known_measures.cache_clear()
    try:
        assert "length" in list_measures()["text"]
        assert "length" not in list_measures()["classifier"]
        assert measure_answer(record(), ["length"]).values == {"length": 11.0}
    finally:
        registry.known_measures.cache_clear()


def test_msp_of_a_classifier_and_of_a_text_are_two_measures():
    assert "msp" in list_measures()["classifier"]
    assert registry.known_measures("classifier")["msp"].about != registry.known_measures("text")["msp"].about
    for found in registry.known_measures("text").values():
        assert found.modality == "text"
        assert len(found.about) > 10
        assert "`" not in found.about


@settings(max_examples=60, deadline=None)
@given(st.recursive(st.none() | st.floats(-9, 0) | st.text(max_size=5), lambda inner: st.lists(inner, max_size=4)))
def test_any_texts_and_log_probabilities_give_a_number_or_a_reason(value):
    texts = [text for text in (value if isinstance(value, list) else [value]) if isinstance(text, str)]
    numbers = [one for one in (value if isinstance(value, list) else [value]) if isinstance(one, float)]
    found = measure_answer({"text": texts[0] if texts else None, "token_logprobs": numbers, "samples": texts})
    assert {name for name, one in found.values.items() if math.isnan(one)} == set(found.reasons)


def test_sar_is_missing_with_any_empty_sample_whether_it_has_tokens_or_not():
    for blank in ({"tokens": [], "token_logprobs": []}, {"tokens": ["\n"], "token_logprobs": [-0.5]}):
        found = measured(record(samples=[*record()["samples"], {"text": " ", "logprob": -3.0, **blank}]))
        assert found.reasons == {"sar": "an empty sample has no tokens to weigh"}
        assert math.isnan(found.values["sar"])


def test_a_log_probability_that_is_given_counts_before_the_sum_for_answers_as_for_samples():
    samples = [{**sample, "logprob": -1.5} for sample in record()["samples"]]
    found = measure_answer(record(logprob=-2.5, samples=samples)).values
    assert (found["msp"], found["sequence_entropy"]) == (2.5, 1.5)
    assert found["cocoa_msp"] == pytest.approx(2.5 * found["consistency"])
    assert found["perplexity"] == pytest.approx(0.5)


@pytest.mark.parametrize("affinity", ["auto", "jaccard"])
def test_one_function_for_similarity_and_for_words_is_called_once_per_pair(affinity):
    calls = []

    def same(one, other):
        calls.append((one, other))
        return float(one == other)

    names = ["consistency", "degree_matrix", "lexical_similarity", "semantic_entropy_empirical"]
    measure_answer(
        {"text": "a b", "samples": ["a b", "c d", "c d", "e f"]},
        names,
        TextSettings(similarity=same, lexical=same, affinity=affinity),
    )
    assert len(calls) == len(set(calls)) == 6


def test_similarities_that_are_no_numbers_give_no_classes():
    found = measure_answer(
        {"text": "a", "samples": ["b", "c"]},
        ["semantic_entropy_empirical", "degree_matrix"],
        TextSettings(similarity=lambda one, other: math.nan),
    )
    assert found.reasons["semantic_entropy_empirical"] == "similarities with missing values"
    assert all(math.isnan(value) for value in found.values.values())
    nli = np.full((2, 2, 3), math.nan).tolist()
    told = measure_answer(
        {"text": "a", "samples": ["b", "c"], "nli_of_samples": nli},
        ["semantic_entropy_empirical"],
        TextSettings(nli="recorded"),
    )
    assert told.reasons["semantic_entropy_empirical"] == "NLI probabilities with missing values"


def test_a_matrix_in_place_of_a_comparison_is_refused_with_a_word():
    with pytest.raises(SettingError, match="similarity must be a name"):
        TextSettings(similarity=np.eye(2))
    with pytest.raises(SettingError, match="nli must be a function"):
        TextSettings(nli=np.eye(2))
