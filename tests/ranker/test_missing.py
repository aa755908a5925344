"""Rows with holes: refused, left without a score, or scored by what is there."""

import numpy as np
import numpy.testing as npt
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import roc_auc_score

from vecuq import PartialFit, ScoreTable, Settings, VecUQ, fit_ranker, fit_stream, load
from vecuq.conformal import around, conformal_p_values, last_equal
from vecuq.errors import CalibrationError, ColumnError, MissingValueWarning, SettingError, TableError
from vecuq.ranker.missing import Pattern, marginal

ROWS = np.random.default_rng(0).gamma(1.0, size=(600, 4))
NEW = np.random.default_rng(1).gamma(1.2, size=(400, 4)) * 2
NAMES = ["entropy", "knn", "energy", "margin"]


def with_holes(rows, share=0.4, seed=2):
    holed = rows.copy()
    holed[np.random.default_rng(seed).random(rows.shape) < share] = np.nan
    return holed


def without(rows, *absent):
    holed = rows.copy()
    holed[:, absent] = np.nan
    return holed


@pytest.fixture(scope="module", params=["overshoot", "ball"])
def ranker(request):
    chosen = {"reference": "ball", "n_targets": 64} if request.param == "ball" else {}
    return fit_ranker(ROWS, Settings(**chosen))


@pytest.fixture(scope="module")
def plain():
    return fit_ranker(pd.DataFrame(ROWS, columns=NAMES))


def test_complete_rows_have_the_same_bits_whatever_becomes_of_others(ranker):
    holed = NEW.copy()
    holed[::3] = with_holes(NEW[::3])
    complete = np.isfinite(holed).all(axis=1)
    expected, got = ranker.rank(NEW), ranker.rank(holed, missing="marginal", warn=False)
    for name in ("uncertainty", "images", "p_values"):
        npt.assert_array_equal(getattr(got, name)[complete], getattr(expected, name)[complete])
    npt.assert_array_equal(ranker.rank(NEW, missing="marginal").uncertainty, expected.uncertainty)
    npt.assert_array_equal(ranker.rank(NEW, missing="error").uncertainty, expected.uncertainty)


def test_an_incomplete_row_has_the_mean_score_over_the_draws_before_it_is_matched(ranker):
    absent, draws = (1, 3), ranker.kept.draws
    brute = np.zeros(20)
    for draw in draws:
        filled = NEW[:20].copy()
        filled[:, absent] = draw[[1, 3]]
        brute += ranker.uncertainty(filled) / len(draws)
    npt.assert_allclose(
        marginal(ranker.rank_complete, without(NEW[:20], *absent), absent, ranker.kept.draws)[1], brute, rtol=1e-12
    )


def test_scores_with_holes_have_the_same_bits_alone_in_a_batch_and_from_a_file(ranker, tmp_path):
    holed = with_holes(NEW)[:30]
    together = ranker.rank(holed, missing="marginal", warn=False)
    alone = [ranker.rank(row[None], missing="marginal", warn=False) for row in holed]
    npt.assert_array_equal([one.uncertainty[0] for one in alone], together.uncertainty)
    npt.assert_array_equal([one.p_values[0] for one in alone], together.p_values)
    ranker.save(tmp_path / "m.vecuq")
    again = load(tmp_path / "m.vecuq").rank(holed, missing="marginal", warn=False)
    npt.assert_array_equal(again.uncertainty, together.uncertainty)
    npt.assert_array_equal(again.p_values, together.p_values)


def test_p_values_with_holes_count_held_back_rows_with_the_same_holes(plain):
    score = marginal(plain.rank_complete, without(NEW, 2), (2,), plain.kept.draws)[1]
    known = marginal(plain.rank_complete, without(plain.kept.held, 2), (2,), plain.kept.draws)[1]
    brute = (1 + (known[None] >= score[:, None]).sum(axis=1)) / (len(known) + 1)
    npt.assert_allclose(plain.p_values(without(NEW, 2), missing="marginal"), brute)


def test_the_p_value_and_the_score_of_an_incomplete_row_agree(plain):
    """A row without a column has the score of a complete row with its p-value, between two neighbours."""
    ranking = plain.rank(without(NEW, 0), missing="marginal")
    as_complete = (1 + (plain.calibration_scores[None] >= ranking.uncertainty[:, None]).sum(axis=1)) / 301
    npt.assert_allclose(as_complete, ranking.p_values)


def test_held_back_rows_without_a_column_are_spread_like_complete_ones(plain):
    matched = plain.uncertainty(without(plain.kept.held, 1), missing="marginal")
    npt.assert_allclose(np.sort(matched), plain.calibration_scores, rtol=1e-12)


