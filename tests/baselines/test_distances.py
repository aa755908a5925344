"""Distances in score space, against scikit-learn and brute force."""

import numpy as np
import numpy.testing as npt
import pytest
from sklearn.covariance import EmpiricalCovariance

from vecuq import baselines
from vecuq.errors import CalibrationError

rng = np.random.default_rng(0)
CALIBRATION = rng.gamma(1.0, size=(150, 3)) @ (np.eye(3) + 0.4) * [1.0, 50.0, 0.01]
NEW = 2.0 * rng.gamma(1.0, size=(40, 3)) * [1.0, 50.0, 0.01]


def test_mahalanobis_agrees_with_scikit_learn():
    """Up to the ridge of a millionth."""
    wanted = np.sqrt(EmpiricalCovariance().fit(CALIBRATION).mahalanobis(NEW))
    npt.assert_allclose(baselines.mahalanobis().fit(CALIBRATION).uncertainty(NEW), wanted, rtol=1e-4)


def test_mahalanobis_counts_a_column_that_comes_twice_once():
    wanted = baselines.mahalanobis().fit(CALIBRATION).uncertainty(NEW)
    twice = baselines.mahalanobis().fit(CALIBRATION[:, [0, 1, 2, 2]]).uncertainty(NEW[:, [0, 1, 2, 2]])
    npt.assert_allclose(twice, wanted, rtol=1e-4)


def test_mahalanobis_sees_a_row_that_breaks_a_rule_all_calibration_rows_keep():
    rows = np.column_stack([CALIBRATION[:, :2], CALIBRATION[:, 0] + CALIBRATION[:, 1]])
    kept, broken = baselines.mahalanobis().fit(rows).uncertainty([rows[0], rows[0] + [0.0, 0.0, 1.0]])
    assert broken > 5 * kept


@pytest.mark.parametrize("k", [1, 5, 150])
def test_knn_is_the_kth_of_all_distances(k):
    mean, deviation = CALIBRATION.mean(axis=0), CALIBRATION.std(axis=0)
    z, rows = (NEW - mean) / deviation, (CALIBRATION - mean) / deviation
    wanted = np.sort(np.linalg.norm(z[:, None] - rows[None], axis=2), axis=1)[:, k - 1]
    npt.assert_allclose(baselines.knn(k=k).fit(CALIBRATION).uncertainty(NEW), wanted, rtol=1e-10)


def test_more_neighbours_than_calibration_rows_are_refused():
    with pytest.raises(CalibrationError, match="k=151 neighbours need as many calibration rows; there are 150"):
        baselines.knn(k=151).fit(CALIBRATION)
