"""Reasons: contributions that add up, their axioms, what the medians would change, and the sentence."""

from itertools import permutations

import numpy as np
import numpy.testing as npt
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vecuq import ScoreTable, Settings, VecUQ, fit_ranker, load
from vecuq.errors import CalibrationError, MissingValueWarning, SettingError
from vecuq.ranker.explain import gradient_values, shapley_values

ROWS = np.random.default_rng(0).gamma(1.0, size=(500, 4))
NEW = np.random.default_rng(1).gamma(1.2, size=(300, 4)) * 2
NAMES = ("entropy", "knn", "mahalanobis", "confidence")
KINDS = {
    "default": {},
    "paper": {"overshoot": 0.0, "holdback": 0.0},
    "signed": {"reference": "ball"},
    "cloud": {"grid": "authors", "n_targets": 60},
    "quantile": {"scaling": "quantile"},
}


@pytest.fixture(scope="module", params=KINDS)
def ranker(request):
    return fit_ranker(ROWS, Settings(**KINDS[request.param]))


@pytest.fixture(scope="module")
def plain():
    return fit_ranker(ROWS)


@pytest.mark.parametrize("method", ["shapley", "gradient"])
def test_baseline_and_contributions_add_up_to_the_score(ranker, method):
    far = np.concatenate([NEW, NEW[:20] * 1e4, -NEW[:20], np.median(ROWS, axis=0)[None]])
    found = ranker.explain(far, method=method)
    score = ranker.uncertainty(far)
    npt.assert_allclose(ranker.baseline + found.sum(axis=1), score, atol=1e-9, rtol=1e-12)
    assert found.shape == far.shape


@pytest.mark.parametrize("method", ["shapley", "gradient"])
def test_contributions_have_the_same_bits_alone_in_a_batch_and_from_a_file(ranker, method, tmp_path):
    together = ranker.explain(NEW[:40], method=method)
    npt.assert_array_equal([ranker.explain(row[None], method=method)[0] for row in NEW[:40]], together)
    npt.assert_array_equal(ranker.explain(NEW[:40], method=method, n_jobs=1), together)
    ranker.save(tmp_path / "m.vecuq")
    npt.assert_array_equal(load(tmp_path / "m.vecuq").explain(NEW[:40], method=method), together)


@given(seed=st.integers(0, 10**6), m=st.integers(1, 5))
@settings(max_examples=25)
def test_exact_contributions_are_the_mean_over_all_orders(seed, m):
    rng = np.random.default_rng(seed)
    weights, rows, centre = rng.normal(size=(m, m)), rng.normal(size=(3, m)), rng.normal(size=m)

    def score(points):
        return np.abs(points @ weights).max(axis=1) + np.prod(points, axis=1)

    brute = np.zeros((3, m))
    orders = list(permutations(range(m)))
    for order in orders:
        at = np.tile(centre, (3, 1))
        for k in order:
            before = score(at)
            at[:, k] = rows[:, k]
            brute[:, k] += (score(at) - before) / len(orders)
    npt.assert_allclose(shapley_values(score, rows, centre), brute, atol=1e-12)


def test_of_a_sum_of_functions_each_column_gets_its_own():
    def score(points):
        return np.exp(points[:, 0]) + points[:, 1] ** 2

    rows, centre = np.array([[1.0, 3.0], [0.5, -1.0]]), np.array([0.0, 1.0])
    expected = np.column_stack([np.exp(rows[:, 0]) - 1.0, rows[:, 1] ** 2 - 1.0])
    npt.assert_allclose(shapley_values(score, rows, centre), expected)
    npt.assert_allclose(gradient_values(score, rows, centre), expected, atol=1e-3)


def test_the_gradient_follows_the_straight_way():
    """Aumann and Shapley's value of x^2 y from 0 to 1 is (2/3, 1/3); Shapley's is (1/2, 1/2)."""
    got = gradient_values(lambda p: p[:, 0] ** 2 * p[:, 1], np.ones((1, 2)), np.zeros(2))
    npt.assert_allclose(got, [[2 / 3, 1 / 3]], atol=1e-3)


@pytest.mark.parametrize("method", ["shapley", "gradient"])
def test_a_constant_column_and_one_at_its_median_contribute_nothing(method):
    rows = np.column_stack([ROWS[:, :2], np.full(500, 3.0)])
    ranker = fit_ranker(rows)
    new = np.column_stack([NEW[:, :2], NEW[:, 2]])
    new[:, 1] = ranker.centre[1]
    found = ranker.explain(new, method=method)
    npt.assert_array_equal(found[:, 1:], 0.0)
    npt.assert_allclose(found[:, 0], ranker.uncertainty(new) - ranker.baseline, atol=1e-12)