def test_worth_is_increasing_and_goes_on_beyond_both_ends():
    pattern = Pattern(np.array([1.0, 2.0, 2.0, 3.0]), np.array([0.5, 1.0, 4.0, 6.0]))
    npt.assert_allclose(
        pattern.as_full_scores(np.array([0.0, 0.5, 1.0, 2.0, 2.5, 3.0, 10.0])), [0, 0.25, 0.5, 1, 5, 6, 13]
    )


@given(
    scores=st.lists(st.integers(0, 6).map(float), min_size=1, max_size=15).map(sorted).map(np.array),
    points=st.lists(st.floats(0, 9), min_size=1, max_size=15).map(np.array),
)
def test_a_full_score_exceeds_as_many_full_scores_as_the_score_exceeds_others(scores, points):
    pattern = Pattern(scores, 0.5 + 3.0 * np.arange(len(scores)) ** 2)
    points = np.concatenate([points, scores, np.nextafter(scores, 9), *around(scores), last_equal(scores)])
    points = np.sort(np.concatenate([points, np.nextafter(points, 9)]))
    worth = pattern.as_full_scores(points)
    npt.assert_array_equal(conformal_p_values(worth, pattern.full), conformal_p_values(points, scores))
    assert (np.diff(worth) >= 0).all()


def test_thresholds_and_p_values_agree_between_the_levels_of_a_discrete_column():
    rng = np.random.default_rng(0)
    ranker = fit_ranker(np.column_stack([rng.integers(0, 4, size=600).astype(float), rng.random(600)]))
    sweep = np.column_stack([np.linspace(0, 3.5, 701), np.full(701, np.nan)])
    ranking = ranker.rank(sweep, missing="marginal")
    for alpha in np.linspace(0.02, 0.9, 23):
        npt.assert_array_equal(ranking.uncertainty > ranker.threshold(alpha), ranking.p_values <= alpha)
    assert (np.diff(ranking.p_values[np.argsort(ranking.uncertainty, kind="stable")]) <= 0).all()


@pytest.mark.parametrize("m", [2, 4])
def test_raising_what_is_left_never_lowers_the_score(m):
    ranker = fit_ranker(ROWS[:, :m])
    low = without(NEW[:, :m] * np.geomspace(0.1, 1e3, 400)[:, None], 0)
    high = low.copy()
    high[:, 1] += np.random.default_rng(3).exponential(size=400)
    before, after = (ranker.uncertainty(rows, missing="marginal") for rows in (low, high))
    assert (after >= before - 1e-12 * before).all()


@pytest.mark.parametrize("absent", range(4))
def test_foreign_rows_are_found_without_a_column_nearly_as_well(absent):
    """All columns see the shift; the order must be that of a ranker fitted without the column."""
    rng = np.random.default_rng(4)
    shared = rng.gamma(1.0, size=(3000, 1))
    rows = shared + rng.gamma(1.0, size=(3000, 4))
    rows[2000:] += 2.0
    foreign = np.arange(1000, 3000) >= 2000
    ranker = fit_ranker(rows[:1000])
    full = roc_auc_score(foreign, ranker.uncertainty(rows[1000:]))
    holed = roc_auc_score(foreign, ranker.uncertainty(without(rows[1000:], absent), missing="marginal"))
    others = [k for k in range(4) if k != absent]
    fitted_without = fit_ranker(rows[:1000, others]).uncertainty(rows[1000:, others])
    assert holed > full - 0.02
    assert abs(holed - roc_auc_score(foreign, fitted_without)) < 0.003


def test_contributions_of_rows_with_holes_add_up_too(ranker):
    holed = with_holes(NEW)[:30]
    got = ranker.explain(holed, missing="marginal")
    score = ranker.uncertainty(holed, missing="marginal", warn=False)
    npt.assert_allclose(ranker.baseline + got.sum(axis=1), score, atol=1e-9, equal_nan=True)


def test_single_precision_rows_with_holes_are_scored_as_they_are(ranker):
    single = with_holes(NEW)[:20].astype(np.float32)
    got, expected = (ranker.rank(rows, missing="marginal", warn=False) for rows in (single, single.astype(float)))
    npt.assert_array_equal(got.uncertainty, expected.uncertainty)


def test_no_rows_or_only_rows_with_holes_are_no_error(ranker):
    assert ranker.rank(np.empty((0, 4)), missing="marginal").uncertainty.shape == (0,)
    assert np.isfinite(ranker.uncertainty(without(NEW[:3], 0), missing="marginal")).all()


