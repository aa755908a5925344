"""The dominance tail: its definition, its order, its bits, and what it refuses."""

import numpy as np
import numpy.testing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vecuq import ScoreTable, Settings, VecUQ, fit_ranker, fit_stream, load, sketch
from vecuq.errors import CalibrationWarning, SettingError
from vecuq.ranker.dominance import Surprise, fit_dominance, skyband

ROWS = np.random.default_rng(0).gamma(1.0, size=(500, 3))
NEW = np.random.default_rng(1).gamma(1.2, size=(300, 3)) * 2
DOMINANCE = Settings(tail="dominance")

grids = st.tuples(st.integers(2, 40), st.integers(1, 4), st.integers(0, 10**6), st.integers(2, 9)).map(
    lambda t: np.random.default_rng(t[2]).integers(0, t[3], size=t[:2]).astype(float)
)


@pytest.fixture(scope="module")
def ranker():
    return fit_ranker(ROWS, DOMINANCE)


def brute_distance(point, rows, scale, nth):
    return np.sort(np.linalg.norm(np.maximum((point - rows) / scale, 0.0), axis=1))[nth - 1]


def brute_surprise(value, known):
    """-log of the linearly interpolated (#>=) / (n + 1), and of an exponential tail beyond the largest."""
    places = np.unique(np.append(known, 0.0))
    shares = [1.0 if place == 0 < known.min() else np.sum(known >= place) / (len(known) + 1) for place in places]
    high = np.quantile(known, 0.9)
    excess = (known[known > high] - high).mean()
    return -np.log(np.interp(value, places, shares)) + max(value - known.max(), 0.0) / excess


def test_the_score_is_the_definition_row_by_row(ranker):
    """D and its leave-one-out law from all rows of the map, one after the other."""
    held = {tuple(row) for row in ranker.kept.held}
    mapped = np.array([row for row in ROWS if tuple(row) not in held])
    scale = np.quantile(mapped, 0.98, axis=0) - mapped.min(axis=0)
    length = np.linalg.norm(ranker.transform(mapped), axis=1)
    alone = [brute_distance(row, np.delete(mapped, i, axis=0), scale, 5) for i, row in enumerate(mapped)]
    new = np.concatenate([NEW[:40], NEW[:10] * 20])
    core = [brute_surprise(x, length) for x in np.linalg.norm(ranker.transform(new), axis=1)]
    tail = [brute_surprise(brute_distance(row, mapped, scale, 5), np.array(alone)) for row in new]
    npt.assert_allclose(ranker.uncertainty(new), np.logaddexp(core, np.log(0.3) + tail), rtol=1e-9)


@given(rows=grids, depth=st.integers(1, 6), seed=st.integers(0, 10**6))
@settings(max_examples=60)
def test_the_rows_of_the_band_give_the_distances_of_all_rows(rows, depth, seed):
    band = rows[skyband(rows, depth)]
    scale = np.ones(rows.shape[1])
    nth = min(depth, len(rows))
    for point in np.random.default_rng(seed).uniform(-1, 10, size=(5, rows.shape[1])):
        assert brute_distance(point, band, scale, nth) == brute_distance(point, rows, scale, nth)


def test_the_band_is_much_smaller_than_the_rows():
    assert len(skyband(np.random.default_rng(0).gamma(1.0, size=(5000, 3)), 5)) < 500


@pytest.mark.parametrize("m", [2, 3, 4])
@pytest.mark.parametrize("kind", ["independent", "correlated", "discrete"])
def test_raising_a_column_never_lowers_the_score(m, kind):
    rng = np.random.default_rng(2)
    own = rng.gamma(1.0, size=(600, m))
    rows = {"independent": own, "correlated": rng.gamma(1.0, size=(600, 1)) + 0.3 * own, "discrete": own.round()}[kind]
    fitted = fit_ranker(rows, DOMINANCE)
    start = rng.uniform(-0.3, 1.7, size=(5000, m)) * rows.max(axis=0)
    start[:1000] *= 10 ** rng.uniform(0, 6, size=(1000, 1))
    bumped = start.copy()
    bumped[np.arange(5000), rng.integers(m, size=5000)] += 10 ** rng.uniform(-6, 1, size=5000)
    before, after = fitted.uncertainty(start), fitted.uncertainty(bumped)
    assert np.count_nonzero(after < before - 8 * np.spacing(np.abs(before))) == 0
    assert fitted.diagnostics.monotone_violations == 0.0


