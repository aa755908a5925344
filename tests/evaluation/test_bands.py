"""Intervals of curves: they hold what they promise, agree with an independent computation, and know their limits."""

import numpy as np
import numpy.testing as npt
import pytest
from scipy.stats import binomtest, t

from vecuq.errors import SettingError, TableError
from vecuq.evaluation import curve_bands, kept_band, prediction_rejection_curve, risk_coverage_curve, selective_curves


def test_of_labels_it_is_the_interval_of_clopper_and_pearson_among_the_rows_kept():
    rng = np.random.default_rng(0)
    score, wrong = rng.random(40), (rng.random(40) < 0.3).astype(float)
    band = kept_band(score, wrong, level=0.9)
    order = np.argsort(score)
    for k in (1, 7, 25, 40):
        exact = binomtest(int(wrong[order[:k]].sum()), k).proportion_ci(0.9, method="exact")
        npt.assert_allclose([band.low[k - 1], band.high[k - 1]], [exact.low, exact.high], atol=1e-9)


def test_of_qualities_it_is_students_interval():
    rng = np.random.default_rng(1)
    score, quality = rng.random(60), rng.normal(size=60)
    band = kept_band(score, quality, level=0.8)
    kept = quality[np.argsort(score)[:30]]
    low, high = t.interval(0.8, 29, kept.mean(), kept.std(ddof=1) / np.sqrt(30))
    npt.assert_allclose([band.low[29], band.high[29]], [low, high])
    assert np.isnan(band.low[:9]).all()
    assert np.isfinite(band.low[9:]).all()


def test_the_band_holds_the_error_rate_below_the_uncertainty_as_often_as_it_says():
    """The error rate at uncertainty u is u; of all rows up to u it is u / 2."""
    inside, shares = [], None
    for seed in range(400):
        rng = np.random.default_rng(seed)
        score = rng.random(120)
        band = kept_band(score, (rng.random(120) < score).astype(float), level=0.9)
        counts = (band.share * 120).round().astype(int)
        # Given the next uncertainty, the rows kept are draws from all below it.
        following = np.append(np.sort(score), 1.0)[counts]
        inside.append((band.low <= following / 2) & (following / 2 <= band.high))
        shares = band.share
    found = np.mean(inside, axis=0)[shares >= 0.1]
    assert found.min() >= 0.9 - 3 * np.sqrt(0.9 * 0.1 / 400)


@pytest.mark.parametrize("graded", [False, True])
def test_groups_that_agree_widen_the_band_to_that_of_so_many_rows(graded):
    rng = np.random.default_rng(2)
    score, aim = rng.random(40), rng.random(40) if graded else (rng.random(40) < 0.4).astype(float)
    alone = kept_band(score, np.where(aim == aim[0], aim + 1e-9, aim))  # no longer 0 or 1: Student's too
    together = kept_band(np.repeat(score, 5), np.repeat(aim, 5), groups=np.repeat(np.arange(40), 5))
    at = np.isin(together.share.round(9), alone.share.round(9))
    again = np.isin(alone.share.round(9), together.share.round(9))
    known = np.isfinite(alone.low[again])
    assert known.sum() > 5
    npt.assert_allclose(together.low[at][known], alone.low[again][known], atol=1e-6)


def test_equal_uncertainties_have_the_interval_of_their_mean():
    band = kept_band(np.zeros(20), np.array([0.0, 1.0] * 10))
    npt.assert_allclose(0.5 * (band.low + band.high), 0.5, atol=1e-9)
    graded = kept_band(np.zeros(40), np.array([0.2, 0.8] * 20))
    npt.assert_allclose(0.5 * (graded.low + graded.high)[-1], 0.5)


def test_it_does_not_depend_on_the_order_of_the_rows():
    rng = np.random.default_rng(3)
    score, quality, groups = rng.integers(0, 9, 80), rng.random(80), rng.integers(0, 20, 80)
    order = rng.permutation(80)
    for one, other in zip(
        kept_band(score, quality, groups=groups),
        kept_band(score[order], quality[order], groups=groups[order]),
        strict=True,
    ):
        npt.assert_allclose(one, other)


def test_few_groups_have_no_interval_and_no_rows_no_point():
    assert np.isnan(kept_band(np.arange(30.0), np.arange(30.0), groups=np.arange(30) % 9).low).all()
    assert len(kept_band([], []).share) == 0
    assert kept_band([0.5], [1]).share.tolist() == [1.0]


def test_of_many_rows_few_points_are_computed_and_the_last_is_all_rows():
    band = kept_band(np.arange(10_000.0), np.arange(10_000) % 2)
    assert len(band.share) == 60
    assert band.share[-1] == 1.0


def test_the_bands_go_with_the_curves_of_the_same_rows():
    rng = np.random.default_rng(4)
    scores = {"a": rng.random(50), "b": np.where(np.arange(50) < 3, np.nan, rng.random(50))}
    labels = {"quality": rng.random(50), "error": (rng.random(50) < 0.4).astype(float)}
    labels["error"][40:] = np.nan
    bands = curve_bands(scores, "a", **labels, level=0.999)
    for band, curves in zip(bands, selective_curves(scores, **labels), strict=True):
        value = np.interp(band.share, curves.share, curves.values["a"])
        known = np.isfinite(band.low)
        assert known.sum() > 20
        assert ((band.low <= value + 1e-9) & (value <= band.high + 1e-9))[known].all()
        assert (np.diff(band.share) > 0).all()
    assert len(risk_coverage_curve(scores["a"][3:40], 1 - labels["error"][3:40]).risk) == len(bands[1].share)
    assert len(prediction_rejection_curve(scores["a"][3:], labels["quality"][3:]).quality) == len(bands[0].share)


def test_what_makes_no_sense_is_refused():
    with pytest.raises(SettingError, match="level"):
        kept_band([0.1], [1], level=1.0)
    with pytest.raises(TableError, match="groups needs one value per row"):
        curve_bands({"a": [0.1, 0.2]}, "a", error=[0, 1], groups=[1])
    with pytest.raises(SettingError, match="score"):
        curve_bands({"a": [0.1]}, "b", error=[0])
