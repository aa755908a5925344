import warnings
from itertools import pairwise

import numpy as np
import numpy.testing as npt
import pandas as pd
import pytest

from vecuq import PartialFit, ScoreTable, Settings, VecUQ, fit_ranker, fit_stream, load
from vecuq.errors import CalibrationWarning, ColumnError, SettingError

ROWS = np.random.default_rng(0).gamma(1.0, size=(9000, 3))
NEW = np.random.default_rng(1).gamma(1.2, size=(500, 3)) * 2
RANGES = {
    f"x{k}": (float(low), float(high)) for k, (low, high) in enumerate(zip(ROWS.min(0), ROWS.max(0), strict=True))
}
ALL = Settings(holdback=0.0)


def exact(settings=ALL):
    from dataclasses import replace

    return fit_ranker(ROWS, replace(settings, solver="separable"))


def poured(rows, *, settings=ALL, first_row=0, **how):
    """Gather rows of which none is held back and none kept: all go into the sketch."""
    return PartialFit(settings=settings, n_rows=10**6, **how).update(rows, first_row=first_row)


@pytest.mark.parametrize("ranges", [None, RANGES])
def test_parts_fit_to_the_same_ranker_as_all_rows(ranges):
    parts = [poured(ROWS[a:b], first_row=a, ranges=ranges) for a, b in pairwise([0, 1000, 7000, 9000])]
    ranker = sum(parts).fit()
    assert ranker.diagnostics.solver == "sketch"
    assert ranker.diagnostics.n_map == 9000
    npt.assert_allclose(ranker.uncertainty(NEW), exact().uncertainty(NEW), atol=1e-8)


@pytest.mark.parametrize("reference", ["beta", "exponential", "beta(2, 2)"])
@pytest.mark.parametrize("scaling", ["featurewise", "global"])
@pytest.mark.parametrize("epsilon", [2.0, 0.5, 0.3])
def test_all_ways_to_solve_agree(reference, scaling, epsilon):
    base = {
        "reference": reference,
        "scaling": scaling,
        "epsilon": epsilon,
        "holdback": 0.0,
        "n_targets": 125,
        "tol": 1e-11,
    }
    rankers = {way: fit_ranker(ROWS[:2000], Settings(solver=way, **base)) for way in ("separable", "sketch", "dense")}
    scores = {way: ranker.uncertainty(NEW) for way, ranker in rankers.items()}
    assert [r.diagnostics.solver for r in rankers.values()] == ["separable", "sketch", "dense"]
    npt.assert_allclose(scores["sketch"], scores["separable"], atol=1e-8)
    npt.assert_allclose(scores["dense"], scores["separable"], atol=1e-8)


def test_auto_takes_the_sketch_for_many_rows_and_the_rows_for_few_or_steep_kernels():
    assert fit_ranker(ROWS, Settings(n_targets=1000)).diagnostics.solver == "separable"
    assert fit_ranker(ROWS, Settings(n_targets=1000, holdback=0.1)).diagnostics.solver == "sketch"
    assert fit_ranker(ROWS[:1000]).diagnostics.solver == "separable"
    assert fit_ranker(ROWS, Settings(epsilon=0.02, holdback=0.1, tol=1e-6)).diagnostics.solver.startswith("separable")


def test_a_sketch_that_is_not_accurate_enough_is_refused():
    for settings in (Settings(epsilon=0.1, holdback=0.0), Settings(scaling="quantile", holdback=0.0)):
        with pytest.raises(SettingError, match="a sketch too small for these settings"):
            poured(ROWS).fit(settings)
    for settings in (
        Settings(solver="sketch", grid="authors", n_targets=200),
        Settings(solver="sketch", reference="ball"),
    ):
        with pytest.raises(SettingError, match="needs a full Cartesian grid"):
            fit_ranker(ROWS, settings)


def test_wider_ranges_than_the_rows_do_not_change_the_scale():
    wide = {name: (low - 0.5, 1.2 * high) for name, (low, high) in RANGES.items()}
    ranker = poured(ROWS, ranges=wide).fit()
    npt.assert_allclose(ranker.uncertainty(NEW), exact().uncertainty(NEW), atol=1e-8)


