"""What every combiner must do: verbs, columns, missing values, and a number per row that depends on that row alone."""

import pickle
import subprocess
import sys
import warnings

import numpy as np
import numpy.testing as npt
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.utils.estimator_checks import check_estimator

from vecuq import ScoreTable, VecUQ, baselines
from vecuq.errors import CalibrationError, ColumnError, MissingValueWarning, SettingError, TableError

NAMES = baselines.list_baselines()
MONOTONE = ("sum", "minmax_sum", "z_sum", "mean_rank", "max_rank", "fisher", "harmonic", "cauchy", "copula")
# A forest grows from seeds, and those fall differently when columns are swapped.
SYMMETRIC = tuple(name for name in NAMES if name != "isolation_forest")

rng = np.random.default_rng(0)
MIX = np.array([[1.0, 0.6, 0.0], [0.0, 1.0, 0.3], [0.2, 0.0, 1.0]])
CALIBRATION = rng.gamma(1.0, size=(300, 3)) @ MIX * [1.0, 10.0, 0.1]
NEW = np.vstack([rng.gamma(1.0, size=(150, 3)) @ MIX * [2.0, 20.0, 0.2], CALIBRATION[:50], -CALIBRATION[:20]])
FRAME = pd.DataFrame(CALIBRATION, columns=["a", "b", "c"])


def make(name, **settings):
    """A combiner by name; a forest of few trees, for speed."""
    few = {"n_trees": 10} if name == "isolation_forest" else {}
    return getattr(baselines, name)(**few, **settings)


@pytest.fixture(params=NAMES)
def name(request):
    return request.param


@pytest.fixture(scope="module")
def fitted():
    return {name: make(name).fit(CALIBRATION) for name in NAMES}


@pytest.fixture(scope="module")
def estimator():
    return VecUQ().fit(FRAME)


def test_every_scikit_learn_check_passes(name):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        results = check_estimator(make(name), on_fail=None, on_skip=None)
    failed = {r["check_name"]: r["exception"] for r in results if r["status"] in ("failed", "xfail")}
    assert failed == {}
    assert sum(r["status"] == "passed" for r in results) >= 35


def test_scoring_one_row_equals_scoring_it_in_a_batch(name, fitted):
    model, together = fitted[name], fitted[name].uncertainty(NEW)
    alone = [model.uncertainty(NEW[k : k + 1])[0] for k in range(0, len(NEW), 5)]
    npt.assert_array_equal(alone, together[::5])
    npt.assert_array_equal(model.uncertainty(NEW[::-1]), together[::-1])
    npt.assert_array_equal(model.uncertainty(np.asfortranarray(NEW)), together)


def test_so_it_is_with_many_columns(name):
    """Where a matrix product would round differently for one row than for many."""
    wide = np.random.default_rng(2).normal(size=(70, 9))
    model = make(name).fit(wide)
    npt.assert_array_equal([model.uncertainty(wide[k : k + 1])[0] for k in range(8)], model.uncertainty(wide)[:8])


def test_long_batches_are_scored_like_short_ones(name, fitted):
    """More rows than any block that is worked on at once."""
    long = np.tile(NEW, (25, 1))
    npt.assert_array_equal(fitted[name].uncertainty(long), np.tile(fitted[name].uncertainty(NEW), 25))


def test_the_order_of_calibration_rows_does_not_matter(name, fitted):
    shuffled = CALIBRATION[np.random.default_rng(1).permutation(len(CALIBRATION))]
    npt.assert_array_equal(make(name).fit(shuffled).uncertainty(NEW), fitted[name].uncertainty(NEW))


