"""Which measures are taken when nobody names them, and how labelled rows are split."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from good_answers import sampled_answers
from vecuq import AnswerPipeline, ScoreTable
from vecuq.errors import CalibrationError
from vecuq.measures import list_measures
from vecuq.measures.text.catalogue import text_measures
from vecuq.pipeline.choosing import PREFERRED, RESERVE, chosen_measures, most_columns
from vecuq.pipeline.splitting import split_rows

RNG = np.random.default_rng(0)
NAMES = [measure.name for measure in text_measures()]


def table(**columns):
    return ScoreTable(tuple(columns), np.column_stack(list(columns.values())))


def test_every_measure_of_the_package_has_its_place_in_the_order():
    assert sorted((*PREFERRED, *RESERVE)) == sorted(NAMES)
    assert set(NAMES) <= set(list_measures()["text"])


def test_columns_that_never_vary_or_nearly_repeat_another_are_left_out():
    first, second, third = RNG.random((3, 100))
    found = table(perplexity=first, msp=first + 0.01 * third, consistency=second, majority_share=np.ones(100))
    assert chosen_measures(found, n_map=1000) == ("consistency", "perplexity")


def test_the_reserve_is_taken_only_where_nothing_else_varies():
    first, second = RNG.random((2, 100))
    assert chosen_measures(table(semantic_sets=first, sar=second), n_map=100) == ("semantic_sets", "sar")
    assert chosen_measures(table(semantic_sets=first, msp=second), n_map=100) == ("msp",)


def test_a_measure_that_many_answers_lack_is_left_out_and_one_that_few_lack_is_not():
    few, many, all_have = RNG.random((3, 100))
    few[:5], many[:6] = np.nan, np.nan
    assert chosen_measures(table(msp=few, consistency=many, sar=all_have), n_map=1000) == ("msp",)


def test_answers_that_allow_no_measure_at_all_do_not_count_against_one():
    column = np.where(np.arange(100) < 80, RNG.random(100), np.nan)  # the last twenty called a tool
    assert chosen_measures(table(consistency=column, msp=np.full(100, np.nan)), n_map=100) == ("consistency",)


def test_few_rows_take_few_columns_in_the_order_of_preference():
    found = ScoreTable(PREFERRED[::-1], RNG.random((60, len(PREFERRED))))
    assert chosen_measures(found, n_map=60) == PREFERRED[:3]
    assert chosen_measures(found, n_map=10**6) == PREFERRED[:5]
    assert all(8 * (2 ** most_columns(n) - 1) <= n for n in (56, 119, 120, 247, 248, 8_184))


def test_no_usable_measure_is_an_error_with_the_shares():
    with pytest.raises(CalibrationError, match=r"none has any number.*Name some"):
        chosen_measures(table(msp=np.full(50, np.nan)), n_map=50)


def test_a_pipeline_chooses_by_its_map_alone():
    answers, wrong = sampled_answers(300, 2)
    made = AnswerPipeline(accuracy=0.6).fit(answers, wrong)
    alone = split_rows(wrong.astype(float), None, 300, 0).map
    again = AnswerPipeline().fit([answers[row] for row in alone])
    assert made.measures_ == again.measures_


@given(st.lists(st.sampled_from("abcdefgh"), min_size=1, max_size=80), st.integers(0, 9), st.data())
def test_no_row_does_two_things_and_no_group_is_split(groups, seed, data):
    labels = data.draw(st.lists(st.sampled_from([0.0, 1.0, np.nan]), min_size=len(groups), max_size=len(groups)))
    wrong = np.array(labels)
    parts = split_rows(wrong, groups, len(groups), seed)
    rows = np.concatenate([parts.map, parts.weights, parts.gate])
    assert len(np.unique(rows)) == len(rows)
    assert not np.isnan(wrong[parts.gate]).any()
    of = {name: {groups[row] for row in found} for name, found in vars(parts).items()}
    assert not of["map"] & of["gate"]
    assert not of["weights"] & (of["map"] | of["gate"])
    unused = set(range(len(groups))) - set(rows.tolist())
    assert all(np.isnan(wrong[row]) and groups[row] in of["gate"] | of["weights"] for row in unused)


def test_the_split_is_a_draw_by_the_seed():
    wrong = np.zeros(3_000)
    first, again, other = (split_rows(wrong, None, 3_000, seed) for seed in (0, 0, 1))
    assert first.counts() == {"map": 1_000, "weights": 300, "gate": 1_700}
    np.testing.assert_array_equal(first.gate, again.gate)
    assert not np.array_equal(first.gate, other.gate)
