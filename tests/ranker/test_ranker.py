import warnings

import numpy as np
import numpy.testing as npt
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from vecuq import ScoreTable, Settings, fit_ranker, load
from vecuq.errors import CalibrationError, ColumnError, MissingValueWarning, SettingError, TableError

ROWS = np.random.default_rng(0).gamma(1.0, size=(500, 3))
NEW = np.random.default_rng(1).gamma(1.2, size=(700, 3)) * 2
NAMES = ["entropy", "distance", "disagreement"]


@pytest.fixture(scope="module")
def named():
    return fit_ranker(pd.DataFrame(ROWS, columns=NAMES))


def test_uncertainty_is_the_length_of_the_image_plus_the_overshoot(named):
    paper = fit_ranker(ROWS, Settings.paper())
    npt.assert_allclose(paper.uncertainty(NEW), np.linalg.norm(paper.transform(NEW), axis=1), rtol=1e-15)
    scaled = named.scaler.transform(NEW)
    beyond = np.linalg.norm(np.maximum(scaled - 1.0, 0.0), axis=1)
    npt.assert_allclose(named.uncertainty(NEW), np.linalg.norm(named.transform(NEW), axis=1) + 0.5 * beyond)


def test_inside_the_box_overshoot_changes_nothing():
    with_it, without = (fit_ranker(ROWS, Settings(overshoot=o, holdback=0.0)) for o in (0.5, 0.0))
    npt.assert_array_equal(with_it.uncertainty(ROWS), without.uncertainty(ROWS))


def test_scores_have_the_same_bits_alone_in_a_batch_and_in_any_order(named):
    together = named.uncertainty(ScoreTable(tuple(NAMES), NEW))
    alone = [named.uncertainty(ScoreTable(tuple(NAMES), row[None]))[0] for row in NEW]
    tens = np.concatenate([named.uncertainty(ScoreTable(tuple(NAMES), NEW[i : i + 10])) for i in range(0, 700, 10)])
    npt.assert_array_equal(alone, together)
    npt.assert_array_equal(tens, together)
    npt.assert_array_equal(named.uncertainty(ScoreTable(tuple(NAMES), NEW[::-1]))[::-1], together)


@pytest.mark.parametrize("m", [8, 10])
def test_many_columns_have_the_same_bits_alone_and_together(m):
    rows = np.random.default_rng(0).gamma(1.0, size=(400, m))
    ranker = fit_ranker(rows, Settings(anchor_mass=0.2))
    npt.assert_array_equal([ranker.uncertainty(row[None])[0] for row in rows[:60]], ranker.uncertainty(rows[:60]))


@pytest.mark.parametrize("options", [{}, {"grid": "authors"}, {"reference": "ball"}, {"scaling": "quantile"}])
def test_saving_and_loading_gives_the_same_bits(tmp_path, options):
    ranker = fit_ranker(ROWS, Settings(**options))
    ranker.save(tmp_path / "model.vecuq")
    again = load(tmp_path / "model.vecuq")
    npt.assert_array_equal(again.uncertainty(NEW), ranker.uncertainty(NEW))
    npt.assert_array_equal(again.p_values(NEW), ranker.p_values(NEW))
    assert again.settings == ranker.settings
    assert again.diagnostics == ranker.diagnostics
    assert again.columns == ranker.columns


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame, pa.table, dict])
def test_columns_are_found_by_name_whatever_their_order_and_library(named, make):
    columns = {"label": ["x"] * 700, **{name: NEW[:, k] for k, name in reversed(list(enumerate(NAMES)))}}
    npt.assert_array_equal(named.uncertainty(make(columns)), named.uncertainty(NEW))


def test_absent_columns_are_refused_with_a_hint(named):
    with pytest.raises(ColumnError, match=r"lacks \['entropy'\].*Did you mean 'entropi'"):
        named.uncertainty(pd.DataFrame(NEW, columns=["entropi", *NAMES[1:]]))


def test_a_wrong_number_of_plain_columns_is_refused(named):
    with pytest.raises(TableError, match="fitted on 3 columns"):
        named.uncertainty(NEW[:, :2])


def test_a_confidence_column_is_flipped_at_fit_and_at_scoring_alike():
    frame = pd.DataFrame(ROWS, columns=NAMES)
    confident = frame.assign(entropy=-frame["entropy"])
    ranker = fit_ranker(ScoreTable.of(confident, flip=["entropy"]))
    npt.assert_array_equal(ranker.uncertainty(confident), fit_ranker(frame).uncertainty(frame))
    with pytest.raises(ColumnError, match=r"direction of \['entropy'\] differs"):
        ranker.uncertainty(ScoreTable.of(confident))