@pytest.mark.parametrize("method", ["shapley", "gradient"])
def test_equal_columns_share_alike(method):
    rows, new = np.column_stack([ROWS[:, :2], ROWS[:, 1]]), np.column_stack([NEW[:, :2], NEW[:, 1]])
    found = fit_ranker(rows).explain(new, method=method)
    npt.assert_allclose(found[:, 1], found[:, 2], atol=1e-8)
    assert np.abs(found[:, 1]).max() > 0.01


def test_raising_a_column_raises_the_score_so_no_high_column_counts_below_zero(plain):
    high = np.maximum(NEW, plain.centre)
    assert (plain.explain(high) >= -1e-12).all()


def test_the_estimator_the_ranker_and_named_columns_agree():
    frame, new = pd.DataFrame(ROWS, columns=NAMES), pd.DataFrame(NEW, columns=NAMES)
    model = VecUQ(columns=NAMES, flip=()).fit(frame)
    ranker = fit_ranker(ScoreTable.of(frame, columns=NAMES, flip=()))
    npt.assert_array_equal(model.explain(new[[*reversed(NAMES)]]), ranker.explain(new))
    assert model.baseline_ == ranker.baseline
    npt.assert_array_equal(model.p_values_at_median(new), ranker.p_values_at_median(new))
    assert model.why(new) == ranker.why(new)
    npt.assert_allclose(model.baseline_ + model.explain(new).sum(axis=1), model.uncertainty(new), atol=1e-9)


def test_the_counterfactual_is_the_p_value_of_the_row_with_that_column_at_its_median(plain):
    found = plain.p_values_at_median(NEW)
    for k in range(4):
        moved = NEW.copy()
        moved[:, k] = np.median(plain.kept.held[:, k])
        npt.assert_array_equal(found[:, k], plain.p_values(moved))


def test_counterfactuals_without_held_back_rows_are_refused():
    with pytest.raises(CalibrationError, match="holdback=0"):
        fit_ranker(ROWS, Settings.paper()).p_values_at_median(NEW)


def test_too_many_columns_for_the_exact_way_name_the_other():
    rows = np.ones((1, 13))
    with pytest.raises(SettingError, match=r"13 columns take 2 \*\* 13 .*Use method='gradient'"):
        shapley_values(lambda points: points.sum(axis=1), rows, np.zeros(13))
    npt.assert_allclose(gradient_values(lambda points: points.sum(axis=1), rows, np.zeros(13)), 1.0)


def test_an_unknown_method_is_refused(plain):
    with pytest.raises(SettingError, match="method must be one of 'auto', 'shapley', 'gradient'"):
        plain.explain(NEW, method="shap")


def test_rows_without_a_score_have_no_contributions_and_say_why(plain):
    holed = NEW[:3].copy()
    holed[1, 2] = np.nan
    found = plain.explain(holed)
    npt.assert_array_equal(np.isnan(found), [[False] * 4, [True] * 4, [False] * 4])
    assert plain.why(holed)[1] == "not scored: missing or infinite in x2"
    with pytest.warns(MissingValueWarning):
        plain.uncertainty(holed)


def test_a_sketch_explains_from_the_means():
    from vecuq import PartialFit

    ranker = PartialFit(settings=Settings(holdback=0.0), n_rows=10**6).update(ROWS).fit()
    npt.assert_allclose(ranker.centre, ROWS.mean(axis=0))
    npt.assert_allclose(ranker.baseline + ranker.explain(NEW).sum(axis=1), ranker.uncertainty(NEW), atol=1e-9)
    assert "median" not in ranker.why(NEW[:1])[0]


def test_the_sentence_names_what_did_it_in_the_users_direction():
    rows = ROWS.copy()
    rows[:, 3] = 1 / (1 + rows[:, 3])
    ranker = fit_ranker(ScoreTable.of(pd.DataFrame(rows, columns=NAMES), flip=["confidence"]))
    typical = np.median(rows, axis=0)
    unsure, far, both, safe = (typical.copy() for _ in range(4))
    unsure[3], far[2], safe[0] = 0.01, 20.0, 0.0
    both[:2] = 6.0
    told = ranker.why(pd.DataFrame([unsure, far, both, safe], columns=NAMES))
    assert told[0].startswith("confidence is low (contributes +")
    assert told[1].startswith("mahalanobis is high (contributes +")
    assert "; at its median p would be 0." in told[1]
    assert ", then knn (+" in told[2] or ", then entropy (+" in told[2]
    assert told[3].startswith("nothing stands out: ")


def test_no_rows_have_no_reasons(plain):
    assert plain.explain(np.empty((0, 4))).shape == (0, 4)
    assert plain.why(np.empty((0, 4))) == []