def test_a_row_with_nothing_left_or_an_infinity_gets_no_score(plain):
    odd = NEW[:3].copy()
    odd[0], odd[1, 2] = np.nan, np.inf
    with pytest.warns(MissingValueWarning, match="2 of 3 rows"):
        assert np.isnan(plain.uncertainty(odd, missing="marginal")).tolist() == [True, True, False]


def test_a_hole_in_a_constant_column_changes_nothing():
    rows, new = np.column_stack([ROWS[:, :2], np.ones(600)]), np.column_stack([NEW[:, :2], np.ones(400)])
    ranker = fit_ranker(rows)
    npt.assert_array_equal(ranker.uncertainty(without(new, 2), missing="marginal"), ranker.uncertainty(new))


@pytest.mark.parametrize("make", [pd.DataFrame, pa.table, dict, lambda d: ScoreTable.of(pd.DataFrame(d))])
def test_a_column_that_is_not_there_is_missing_in_every_row(plain, make):
    data = {name: NEW[:, k] for k, name in enumerate(NAMES) if name != "energy"}
    with pytest.warns(MissingValueWarning, match=r"lacks \['energy'\]"):
        got = plain.uncertainty(make(data), missing="marginal")
    npt.assert_array_equal(got, plain.uncertainty(without(NEW, 2), missing="marginal"))
    with pytest.raises(ColumnError, match="lacks"):
        plain.uncertainty(make(data))


def test_a_table_with_no_fitted_column_is_refused_even_so(plain):
    with pytest.raises(ColumnError, match="lacks"):
        plain.uncertainty(pd.DataFrame({"other": [0.5]}), missing="marginal")


def test_a_flipped_column_may_be_missing():
    frame = pd.DataFrame(ROWS, columns=NAMES)
    turned = frame.assign(knn=-frame["knn"])
    ranker, new = fit_ranker(ScoreTable.of(turned, flip=["knn"])), pd.DataFrame(NEW, columns=NAMES)
    expected = fit_ranker(frame).uncertainty(without(NEW, 0, 1), missing="marginal")
    with pytest.warns(MissingValueWarning):
        npt.assert_array_equal(ranker.uncertainty(new[["energy", "margin"]], missing="marginal"), expected)


def test_error_names_the_columns_and_their_holes(plain):
    with pytest.raises(TableError, match=r"missing='error' .*1 of 400 have some .*'knn': 1"):
        plain.uncertainty(np.concatenate([without(NEW[:1], 1), NEW[1:]]), missing="error")


@pytest.mark.parametrize(
    "fitted",
    [
        lambda: fit_ranker(ROWS, Settings.paper()),
        lambda: PartialFit(settings=Settings(holdback=0.0), n_rows=10**6).update(ROWS).fit(),
    ],
)
def test_without_held_back_rows_nothing_can_be_compared(fitted):
    with pytest.raises(CalibrationError, match="missing='marginal' compares"):
        fitted().uncertainty(NEW, missing="marginal")


def test_an_unknown_choice_is_refused(plain):
    with pytest.raises(SettingError, match="Did you mean 'marginal'"):
        plain.uncertainty(NEW, missing="marginals")
    with pytest.raises(SettingError, match="missing must be one of"):
        VecUQ(missing="drop").fit(ROWS)


def test_a_ranker_fitted_from_chunks_keeps_draws_apart_from_the_rows_they_are_compared_with():
    many = np.random.default_rng(5).random((9000, 2))
    ranker = fit_stream(lambda: (ScoreTable.of(part) for part in np.split(many, 3)))
    drawn, held = ({tuple(row) for row in rows} for rows in (ranker.kept.draws, ranker.kept.held))
    assert len(drawn) == 32
    assert not drawn & held
    assert len(held) == ranker.diagnostics.n_held - 32
    p_values = ranker.p_values(without(np.random.default_rng(6).random((2000, 2)), 1), missing="marginal")
    assert abs(np.mean(p_values <= 0.1) - 0.1) < 0.03


def test_the_estimator_decides_on_rows_with_holes_when_it_is_told_to():
    model = VecUQ(missing="marginal").fit(ROWS)
    holed = with_holes(NEW)[:50]
    holed = holed[np.isfinite(holed).any(axis=1)]
    assert set(model.predict(holed)) <= {-1, 1}
    npt.assert_array_equal(model.uncertainty(holed), model.ranker_.uncertainty(holed, missing="marginal"))
    npt.assert_array_equal(model.transform(NEW), VecUQ().fit(ROWS).transform(NEW))
    assert np.isfinite(model.transform(holed)).all()
    with pytest.raises(TableError, match="NaN or inf"):
        model.predict(np.full((1, 4), np.nan))
    with pytest.raises(TableError, match="missing='error'"):
        VecUQ(missing="error").fit(ROWS).uncertainty(holed)
