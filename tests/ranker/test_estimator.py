import pickle
import warnings

import numpy as np
import numpy.testing as npt
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import check_estimator

from vecuq import VecUQ
from vecuq.errors import CalibrationWarning, MissingValueWarning, SettingError

ROWS = np.random.default_rng(0).gamma(1.0, size=(300, 3))
FRAME = pd.DataFrame(ROWS, columns=["a", "b", "c"])


def test_every_scikit_learn_check_passes():
    """No expected failures; checks on a handful of rows rightly warn that anchors outweigh them."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        results = check_estimator(VecUQ(), on_fail=None, on_skip=None)
    failed = {r["check_name"]: r["exception"] for r in results if r["status"] in ("failed", "xfail")}
    assert failed == {}
    assert sum(r["status"] == "passed" for r in results) >= 40


def test_signs_follow_scikit_learn_and_uncertainty_is_explicit():
    model = VecUQ().fit(ROWS)
    npt.assert_array_equal(model.score_samples(ROWS), -model.uncertainty(ROWS))
    npt.assert_array_equal(model.decision_function(ROWS), model.score_samples(ROWS) - model.offset_)
    npt.assert_array_equal(model.predict(ROWS) == 1, model.decision_function(ROWS) >= 0)
    npt.assert_array_equal(model.predict(ROWS) == -1, model.p_values(ROWS) <= 0.05)
    npt.assert_array_equal(VecUQ().fit_predict(ROWS), model.predict(ROWS))


def test_names_are_kept_and_columns_may_come_in_any_order():
    model = VecUQ().fit(FRAME)
    assert list(model.feature_names_in_) == ["a", "b", "c"]
    assert list(model.get_feature_names_out()) == ["rank_a", "rank_b", "rank_c"]
    npt.assert_array_equal(model.uncertainty(FRAME[["c", "a", "b"]]), model.uncertainty(FRAME))
    with pytest.raises(ValueError, match="lacks"):
        model.uncertainty(FRAME[["a", "b"]])


def test_rank_images_can_be_a_frame():
    model = VecUQ().set_output(transform="pandas").fit(FRAME)
    images = model.transform(FRAME)
    assert list(images.columns) == ["rank_a", "rank_b", "rank_c"]
    npt.assert_array_equal(images.to_numpy(), model.ranker_.transform(FRAME))


def test_the_paper_method_is_one_call():
    model = VecUQ.paper(epsilon=0.4)
    assert (model.overshoot, model.holdback, model.n_targets, model.epsilon) == (0.0, 0.0, "rows", 0.4)
    model.fit(ROWS)
    assert model.diagnostics_.n_targets == 343
    assert model.diagnostics_.n_held == 0


def test_a_refit_on_an_array_forgets_the_names():
    model = VecUQ().fit(FRAME)
    model.fit(ROWS)
    assert not hasattr(model, "feature_names_in_")


def test_score_columns_and_flips_are_named():
    mixed = FRAME.assign(id=range(300), confidence=1.0 / (1.0 + FRAME["a"]), note="x")
    model = VecUQ(columns=["b", "confidence"], flip=["confidence"]).fit(mixed)
    assert list(model.feature_names_in_) == ["b", "confidence"]
    low, high = model.uncertainty(pd.DataFrame({"b": [0.1, 0.1], "confidence": [0.9, 0.1]}))
    assert low < high


def test_missing_values_are_scored_nan_but_never_decided():
    model = VecUQ().fit(ROWS)
    holed = ROWS[:5].copy()
    holed[2, 1] = np.nan
    with pytest.warns(MissingValueWarning):
        assert np.isnan(model.uncertainty(holed)).tolist() == [False, False, True, False, False]
    with pytest.raises(ValueError, match="NaN or inf"):
        model.predict(holed)


def test_no_rows_are_no_error():
    assert VecUQ().fit(ROWS).uncertainty(np.empty((0, 3))).shape == (0,)


def test_before_fit_every_method_says_so():
    for method in ("uncertainty", "transform", "score_samples", "decision_function", "predict", "p_values"):
        with pytest.raises(NotFittedError):
            getattr(VecUQ(), method)(ROWS)


def test_it_clones_pickles_and_lives_in_a_pipeline():
    model = clone(VecUQ(epsilon=0.7)).fit(ROWS)
    npt.assert_array_equal(pickle.loads(pickle.dumps(model)).uncertainty(ROWS), model.uncertainty(ROWS))  # noqa: S301
    piped = make_pipeline(StandardScaler(), VecUQ()).fit(ROWS)
    assert set(piped.predict(ROWS)) <= {-1, 1}


def test_a_wrong_parameter_is_told_at_fit():
    with pytest.raises(SettingError, match="scaling"):
        VecUQ(scaling="max").fit(ROWS)


def test_numpy_numbers_are_accepted_as_parameters():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", CalibrationWarning)
        model = VecUQ(epsilon=np.float64(0.5), n_targets=np.int64(64), max_iter=np.int32(50)).fit(ROWS)
    assert model.ranker_.settings.to_dict()["n_targets"] == 64


def test_columns_name_those_of_an_array():
    model = VecUQ(columns=["a", "b", "c"], flip=["b"]).fit(ROWS)
    assert model.ranker_.columns == ("a", "b", "c")
    npt.assert_array_equal(model.uncertainty(ROWS), VecUQ(flip=["x1"]).fit(ROWS).uncertainty(ROWS))
    with pytest.raises(ValueError, match="2 column names were given for an array of 3"):
        VecUQ(columns=["a", "b"]).fit(ROWS)


def test_a_rate_that_the_rows_cannot_deliver_is_told_once_and_nothing_is_flagged():
    few, new = ROWS[:60], np.random.default_rng(1).gamma(1.0, size=(5000, 3))
    with pytest.warns(CalibrationWarning) as told:
        model = VecUQ(alpha=0.001).fit(few)
    (message,) = [str(one.message) for one in told if "alpha" in str(one.message)]
    assert "alpha=0.001 needs at least 999 held-back rows; this model has 30, which allow alpha=0.03226" in message
    assert "no outliers" in message
    assert "\n" not in message
    assert told[0].filename == __file__
    assert model.offset_ == -np.inf
    assert model.threshold() == np.inf
    assert (model.predict(new) == 1).all()
    assert (model.decision_function(new) > 0).all()
    assert np.isfinite(model.score_samples(new)).all()


def test_a_rate_that_the_rows_can_deliver_or_that_nobody_promised_is_not_warned_of():
    with warnings.catch_warnings():
        warnings.filterwarnings("error", message="alpha")
        warnings.filterwarnings("ignore", message="The outer anchors")
        assert np.isfinite(VecUQ(alpha=1 / 31).fit(ROWS[:60]).offset_)
        assert np.isfinite(VecUQ.paper(alpha=0.001).fit(ROWS[:60]).offset_)


def test_rows_in_chunks_are_warned_of_until_they_are_enough():
    model = VecUQ(ranges=[(0.0, 20.0)] * 3, anchors=0)
    with pytest.warns(CalibrationWarning, match="Until then predict finds no outliers"):
        model.partial_fit(ROWS[:30])
    assert model.offset_ == -np.inf
    model.partial_fit(ROWS[30:])
    assert np.isfinite(model.offset_)


def test_a_warning_points_at_the_line_of_the_user():
    few = ROWS[:20]
    with pytest.warns(CalibrationWarning) as caught:
        VecUQ().fit(few)
    assert {warning.filename for warning in caught} == {__file__}
    holed = ROWS[:5].copy()
    holed[0, 0] = np.nan
    model = VecUQ().fit(ROWS)
    with pytest.warns(MissingValueWarning) as caught:
        model.uncertainty(holed)
    assert caught[0].filename == __file__
