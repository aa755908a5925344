"""Combined conformal p-values, against scipy and by counting."""

import numpy as np
import numpy.testing as npt
import pytest
from scipy.stats import combine_pvalues, hmean

from vecuq import VecUQ, baselines

rng = np.random.default_rng(0)
CALIBRATION = rng.integers(0, 30, size=(99, 3)).astype(float)  # ties, in and out of calibration
NEW = rng.integers(-2, 33, size=(40, 3)).astype(float)


def counted_p_values(rows):
    at_least = (CALIBRATION[None] >= rows[:, None]).sum(axis=1)
    return (1 + at_least) / (len(CALIBRATION) + 1)


P = counted_p_values(NEW)


def test_fisher_is_the_statistic_of_scipy():
    wanted = [combine_pvalues(p, method="fisher").statistic for p in P]
    npt.assert_allclose(baselines.fisher().fit(CALIBRATION).uncertainty(NEW), wanted, rtol=1e-12, atol=1e-13)


def test_harmonic_is_one_over_the_harmonic_mean_of_scipy():
    npt.assert_allclose(baselines.harmonic().fit(CALIBRATION).uncertainty(NEW), 1.0 / hmean(P, axis=1), rtol=1e-12)


def test_cauchy_is_the_mean_of_tangents_with_the_largest_p_value_capped():
    wanted = np.tan(np.pi * (0.5 - np.minimum(P, 0.99))).mean(axis=1)
    npt.assert_allclose(baselines.cauchy().fit(CALIBRATION).uncertainty(NEW), wanted, rtol=1e-9, atol=1e-12)


def test_one_very_low_score_does_not_silence_the_others_in_cauchy():
    """Uncapped, a p-value of 1 gives -1.6e16 and the other columns no longer count."""
    model = baselines.cauchy().fit(CALIBRATION)
    two_high, two_low = model.uncertainty([[99.0, 99.0, -99.0], [-99.0, -99.0, 99.0]])
    npt.assert_allclose([two_high, two_low], np.array([1.0, -1.0]) / np.tan(np.pi / 100) / 3, rtol=1e-9)


@pytest.mark.parametrize(("name", "most"), [("fisher", 6 * np.log(100)), ("harmonic", 100.0)])
def test_the_range_is_the_one_that_is_stated(name, most):
    scores = getattr(baselines, name)().fit(CALIBRATION).uncertainty([[-99.0] * 3, [99.0] * 3])
    npt.assert_allclose(scores, [1.0 if name == "harmonic" else 0.0, most], rtol=1e-12)


def test_in_one_column_the_order_is_that_of_the_estimator():
    column = rng.gamma(1.0, size=(200, 1))
    new = np.sort(rng.gamma(1.0, size=(50, 1)), axis=0)
    assert (np.diff(VecUQ().fit(column).uncertainty(new)) > 0).all()
    for name in ("fisher", "harmonic", "cauchy"):
        assert (np.diff(getattr(baselines, name)().fit(column).uncertainty(new)) >= 0).all()
