"""The risk family: every identity of the theory, and a literal double loop for each of its 84 columns."""

from itertools import product

import numpy as np
import numpy.testing as npt
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from problems_of_measures import RULES, ensembles, literal_risk, probabilities

from vecuq import ClassifierOutputs, outputs
from vecuq.errors import SettingError, TableError
from vecuq.measures import list_measures, measure, risk

WAYS = (1, 2, 3)
ASKED = [
    *(("bayes", rule, i, 1) for rule, i in product(RULES, WAYS)),
    *product(("excess", "total"), RULES, WAYS, WAYS),
]


def name_of(kind, rule, i, j):
    return "_".join([kind, rule.replace("-", "_"), str(i)] + ([] if kind == "bayes" else [str(j)]))


def of(logits, kind, rule, truth, prediction=1):
    return risk(logits, kind=kind, rule=rule, truth=truth, prediction=prediction)


def clearly_decided(logits):
    """Whether no member nor the mean has two most probable classes: there zero-one is a matter of rounding."""
    p = probabilities(logits)
    ordered = np.sort(np.concatenate([p, p.mean(axis=0, keepdims=True)]), axis=-1)
    return bool((ordered[..., -1] - ordered[..., -2] > 1e-9).all())


def test_the_family_has_84_columns():
    names = {name_of(*asked) for asked in ASKED}
    assert len(names) == 84
    assert names <= set(list_measures()["classifier"])


@given(logits=ensembles())
@settings(max_examples=60, deadline=None)
def test_every_risk_column_equals_the_literal_double_loop(logits):
    asked_for = [asked for asked in ASKED if asked[1] != "zero-one" or clearly_decided(logits)]
    table = measure(ClassifierOutputs.of(logits=logits), [name_of(*asked) for asked in asked_for])
    for asked, column in zip(asked_for, table.values.T, strict=True):
        npt.assert_allclose(column, literal_risk(logits, *asked), atol=1e-10, rtol=1e-10, err_msg=str(asked))


@pytest.mark.parametrize("asked", ASKED, ids=lambda asked: name_of(*asked))
def test_the_function_gives_what_the_table_gives(asked):
    logits = np.random.default_rng(0).normal(scale=3, size=(4, 7, 5))
    column = measure(ClassifierOutputs.of(logits=logits), [name_of(*asked)]).values[:, 0]
    npt.assert_array_equal(of(logits, *asked), column)
    npt.assert_allclose(column, literal_risk(logits, *asked), atol=1e-10)


@given(logits=ensembles())
@settings(deadline=None)
def test_the_log_risks_are_the_entropies_and_divergences_of_information_theory(logits):
    p = probabilities(logits)
    mean = p.mean(axis=0)
    entropies = -(p * np.log(p)).sum(axis=-1)
    of_mean = -(mean * np.log(mean)).sum(axis=-1)
    pairwise = np.mean([(a * np.log(a / b)).sum(axis=-1) for a in p for b in p], axis=0)
    reverse = np.mean([(mean * np.log(mean / b)).sum(axis=-1) for b in p], axis=0)
    close = {"atol": 1e-10, "rtol": 1e-10}
    npt.assert_allclose(of(logits, "bayes", "log", 1), entropies.mean(axis=0), **close)
    npt.assert_allclose(of(logits, "total", "log", 2, 2), of_mean, **close)
    npt.assert_allclose(of(logits, "excess", "log", 1, 2), of_mean - entropies.mean(axis=0), **close)
    npt.assert_allclose(of(logits, "excess", "log", 1, 1), pairwise, **close)
    npt.assert_allclose(of(logits, "excess", "log", 2, 1), reverse, **close)


@given(logits=ensembles())
@settings(deadline=None)
def test_brier_pairs_disagree_twice_as_much_as_each_member_with_the_mean(logits):
    both = [of(logits, "excess", "brier", 1, j) for j in (1, 2)]
    npt.assert_allclose(both[0], 2 * both[1], atol=1e-10)


@given(logits=ensembles(), rule=st.sampled_from(RULES), j=st.sampled_from(WAYS), i=st.sampled_from(WAYS))
@settings(deadline=None)
def test_total_is_bayes_plus_excess_and_neither_is_negative(logits, rule, i, j):
    bayes, excess = of(logits, "bayes", rule, i), of(logits, "excess", rule, i, j)
    npt.assert_allclose(of(logits, "total", rule, i, j), bayes + excess, atol=1e-10)
    assert (bayes >= 0).all()
    assert (excess >= 0).all()


@given(logits=ensembles(most_members=1), members=st.integers(1, 6), rule=st.sampled_from(RULES))
@settings(deadline=None)
def test_members_that_agree_have_no_excess(logits, members, rule):
    same = np.repeat(logits, members, axis=0)
    for i, j in product(WAYS, WAYS):
        npt.assert_allclose(of(same, "excess", rule, i, j), 0, atol=1e-10)