def test_a_constant_column_is_left_out_of_a_sketch_too():
    constant = np.column_stack([ROWS, np.full(len(ROWS), 2.0)])
    ranker = poured(constant).fit()
    assert ranker.diagnostics.constant_columns == ("x3",)
    npt.assert_allclose(ranker.uncertainty(np.column_stack([NEW, NEW[:, 0]])), exact().uncertainty(NEW), atol=1e-8)


@pytest.mark.parametrize("ranges", [{"x0": (0, 1)}, {**RANGES, "x2": (1.0, 0.0)}, {**RANGES, "x2": (0.0, np.inf)}])
def test_wrong_ranges_are_refused(ranges):
    with pytest.raises((ColumnError, SettingError)):
        poured(ROWS, ranges=ranges)


def exactly_without(held):
    """Fit the map of all rows but some, in the exact way."""
    is_held = (ROWS[:, None, 0] == held[:, 0]).any(axis=1)
    return fit_ranker(ROWS[~is_held], Settings(holdback=0.0, solver="separable"))


@pytest.mark.parametrize("sizes", [[9000], [1, 4000, 4999], [3000, 0, 6000], [1000] * 9])
def test_streaming_gives_the_ranker_of_all_rows_at_once(sizes):
    bounds = np.cumsum([0, *sizes])

    def chunks():
        return (ScoreTable.of(ROWS[a:b]) for a, b in pairwise(bounds))

    streamed, at_once = fit_stream(chunks), fit_stream(lambda: [ScoreTable.of(ROWS)])
    npt.assert_allclose(streamed.calibration_scores, at_once.calibration_scores, atol=1e-12)
    assert streamed.diagnostics.n_held == pytest.approx(4500, abs=200)
    held = np.concatenate([streamed.kept.held, streamed.kept.draws])
    npt.assert_allclose(streamed.uncertainty(NEW), exactly_without(held).uncertainty(NEW), atol=1e-8)


def test_partial_fit_in_chunks_scores_like_one_fit():
    model = VecUQ(holdback=0.0, ranges=list(RANGES.values()))
    for part in np.split(ROWS, 3):
        model.partial_fit(part)
    npt.assert_allclose(model.uncertainty(NEW), exact().uncertainty(NEW), atol=1e-8)
    assert model.diagnostics_.n_map == 9000


def test_partial_fit_holds_rows_back_and_gives_p_values():
    frame = pd.DataFrame(ROWS, columns=["a", "b", "c"])
    model = VecUQ(ranges=dict(zip("abc", RANGES.values(), strict=True)))
    for start in (0, 3000, 6000):
        model.partial_fit(frame[start : start + 3000])
    assert model.diagnostics_.n_held == pytest.approx(4500, abs=200)
    p = model.p_values(pd.DataFrame(np.random.default_rng(5).gamma(1.0, size=(4000, 3)), columns=["a", "b", "c"]))
    assert np.mean(p <= 0.1) == pytest.approx(0.1, abs=0.02)


def test_partial_fit_needs_no_ranges():
    model = VecUQ(holdback=0.0)
    for part in (ROWS[:200], ROWS[200:6000], ROWS[6000:]):
        model.partial_fit(part)
    npt.assert_allclose(model.uncertainty(NEW), exact().uncertainty(NEW), atol=1e-8)


def test_partial_fit_works_from_the_first_small_chunk_on():
    model = VecUQ(ranges=np.array(list(RANGES.values())), anchor_mass=0.2)
    for start in range(0, 500, 50):
        model.partial_fit(pd.DataFrame(ROWS[start : start + 50], columns=["a", "b", "c"]))
    model.partial_fit(pd.DataFrame(ROWS[500:501], columns=["a", "b", "c"]))
    assert model.diagnostics_.n_map + model.diagnostics_.n_held == 501
    assert model.diagnostics_.solver == "separable"
    model.partial_fit(pd.DataFrame(ROWS[501:], columns=["a", "b", "c"]))
    assert model.diagnostics_.n_map + model.diagnostics_.n_held == 9000