def test_an_unnamed_ranker_also_minds_the_direction():
    ranker = fit_ranker(ScoreTable.of(ROWS, flip=["x0"]), named=False)
    with pytest.raises(ColumnError, match=r"direction of \['x0'\] differs"):
        ranker.uncertainty(ScoreTable.of(NEW))
    npt.assert_array_equal(ranker.uncertainty(ScoreTable.of(NEW, flip=["x0"])), ranker.uncertainty(NEW))


def test_a_missing_value_makes_that_row_nan_and_changes_no_other(named):
    holed = NEW.copy()
    holed[3, 0], holed[8, 1], holed[8, 2] = np.nan, np.inf, np.nan
    with pytest.warns(
        MissingValueWarning, match="2 of 700 rows .*'entropy': 1, 'distance': 1, 'disagreement': 1"
    ) as told:
        ranking = named.rank(holed)
    assert len(told) == 1
    bad = np.isin(np.arange(700), [3, 8])
    assert np.isnan(ranking.uncertainty[bad]).all()
    assert np.isnan(ranking.p_values[bad]).all()
    npt.assert_array_equal(ranking.uncertainty[~bad], named.uncertainty(NEW)[~bad])


@pytest.mark.parametrize("shape", [(0, 3)])
def test_no_new_rows_give_no_scores(named, shape):
    ranking = named.rank(np.empty(shape))
    assert ranking.uncertainty.shape == (0,)
    assert ranking.images.shape == (0, 3)
    assert ranking.p_values.shape == (0,)


def test_integer_float32_readonly_and_strided_rows_are_scored_as_they_are(named):
    whole = np.arange(30).reshape(10, 3)
    npt.assert_array_equal(named.uncertainty(whole), named.uncertainty(whole.astype(float)))
    single = NEW.astype(np.float32)
    npt.assert_array_equal(named.uncertainty(single), named.uncertainty(single.astype(float)))
    frozen = NEW.copy()
    frozen.flags.writeable = False
    npt.assert_array_equal(named.uncertainty(frozen), named.uncertainty(NEW))
    npt.assert_array_equal(named.uncertainty(np.asfortranarray(NEW)), named.uncertainty(NEW))
    npt.assert_array_equal(named.uncertainty(np.repeat(NEW, 2, axis=0)[::2]), named.uncertainty(NEW))


def test_p_values_count_held_back_scores_at_least_as_large(named):
    score = named.uncertainty(NEW)
    brute = (1 + (named.calibration_scores[None] >= score[:, None]).sum(axis=1)) / (len(named.calibration_scores) + 1)
    npt.assert_allclose(named.p_values(NEW), brute, rtol=1e-15)


@pytest.mark.parametrize("alpha", [0.01, 0.05, 0.1])
def test_the_threshold_flags_exactly_the_rows_with_small_p_values(named, alpha):
    npt.assert_array_equal(named.uncertainty(NEW) > named.threshold(alpha), named.p_values(NEW) <= alpha * (1 + 1e-12))


def test_false_alarms_stay_below_alpha_on_average():
    """400 repetitions at n = 100 (50 held back); three standard errors of slack."""
    rng = np.random.default_rng(0)
    rates = []
    for _ in range(400):
        ranker = fit_ranker(rng.gamma(1.0, size=(100, 2)), Settings(n_targets=16))
        rates.append(np.mean(ranker.p_values(rng.gamma(1.0, size=(100, 2))) <= 0.05))
    assert np.mean(rates) <= 0.05 + 3 * np.std(rates) / np.sqrt(len(rates))
    assert np.mean(rates) > 0.02


def test_p_values_without_held_back_rows_say_why_not():
    ranker = fit_ranker(ROWS, Settings.paper())
    with pytest.raises(CalibrationError, match="holdback=0"):
        ranker.p_values(NEW)
    assert ranker.rank(NEW).p_values is None


def test_an_alpha_that_cannot_be_delivered_is_refused_with_the_smallest_that_can():
    ranker = fit_ranker(ROWS[:100])
    with pytest.raises(SettingError, match=r"alpha=0.01 needs at least 99 held-back rows; this model has 50, .*0.0196"):
        ranker.threshold(0.01)


def test_unnamed_rankers_take_frames_by_position():
    ranker = fit_ranker(ROWS, named=False)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        npt.assert_array_equal(ranker.uncertainty(pd.DataFrame(NEW, columns=NAMES)), ranker.uncertainty(NEW))