def test_members_that_differ_have_excess_over_the_central_prediction():
    logits = np.random.default_rng(1).normal(size=(3, 50, 4))
    for rule in RULES[:3]:
        assert (of(logits, "excess", rule, 1, 3) > 1e-6).all()


@given(logits=ensembles(), asked=st.sampled_from(ASKED), seed=st.integers(0, 99))
@settings(deadline=None)
def test_the_order_of_members_and_classes_does_not_matter(logits, asked, seed):
    assume(asked[1] != "zero-one" or clearly_decided(logits))
    rng = np.random.default_rng(seed)
    shuffled = logits[rng.permutation(len(logits))][:, :, rng.permutation(logits.shape[2])]
    npt.assert_allclose(of(shuffled, *asked), of(logits, *asked), atol=1e-10)


@given(logits=ensembles(), shift=st.floats(-1e3, 1e3), asked=st.sampled_from(ASKED))
@settings(deadline=None)
def test_a_constant_added_to_all_logits_of_a_row_does_not_matter(logits, shift, asked):
    assume(asked[1] != "zero-one" or clearly_decided(logits))
    npt.assert_allclose(of(logits + shift, *asked), of(logits, *asked), atol=1e-9)


EXTREMES = {
    "logits of +-1e4": np.array([[[1e4, -1e4, 0.0]], [[-1e4, 1e4, 0.0]]]),
    "agreement at +-1e4": np.array([[[1e4, -1e4]], [[1e4, -1e4]]]),
    "certain and opposed": np.array([[[0.0, -np.inf]], [[-np.inf, 0.0]]]),
    "a single class": np.zeros((3, 2, 1)),
    "a thousand classes": np.random.default_rng(0).normal(scale=50, size=(4, 3, 1000)),
    "uniform over a thousand": np.zeros((4, 3, 1000)),
}


@pytest.mark.parametrize("logits", EXTREMES.values(), ids=EXTREMES)
@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.float16])
def test_extreme_outputs_give_finite_risks_that_are_not_negative(logits, dtype):
    if dtype is np.float16 and np.abs(logits[np.isfinite(logits)]).max() > 6e4:
        pytest.skip("beyond float16")
    for asked in ASKED:
        found = of(logits.astype(dtype), *asked)
        assert found.dtype == np.float64
        assert np.isfinite(found).all(), asked
        assert (found >= 0).all(), asked


def test_finite_log_probabilities_are_never_cut_off():
    logits = EXTREMES["logits of +-1e4"]
    npt.assert_allclose(of(logits, "excess", "log", 1, 1), [1e4], rtol=1e-12)
    npt.assert_allclose(of(logits, "excess", "log", 1, 2), [np.log(2)], rtol=1e-12)
    npt.assert_allclose(of(EXTREMES["certain and opposed"], "excess", "log", 1, 2), [np.log(2)], rtol=1e-12)
    npt.assert_allclose(of(EXTREMES["certain and opposed"], "excess", "brier", 1, 1), [1.0], rtol=1e-12)


def test_one_block_or_many_give_the_same(monkeypatch):
    logits = np.random.default_rng(2).normal(size=(3, 41, 5))
    whole = [of(logits, *asked) for asked in ASKED]
    monkeypatch.setattr(outputs, "_BLOCK_ENTRIES", 100)
    for asked, column in zip(ASKED, whole, strict=True):
        npt.assert_allclose(of(logits, *asked), column, rtol=1e-13, atol=1e-15)


def test_a_row_that_is_no_number_spoils_itself_alone():
    logits = np.random.default_rng(3).normal(size=(2, 3, 4))
    spoilt = logits.copy()
    spoilt[0, 0, 0], spoilt[1, 1, 2] = np.nan, np.inf
    for asked in ASKED:
        found = of(spoilt, *asked)
        assert np.isnan(found[:2]).all()
        npt.assert_allclose(found[2], of(logits, *asked)[2], rtol=1e-13)


@pytest.mark.parametrize(
    ("asked", "word"),
    [
        ({"kind": "exces"}, "excess"),
        ({"rule": "zero_one"}, "zero-one"),
        ({"truth": 4}, "central"),
        ({"prediction": "1"}, "central"),
    ],
)
def test_a_wrong_choice_is_told(asked, word):
    with pytest.raises(SettingError, match=word):
        risk(np.zeros((2, 3)), **asked)


@pytest.mark.parametrize("shape", [(3,), (2, 3, 0), (0, 2, 3), (1, 2, 3, 4)])
def test_a_wrong_shape_is_told(shape):
    with pytest.raises(TableError, match="members, rows, classes"):
        risk(np.zeros(shape))


def test_no_rows_give_no_risks():
    assert risk(np.zeros((2, 0, 3))).shape == (0,)