def test_a_chunk_that_cannot_be_fitted_leaves_everything_as_it_was():
    model = VecUQ(ranges=[(0.0, 30.0)] * 3)
    with pytest.raises(ValueError, match="identical"):
        model.partial_fit(np.ones((10, 3)))
    model.partial_fit(ROWS[:300])
    assert model.diagnostics_.n_map == 150


def test_ranges_are_given_in_the_direction_of_the_data():
    confident = pd.DataFrame({"a": ROWS[:, 0], "c": 1.0 / (1.0 + ROWS[:, 1])})
    model = VecUQ(flip=["c"], ranges={"a": RANGES["x0"], "c": (0.0, 1.0)}, holdback=0.0)
    for part in (confident[:4000], confident[4000:]):
        model.partial_fit(part)
    whole = VecUQ(flip=["c"], holdback=0.0, solver="separable").fit(confident)
    npt.assert_allclose(model.uncertainty(confident[:300]), whole.uncertainty(confident[:300]), atol=1e-8)


def test_the_rows_held_back_are_capped_over_all_chunks(monkeypatch):
    monkeypatch.setattr("vecuq.ranker.partial.MOST_HELD", 700)
    model = VecUQ(ranges=list(RANGES.values()))
    for part in np.split(ROWS, 3):
        model.partial_fit(part)
    assert model.diagnostics_.n_held == 700


@pytest.mark.parametrize("reference", ["exponential", "beta(2, 5)"])
def test_streaming_works_for_wider_references(reference):
    settings = Settings(reference=reference, holdback=0.0)
    streamed = fit_stream(lambda: (ScoreTable.of(part) for part in np.split(ROWS[:, :2], 3)), settings)
    whole = fit_ranker(ROWS[:, :2], Settings(reference=reference, holdback=0.0, solver="separable"))
    npt.assert_allclose(streamed.uncertainty(NEW[:, :2]), whole.uncertainty(NEW[:, :2]), atol=1e-8)


@pytest.mark.parametrize("settings", [Settings(epsilon=0.05, tol=1e-6), Settings(scaling="quantile")], ids=str)
def test_where_a_sketch_cannot_serve_a_sample_does_and_says_so(settings, monkeypatch):
    monkeypatch.setattr("vecuq.ranker.sampled.MOST_SAMPLED", 3000)
    with pytest.warns(CalibrationWarning, match="a random sample of 3,000 fits the map"):
        sampled = fit_stream(lambda: (ScoreTable.of(part) for part in np.split(ROWS[:, :2], 3)), settings)
    assert sampled.diagnostics.n_sampled == 3000
    assert sampled.diagnostics.n_map + sampled.diagnostics.n_held == 9000
    whole = fit_ranker(ROWS[:, :2], settings)
    assert np.abs(sampled.uncertainty(NEW[:, :2]) - whole.uncertainty(NEW[:, :2])).max() < 0.1
    assert load(sampled.to_bytes()).diagnostics == sampled.diagnostics


def test_rows_far_from_zero_lose_no_digits_in_a_sketch():
    far = ROWS[:, :2] + 1e9
    streamed = fit_stream(lambda: (ScoreTable.of(part) for part in np.split(far, 3)), ALL)
    whole = fit_ranker(far, Settings(holdback=0.0, solver="separable"))
    npt.assert_allclose(streamed.uncertainty(far[:300]), whole.uncertainty(far[:300]), atol=1e-8)


@pytest.mark.parametrize(("holdback", "size"), [(0.5, 1), (0.5, 3), (0.2, 1), (0.8, 7)])
def test_partial_fit_holds_back_the_share_however_small_the_chunks(holdback, size):
    rows = np.random.default_rng(4).random((60, 2))
    model = VecUQ(holdback=holdback, ranges=np.array([[0.0, 1.0], [0.0, 1.0]]), epsilon=2.0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.partial_fit(rows[:20])
        for start in range(20, 60, size):
            model.partial_fit(rows[start : start + size])
    assert model.diagnostics_.n_held == int(holdback * 60)
    assert model.diagnostics_.n_map == 60 - int(holdback * 60)
    assert len(model.ranker_.calibration_scores) == int(holdback * 60)