@pytest.mark.parametrize("name", SYMMETRIC)
def test_the_order_of_columns_does_not_matter(name, fitted):
    swapped = make(name).fit(CALIBRATION[:, [2, 0, 1]]).uncertainty(NEW[:, [2, 0, 1]])
    npt.assert_allclose(swapped, fitted[name].uncertainty(NEW), rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("name", MONOTONE)
@given(data=st.data())
@settings(max_examples=40, deadline=None)
def test_raising_a_score_never_lowers_the_uncertainty(name, fitted, data):
    row = NEW[data.draw(st.integers(0, len(NEW) - 1))]
    raised = row.copy()
    raised[data.draw(st.integers(0, 2))] += data.draw(st.floats(0.0, 1e6))
    before, after = fitted[name].uncertainty([row, raised])
    assert after >= before - 1e-12 * abs(before)


def test_a_row_high_in_every_column_is_more_uncertain_than_a_middling_one(name, fitted):
    middling, high = fitted[name].uncertainty([np.median(CALIBRATION, axis=0), 3.0 * CALIBRATION.max(axis=0)])
    assert high > middling


@pytest.mark.parametrize("name", SYMMETRIC)
def test_a_constant_column_changes_nothing(name, fitted):
    constant = make(name).fit(np.insert(CALIBRATION, 1, 7.0, axis=1)).uncertainty(np.insert(NEW, 1, 7.0, axis=1))
    moved = 7.0 if name == "sum" else 0.0
    npt.assert_allclose(constant, fitted[name].uncertainty(NEW) + moved, rtol=1e-12)


def test_a_column_that_was_constant_may_vary_later(name):
    model = make(name).fit(np.insert(CALIBRATION, 1, 7.0, axis=1))
    assert np.isfinite(model.uncertainty(np.insert(NEW, 1, NEW[:, 0], axis=1))).all()


@pytest.mark.parametrize("scale", [1e-300, 1e-8, 1e150, 1e300], ids=str)
def test_scores_of_any_size_give_finite_numbers(name, scale):
    rows = CALIBRATION / CALIBRATION.max() * scale
    far = np.array([[1e308, 1e308, 1e308], [-1e308, 0.0, 1e308]])
    assert np.isfinite(make(name).fit(rows).uncertainty(np.vstack([rows, far]))).all()


def test_columns_that_determine_each_other_give_finite_numbers(name):
    tied = np.column_stack([CALIBRATION, CALIBRATION[:, 0] + CALIBRATION[:, 1], CALIBRATION[:, 2]])
    scores = make(name).fit(tied).uncertainty(tied)
    assert np.isfinite(scores).all()
    assert len(np.unique(scores)) > 20


def test_two_rows_and_one_column_are_enough(name):
    neighbours = {"k": 1} if name == "knn" else {}
    scores = make(name, **neighbours).fit([[0.0], [1.0]]).uncertainty([[0.0], [0.5], [1.0], [2.0]])
    assert np.isfinite(scores).all()
    if name in MONOTONE:
        assert (np.diff(scores) >= 0).all()


def test_rows_with_missing_scores_get_nan_and_one_warning(name, fitted):
    holed = NEW[:6].copy()
    holed[2, 1], holed[4, 0] = np.nan, np.inf
    told = r"2 of 6 rows have missing or infinite scores \('x0': 1, 'x1': 1\); their uncertainty is NaN"
    with pytest.warns(MissingValueWarning, match=told) as caught:
        scores = fitted[name].uncertainty(holed)
    assert len(caught) == 1
    assert np.isnan(scores).tolist() == [False, False, True, False, True, False]
    npt.assert_array_equal(scores[[0, 1, 3, 5]], fitted[name].uncertainty(NEW[[0, 1, 3, 5]]))


def test_rows_that_are_all_missing_are_no_error(name, fitted):
    with pytest.warns(MissingValueWarning):
        assert np.isnan(fitted[name].uncertainty(np.full((2, 3), np.nan))).all()
    assert fitted[name].uncertainty(np.empty((0, 3))).shape == (0,)


def test_every_kind_of_table_gives_the_same_numbers(name, fitted):
    wanted = fitted[name].uncertainty(NEW)
    rows = dict(zip("abc", NEW.T, strict=True))
    for frame in (pd.DataFrame, pl.DataFrame, pa.table, ScoreTable.of, dict):
        model = make(name).fit(frame(dict(zip("abc", CALIBRATION.T, strict=True))))
        for new in (pd.DataFrame, pl.DataFrame, pa.table, ScoreTable.of, dict):
            npt.assert_array_equal(model.uncertainty(new(rows)), wanted)


def test_named_columns_may_come_in_any_order_beside_others(name, fitted):
    model = make(name).fit(FRAME.assign(id=range(300), note="x"))
    assert list(model.feature_names_in_) == ["a", "b", "c"]
    shuffled = pd.DataFrame(NEW, columns=["a", "b", "c"])[["c", "a", "b"]].assign(extra=1.0)
    npt.assert_array_equal(model.uncertainty(shuffled), fitted[name].uncertainty(NEW))


def test_columns_and_flips_are_named(name, fitted):
    turned = FRAME.assign(b=-FRAME["b"])
    model = make(name, columns=["a", "b", "c"], flip=["b"]).fit(turned)
    npt.assert_array_equal(
        model.uncertainty(pd.DataFrame(NEW * [1, -1, 1], columns=["a", "b", "c"])), fitted[name].uncertainty(NEW)
    )
    with pytest.raises(ColumnError, match=r"direction of \['b'\] differs"):
        model.uncertainty(ScoreTable.of(turned))


def test_a_table_fitted_by_position_is_scored_by_position(name, fitted):
    table = ScoreTable.of(pd.DataFrame(NEW, columns=["c", "b", "a"]))
    npt.assert_array_equal(fitted[name].uncertainty(table), fitted[name].uncertainty(NEW))
    with pytest.raises(TableError, match="fitted on 3 columns"):
        fitted[name].uncertainty(table.select(["c", "b"]))


def test_wrong_columns_are_told_as_the_estimator_tells_them(name, fitted, estimator):
    model = make(name).fit(FRAME)
    for wrong in (FRAME[["a", "b"]], FRAME.rename(columns={"a": "aa"}), FRAME.assign(a="x")):
        with pytest.raises(ValueError) as wanted:
            estimator.uncertainty(wrong)
        with pytest.raises(type(wanted.value)) as told:
            model.uncertainty(wrong)
        assert str(told.value) == str(wanted.value)
    with pytest.raises(ValueError, match="expecting 3 features"):
        fitted[name].uncertainty(NEW[:, :2])


def test_missing_scores_are_told_as_the_estimator_tells_them(name, estimator):
    holed = FRAME[:4].assign(b=[np.nan, 1.0, -np.inf, 1.0])
    told = []
    for model in (estimator, make(name).fit(FRAME)):
        with pytest.warns(MissingValueWarning) as caught:
            assert np.isnan(model.uncertainty(holed)).tolist() == [True, False, True, False]
        told.append(str(caught[0].message))
    assert told[0] == told[1]


def test_calibration_rows_that_teach_nothing_are_refused(name):
    with pytest.raises(CalibrationError, match=r"'x1' in 1 of 300 rows"):
        make(name).fit(np.where(np.arange(900).reshape(300, 3) == 4, np.nan, CALIBRATION))
    with pytest.raises(CalibrationError, match="All 10 calibration rows are identical"):
        make(name).fit(np.ones((10, 3)))
    with pytest.raises(CalibrationError, match="At least two calibration rows"):
        make(name).fit(CALIBRATION[:1])
    with pytest.raises(CalibrationError, match="At least two calibration rows"):
        make(name).fit(FRAME[:0])


def test_signs_follow_scikit_learn_and_uncertainty_is_explicit(name, fitted):
    npt.assert_array_equal(fitted[name].score_samples(NEW), -fitted[name].uncertainty(NEW))
    with pytest.raises(NotFittedError):
        make(name).uncertainty(NEW)


def test_it_clones_and_pickles(name, fitted):
    again = clone(make(name, columns=["u", "v", "w"])).fit(CALIBRATION)
    assert again.get_params()["columns"] == ["u", "v", "w"]
    npt.assert_array_equal(pickle.loads(pickle.dumps(again)).uncertainty(NEW), fitted[name].uncertainty(NEW))  # noqa: S301


def test_single_precision_is_scored_in_double(name, fitted):
    single = NEW.astype(np.float32)
    npt.assert_array_equal(fitted[name].uncertainty(single), fitted[name].uncertainty(single.astype(float)))


def test_a_failed_refit_leaves_the_scores_as_they_were(name):
    model = make(name).fit(CALIBRATION)
    before = model.uncertainty(NEW)
    with pytest.raises(CalibrationError):
        model.fit(np.ones((10, 3)))
    npt.assert_array_equal(model.uncertainty(NEW), before)


def test_wrong_settings_are_told_at_fit():
    with pytest.raises(SettingError, match="k must be a whole number"):
        baselines.knn(k=2.5).fit(CALIBRATION)
    with pytest.raises(SettingError, match="n_trees must be at least 1"):
        baselines.isolation_forest(n_trees=0).fit(CALIBRATION)
    with pytest.raises(SettingError, match="random_state"):
        baselines.isolation_forest(random_state=-1).fit(CALIBRATION)


def test_importing_vecuq_does_not_import_the_combiners():
    script = "import sys, vecuq; print([m for m in sys.modules if m.startswith('vecuq.baselines')])"
    told = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout
    assert told.strip() == "[]"
