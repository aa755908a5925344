"""Comparisons by name, by function, by embeddings; and that no pair is compared twice."""

import numpy as np
import numpy.testing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vecuq.compare import PairCache, comparison_of, nli_comparison
from vecuq.errors import SettingError, TableError
from vecuq.measures.text import COMPARISONS, Comparison, embeddings, pairwise, rouge_l

TEXTS = st.lists(st.sampled_from(["Paris", "in Paris", "Lyon", "it is Lyon", " ", "?"]), min_size=1, max_size=6)


def asking(comparison):
    """The comparison, and the list of pairs that it was asked for."""
    asked = []

    def compare(pairs):
        asked.extend(pairs)
        return comparison.compare(pairs)

    return Comparison("asked", compare, symmetric=comparison.symmetric), asked


@settings(max_examples=50, deadline=None)
@given(TEXTS, TEXTS)
def test_the_table_holds_what_each_pair_alone_gives(rows, columns):
    table = PairCache(COMPARISONS["rouge_l"]).table(rows, columns)
    for i, one in enumerate(rows):
        for j, other in enumerate(columns):
            same = one == other and one.strip() != ""
            assert table[i, j] == (1.0 if same else rouge_l(one, other))


def test_a_table_may_be_changed_without_changing_the_next():
    cache, texts = PairCache(COMPARISONS["rouge_l"]), ["in Paris", "Paris"]
    cache.table(texts, texts)[:] = 7.0
    npt.assert_allclose(cache.table(texts, texts), [[1, 2 / 3], [2 / 3, 1]])


@pytest.mark.parametrize("symmetric", [True, False])
def test_a_table_of_equal_texts_lies_in_memory_as_one_of_different_texts(symmetric):
    """Otherwise a sum over its rows would differ in the last bit."""
    cache = PairCache(pairwise(lambda one, other: 0.5, symmetric=symmetric))
    assert cache.table(["a", "b", "a"], ["b", "b", "a", "c"]).flags.c_contiguous
    assert cache.table(["a", "b", "a"], ["a", "b", "a"]).flags.c_contiguous


@pytest.mark.parametrize("symmetric", [True, False])
def test_no_pair_is_compared_twice_identical_texts_never(symmetric):
    comparison, asked = asking(pairwise(lambda one, other: 0.5, symmetric=symmetric))
    cache = PairCache(comparison)
    texts = ["a", "b", "a", "c", "b", "a", ""]
    npt.assert_array_equal(cache.table(texts, texts), cache.table(texts, texts))
    cache.table(["a"], texts)
    assert len(asked) == len(set(asked)) == (3 if symmetric else 6)
    if symmetric:
        assert len({frozenset(pair) for pair in asked}) == 3
    assert all(one != other and one and other for one, other in asked)


def test_blank_texts_are_like_nothing_not_even_each_other():
    table = PairCache(COMPARISONS["jaccard"]).table(["", "a"], ["", "  ", "a"])
    npt.assert_array_equal(table, [[0, 0, 0], [0, 0, 1]])


def test_the_direction_of_a_pair_is_kept_where_it_matters():
    longer = pairwise(lambda one, other: float(len(one) > len(other)))
    npt.assert_array_equal(PairCache(longer).table(["a", "bb"], ["a", "bb"]), [[1, 0], [1, 1]])


def test_embeddings_give_the_positive_part_of_the_cosine_and_embed_each_text_once():
    points = {
        "east": [2.0, 0.0],
        "north": [0.0, 1.0],
        "west": [-1.0, 0.0],
        "north east": [1.0, 1.0],
        "nowhere": [0.0, 0.0],
    }
    seen = []

    def embed(texts):
        seen.extend(texts)
        return np.array([points[text] for text in texts])

    cache = PairCache(embeddings(embed))
    found = cache.table(["east"], list(points))[0]
    npt.assert_allclose(found, [1, 0, 0, np.sqrt(0.5), 0], atol=1e-12)
    assert len(seen) == len(set(seen)) == 5


def test_an_nli_model_is_asked_in_both_directions_and_not_of_identical_texts():
    asked = []

    def judge(pairs):
        asked.extend(pairs)
        return [[0.1, 0.2, 0.7] if one < other else [0.7, 0.2, 0.1] for one, other in pairs]

    found = PairCache(nli_comparison(judge)).table(["a", "b", "a"], ["a", "b", "a"])
    assert sorted(asked) == [("a", "b"), ("b", "a")]
    npt.assert_allclose(found[0], [[0, 0, 1], [0.1, 0.2, 0.7], [0, 0, 1]])
    npt.assert_allclose(found[1, 0], [0.7, 0.2, 0.1])


@pytest.mark.parametrize("verdicts", [[[2.0, 0.1, -1.0]], [[0.5, 0.5]], [0.3]])
def test_an_nli_model_that_gives_no_three_probabilities_is_told(verdicts):
    with pytest.raises(TableError, match="softmax"):
        PairCache(nli_comparison(lambda pairs: verdicts)).table(["a"], ["b"])


def test_a_comparison_that_loses_pairs_or_leaves_its_range_is_told():
    with pytest.raises(TableError, match="2 were needed, it returned 1"):
        PairCache(Comparison("short", lambda pairs: [0.5])).table(["a"], ["b", "c"])
    with pytest.raises(TableError, match=r"\[0, 1\]"):
        PairCache(pairwise(lambda one, other: 7.0)).table(["a"], ["b"])
    with pytest.raises(TableError, match="one row per text"):
        PairCache(embeddings(lambda texts: [1.0])).table(["a"], ["b"])


def test_names_and_functions_are_understood_and_nothing_else():
    assert comparison_of("bleu") is COMPARISONS["bleu"]
    assert comparison_of(rouge_l).name == "rouge_l"
    with pytest.raises(SettingError, match="Did you mean 'jaccard'"):
        comparison_of("jacard")
    with pytest.raises(SettingError, match="a name, a function"):
        comparison_of(3)
