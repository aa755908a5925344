"""Sums of columns, against scikit-learn and by hand."""

import numpy as np
import numpy.testing as npt
import pytest
from sklearn.decomposition import PCA
from sklearn.preprocessing import MinMaxScaler, StandardScaler

from vecuq import baselines

rng = np.random.default_rng(0)
CALIBRATION = rng.gamma(1.0, size=(200, 4)) @ (np.eye(4) + 0.3) * [1.0, 50.0, 0.01, 3.0]
NEW = 2.0 * rng.gamma(1.0, size=(60, 4)) * [1.0, 50.0, 0.01, 3.0]


def test_the_sum_is_that_of_all_columns_even_constant_ones():
    npt.assert_allclose(baselines.sum().fit(CALIBRATION).uncertainty(NEW), NEW.sum(axis=1), rtol=1e-14)
    with_constant = np.column_stack([CALIBRATION, np.full(200, 5.0)])
    model = baselines.sum().fit(with_constant)
    npt.assert_allclose(model.uncertainty(np.column_stack([NEW, NEW[:, 0]])), NEW.sum(axis=1) + NEW[:, 0], rtol=1e-14)


@pytest.mark.parametrize(("name", "scaler"), [("minmax_sum", MinMaxScaler()), ("z_sum", StandardScaler())])
def test_scaled_sums_agree_with_scikit_learn(name, scaler):
    wanted = scaler.fit(CALIBRATION).transform(NEW).sum(axis=1)
    npt.assert_allclose(getattr(baselines, name)().fit(CALIBRATION).uncertainty(NEW), wanted, rtol=1e-12, atol=1e-12)


def test_the_principal_component_agrees_with_scikit_learn_up_to_its_sign():
    scaler = StandardScaler().fit(CALIBRATION)
    peer = PCA(n_components=1, svd_solver="full").fit(scaler.transform(CALIBRATION))
    wanted = peer.transform(scaler.transform(NEW))[:, 0] * np.sign(peer.components_.sum())
    npt.assert_allclose(baselines.pca().fit(CALIBRATION).uncertainty(NEW), wanted, rtol=1e-9, atol=1e-12)


def test_the_principal_component_points_upwards():
    """Two columns rise together against a third: the majority decides the sign, and the third counts against."""
    shared = rng.normal(size=300)
    rows = np.column_stack([shared, shared, -shared]) + 0.1 * rng.normal(size=(300, 3))
    low, high, third = baselines.pca().fit(rows).uncertainty([[-1.0, -1.0, 0.0], [1.0, 1.0, 0.0], [0.0, 0.0, 2.0]])
    assert low < 0 < high
    assert third < 0


def test_loadings_that_cancel_point_the_longer_tail_up_whatever_the_order_of_columns():
    tail = rng.gamma(0.5, size=300)
    rows = np.column_stack([-tail, tail]) + 0.1 * rng.normal(size=(300, 2))
    for order in ([0, 1], [1, 0]):
        near, far = baselines.pca().fit(rows[:, order]).uncertainty(np.array([[0.0, 0.0], [-5.0, 5.0]])[:, order])
        assert far > near


def test_loadings_that_cancel_without_a_longer_tail_leave_the_first_column_upwards():
    rows = np.column_stack([np.arange(9.0), -np.arange(9.0)])
    scores = baselines.pca().fit(rows).uncertainty(rows)
    npt.assert_allclose(scores, np.sqrt(2.0) * (np.arange(9.0) - 4.0) / np.std(np.arange(9.0)), rtol=1e-12)
