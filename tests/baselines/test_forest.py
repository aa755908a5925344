"""The isolation forest is scikit-learn's; what is ours is the sign, the scale and the seed."""

import numpy as np
import numpy.testing as npt
from sklearn.ensemble import IsolationForest

from vecuq import baselines

rng = np.random.default_rng(0)
CALIBRATION = rng.gamma(1.0, size=(300, 2))
NEW = 2.0 * rng.gamma(1.0, size=(80, 2))


def scores(**settings):
    return baselines.isolation_forest(n_trees=20, **settings).fit(CALIBRATION).uncertainty(NEW)


def test_it_is_the_forest_of_scikit_learn_on_rows_in_sorted_order():
    low, high = CALIBRATION.min(axis=0), CALIBRATION.max(axis=0)
    rows = np.array(sorted(CALIBRATION.tolist(), key=lambda row: row[::-1]))
    peer = IsolationForest(n_estimators=20, random_state=3).fit((rows - low) / (high - low))
    npt.assert_allclose(scores(random_state=3), -peer.score_samples((NEW - low) / (high - low)), rtol=1e-12)


def test_the_seed_decides_and_no_seed_is_a_fixed_one():
    npt.assert_array_equal(scores(), scores())
    npt.assert_array_equal(scores(random_state=1), scores(random_state=1))
    assert not np.array_equal(scores(random_state=1), scores(random_state=2))


def test_the_unit_of_a_score_does_not_matter():
    model = baselines.isolation_forest(n_trees=20).fit(CALIBRATION * [1e-200, 1e200])
    npt.assert_allclose(model.uncertainty(NEW * [1e-200, 1e200]), scores(), rtol=1e-6)
