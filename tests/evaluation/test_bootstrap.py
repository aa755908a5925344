import numpy as np
import numpy.testing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st
from orders_of_ties import tied_rows

from vecuq.errors import SettingError
from vecuq.evaluation import METRICS, Bootstrap, Estimate, rejection_ratio, roc_auc
from vecuq.evaluation import bootstrap as module
from vecuq.evaluation.bootstrap import block_sizes, interval, resampled, row_counts
from vecuq.evaluation.inputs import defect

# One more than the registry: a share at which the curve is cut inside a group.
ALL = (*METRICS, rejection_ratio(0.8))


@given(tied_rows(most=12), st.integers(0, 2**31))
def test_a_resample_is_worth_what_its_rows_are_worth_written_out(rows, seed):
    score, target = rows
    counts = row_counts(len(score), 3, np.random.SeedSequence(seed).spawn(1)[0])
    draws = resampled(score[None], target, [one.kernel for one in ALL], Bootstrap(3, random_state=seed))
    for b in range(3):
        drawn = np.repeat(np.arange(len(score)), counts[:, b].astype(int))
        if defect(score[drawn], target[drawn]) is not None:
            continue  # missing by rule, whatever the kernel says
        for k, metric in enumerate(ALL):
            expected = metric.function(score[drawn], target[drawn])
            assert draws[k, 0, b] == pytest.approx(expected, abs=1e-12, nan_ok=True), metric.key


def test_every_resample_has_as_many_rows_as_there_are():
    counts = row_counts(50, 200, np.random.SeedSequence(0))
    npt.assert_array_equal(counts.sum(axis=0), 50)
    npt.assert_allclose(counts.mean(axis=1), 1.0, atol=0.4)  # the standard error is 0.07
    assert counts.var() == pytest.approx(1 - 1 / 50, abs=0.05)


def test_blocks_cover_all_resamples_however_many_rows_there_are():
    for n_rows in (1, 1_000, 10_000_000):
        assert sum(block_sizes(n_rows, 37)) == 37
    assert block_sizes(10, 0) == []


def test_the_number_of_cores_does_not_change_the_draws(monkeypatch):
    rng = np.random.default_rng(0)
    score, target = rng.normal(size=(2, 3_000)), (rng.random(3_000) < 0.3).astype(float)
    kernels, size = [METRICS[0].kernel], block_sizes(3_000, 10_000)[0]
    monkeypatch.setattr(module.os, "cpu_count", lambda: 1)
    alone = resampled(score, target, kernels, Bootstrap(3 * size))
    monkeypatch.setattr(module.os, "cpu_count", lambda: 4)
    npt.assert_array_equal(alone, resampled(score, target, kernels, Bootstrap(3 * size)))
    assert len(np.unique(alone[0, 0])) > 2.5 * size  # three blocks, and none repeats the draws of another


def test_intervals_hold_the_truth_about_as_often_as_they_say():
    """Normal scores one standard deviation apart have the ROC-AUC 0.7602."""
    rng, held = np.random.default_rng(1), 0
    truth = 0.76024993890652
    for seed in range(200):
        target = (rng.random(150) < 0.5).astype(float)
        score = rng.normal(size=150) + target
        draws = resampled(score[None], target, [METRICS[0].kernel], Bootstrap(200, random_state=seed))[0, 0]
        found = interval(roc_auc(score, target), draws, 150, 0.9)
        held += found.low <= truth <= found.high
    # 180 expected, with a standard deviation of 4.2.
    assert 163 <= held <= 195


def test_resamples_without_a_value_are_left_out_and_too_many_of_them_leave_no_interval():
    draws = np.arange(100.0)
    draws[:5] = np.nan
    found = interval(50.0, draws, 7, 0.5)
    assert (found.low, found.high, found.reason) == (28.5, 75.5, None)
    draws[:20] = np.nan
    found = interval(50.0, draws, 7, 0.5)
    assert found.value == 50.0
    assert np.isnan([found.low, found.high]).all()
    assert found.reason == "no interval: the metric exists on only 80 of 100 resamples"


def test_an_interval_on_one_side_of_zero_excludes_it():
    assert Estimate(0.1, 0.05, 0.2, 9).excludes_zero
    assert Estimate(-0.1, -0.2, -0.05, 9).excludes_zero
    assert not Estimate(0.1, -0.05, 0.2, 9).excludes_zero
    assert not Estimate(0.1, np.nan, np.nan, 9).excludes_zero


@pytest.mark.parametrize(
    "settings", [{"resamples": -1}, {"resamples": 2.5}, {"level": 1.0}, {"level": 0}, {"random_state": -3}]
)
def test_settings_that_cannot_be_are_refused(settings):
    with pytest.raises(SettingError, match=next(iter(settings))):
        Bootstrap(**settings)