def test_far_rows_keep_their_order(ranker):
    far = np.geomspace(1, 1e6, 200)[:, None] * ROWS.max(axis=0)
    one = np.tile(np.median(ROWS, axis=0), (200, 1))
    one[:, 1] = far[:, 1]
    for rows in (far, one):
        assert (np.diff(ranker.uncertainty(rows)) > 0).all()


def test_scores_have_the_same_bits_alone_in_a_batch_and_from_a_file(ranker, tmp_path):
    together = ranker.uncertainty(NEW)
    npt.assert_array_equal([ranker.uncertainty(row[None])[0] for row in NEW], together)
    npt.assert_array_equal(ranker.uncertainty(np.tile(NEW, (200, 1)))[-300:], together)
    ranker.save(tmp_path / "m.vecuq")
    again = load(tmp_path / "m.vecuq")
    npt.assert_array_equal(again.uncertainty(NEW), together)
    npt.assert_array_equal(again.p_values(NEW), ranker.p_values(NEW))
    assert again.settings == ranker.settings


def test_the_estimator_and_the_other_settings_take_part():
    model = VecUQ(tail="dominance", scaling="quantile", n_jobs=1).fit(ROWS)
    npt.assert_array_equal(
        model.uncertainty(NEW), fit_ranker(ROWS, Settings(tail="dominance", scaling="quantile")).uncertainty(NEW)
    )
    npt.assert_array_equal(model.predict(NEW) == -1, model.p_values(NEW) <= 0.05)


def test_the_default_tail_is_as_it_was():
    npt.assert_array_equal(
        fit_ranker(ROWS).uncertainty(NEW), fit_ranker(ROWS, Settings(tail="overshoot")).uncertainty(NEW)
    )
    assert fit_ranker(ROWS).dominance is None


def test_no_score_is_nan_or_infinite_up_to_1e300(ranker):
    extreme = [1e300, -1e300, 0.0, 1e-300, 1e150]
    assert np.isfinite(ranker.uncertainty([[a, b, c] for a in extreme for b in extreme for c in extreme])).all()


@pytest.mark.parametrize("n", [2, 3, 5, 7])
def test_a_handful_of_rows_is_enough(n):
    with pytest.warns(CalibrationWarning):
        fitted = fit_ranker(ROWS[:n], Settings(tail="dominance", holdback=0.0))
    assert np.isfinite(fitted.uncertainty(NEW)).all()


def test_rows_that_repeat_have_no_distance_but_an_order():
    rows = np.random.default_rng(3).integers(0, 2, size=(300, 2)).astype(float)
    fitted = fit_ranker(rows, DOMINANCE)
    low, high, beyond = fitted.uncertainty([[0, 0], [1, 1], [3, 3]])
    assert low < high < beyond


def test_surprise_starts_at_zero_and_goes_on_beyond_the_largest():
    known = Surprise.of(np.array([1.0, 2.0, 3.0, 4.0]))
    npt.assert_allclose(known(np.array([0.0, 1.0, 4.0])), [0.0, -np.log(0.8), np.log(5)])
    assert known(np.array([5.0]))[0] > np.log(5)
    assert (np.diff(known(np.linspace(0, 10, 200))) > 0).all()


def test_a_scale_of_zero_falls_back_to_the_range():
    rows = np.zeros((200, 2))
    rows[:, 0], rows[0, 1] = np.arange(200), 1.0
    npt.assert_array_equal(fit_dominance(rows, np.arange(200.0)).scale > 0, True)


def test_signed_scores_sketches_and_streams_are_refused():
    with pytest.raises(SettingError, match="signed"):
        Settings(tail="dominance", reference="ball")
    with pytest.raises(SettingError, match="a sketch keeps none"):
        fit_ranker(sketch(ROWS), DOMINANCE)
    with pytest.raises(SettingError, match="tail='overshoot'"):
        fit_stream(lambda: iter([ScoreTable.of(ROWS)]), DOMINANCE)
    with pytest.raises(SettingError, match="tail must be one of"):
        Settings(tail="none")
