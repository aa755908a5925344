import numpy as np
import numpy.testing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vecuq.errors import CalibrationError, SettingError
from vecuq.transport import SCALINGS
from vecuq.transport import fit_scaler as fit_to_extremes


def fit_scaler(rows, kind="featurewise", *, signed=False):
    return fit_to_extremes(rows.min(axis=0), rows.max(axis=0), kind, signed=signed, rows=rows)


ROWS = np.random.default_rng(0).gamma(1.0, size=(300, 3)) * [1e-12, 1.0, 1e12]


def test_featurewise_brings_every_column_to_the_unit_interval():
    scaled = fit_scaler(ROWS).transform(ROWS)
    npt.assert_allclose(scaled.min(axis=0), 0.0)
    npt.assert_allclose(scaled.max(axis=0), 1.0)


def test_global_uses_one_range_for_all_columns():
    scaled = fit_scaler(ROWS, "global").transform(ROWS)
    assert scaled.min() == 0.0
    assert scaled.max() == 1.0
    npt.assert_allclose(scaled[:, 1] * ROWS.max(), ROWS[:, 1], atol=1e-3)


def test_identity_changes_nothing():
    npt.assert_array_equal(fit_scaler(ROWS, "identity").transform(ROWS), ROWS)


def test_quantile_makes_calibration_rows_uniform():
    scaled = fit_scaler(ROWS, "quantile").transform(ROWS)
    npt.assert_allclose(np.sort(scaled, axis=0), np.linspace(0, 1, 300)[:, None] * [1, 1, 1], atol=1e-12)


def test_signed_scaling_is_symmetric():
    scaled = fit_scaler(ROWS, signed=True).transform(ROWS)
    npt.assert_allclose(scaled.min(axis=0), -1.0)
    npt.assert_allclose(scaled.max(axis=0), 1.0)


@pytest.mark.parametrize("kind", SCALINGS)
@settings(max_examples=60, deadline=None)
@given(values=st.lists(st.floats(-1e300, 1e300), min_size=2, max_size=12))
def test_every_scaling_is_increasing_and_finite(kind, values):
    calibration = np.array([[0.0], [0.0], [1.0], [2.0], [2.0], [7.0]])
    ordered = np.sort(values)[:, None]
    scaled = fit_scaler(calibration, kind).transform(ordered)[:, 0]
    assert np.isfinite(scaled).all()
    assert (np.diff(scaled) >= 0).all()


def test_tied_calibration_values_share_one_level():
    calibration = np.array([[0.0], [1.0], [1.0], [1.0], [5.0]])
    scaled = fit_scaler(calibration, "quantile").transform(calibration)[:, 0]
    npt.assert_allclose(scaled, [0.0, 0.5, 0.5, 0.5, 1.0])


def test_a_range_beyond_float64_is_refused():
    with pytest.raises(CalibrationError, match="more than a float64"):
        fit_scaler(np.array([[-1.7e308], [1.7e308]]))


def test_an_unknown_scaling_names_the_nearest():
    with pytest.raises(SettingError, match="Did you mean 'quantile'"):
        fit_scaler(ROWS, "quantiles")


def test_quantile_scaling_without_rows_is_refused():
    with pytest.raises(SettingError, match="needs the calibration rows"):
        fit_to_extremes(np.zeros(2), np.ones(2), "quantile")
