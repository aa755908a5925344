import warnings

import numpy as np
import numpy.testing as npt
import pytest
from sklearn.metrics import roc_auc_score

from vecuq import ScoreTable, Settings, fit_ranker
from vecuq.errors import CalibrationError, CalibrationWarning, ConvergenceError, ConvergenceWarning, SettingError


def gamma_rows(n=400, m=2, seed=0):
    return np.random.default_rng(seed).gamma(1.0, size=(n, m))


KINDS = ("independent", "correlated", "collinear", "heavy")


def calibration_of(kind, m, n=600, seed=0):
    rng = np.random.default_rng(seed)
    own, shared = rng.gamma(1.0, size=(n, m)), rng.gamma(1.0, size=(n, 1))
    return {
        "independent": own,
        "correlated": shared + 0.5 * own,
        "collinear": shared + 1e-3 * own,
        "heavy": np.abs(rng.standard_cauchy((n, m))) ** 1.5,
    }[kind]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("m", [2, 3, 4, 5])
def test_raising_a_column_never_lowers_the_score(m, kind):
    """20,000 bumps per number of columns and kind of rows, inside the box, around it and far beyond."""
    rows = calibration_of(kind, m)
    ranker = fit_ranker(rows)
    rng = np.random.default_rng(1)
    low, width = rows.min(axis=0), np.ptp(rows, axis=0)
    places = rng.uniform(-0.3, 1.7, size=(20_000, m))
    places[:5_000] = ((rows - low) / width)[rng.integers(len(rows), size=5_000)]
    places[5_000:8_000] *= 10 ** rng.uniform(0, 6, size=(3_000, 1))
    start = low + places * width
    column = rng.integers(m, size=len(start))
    bumped = start.copy()
    bumped[np.arange(len(start)), column] += 10 ** rng.uniform(-6, 1, len(start)) * width[column]
    before, after = ranker.uncertainty(start), ranker.uncertainty(bumped)
    # One unit in the last place of the score is rounding, not order.
    assert np.count_nonzero(after < before - 4 * np.spacing(before)) == 0
    assert ranker.diagnostics.monotone_violations == 0.0


def test_order_violations_at_small_epsilon_are_measured_and_kept():
    ranker = fit_ranker(calibration_of("collinear", 4), Settings(epsilon=0.1))
    assert 0.0 < ranker.diagnostics.monotone_violations < 0.5


@pytest.mark.parametrize(
    ("low", "high", "least", "paper_most"), [(1, 10, 0.99, 0.99), (10, 100, 0.999, 0.75), (100, 1e6, 0.999, 0.6)]
)
def test_far_rows_keep_their_order_with_overshoot_and_lose_it_without(low, high, least, paper_most):
    rows = gamma_rows(1000)
    rng = np.random.default_rng(1)
    far = rows[:, 1].max() * np.exp(rng.uniform(np.log(low), np.log(high), 3000))
    new = np.column_stack([rng.gamma(1.0, size=3000), far])
    above = far > np.median(far)
    assert roc_auc_score(above, fit_ranker(rows).uncertainty(new)) >= least
    assert roc_auc_score(above, fit_ranker(rows, Settings.paper()).uncertainty(new)) < paper_most


@pytest.mark.parametrize("reference", ["beta", "exponential", "ball"])
@pytest.mark.parametrize("scaling", ["featurewise", "global", "quantile"])
def test_no_score_is_nan_up_to_1e300(reference, scaling):
    ranker = fit_ranker(gamma_rows(), Settings(reference=reference, scaling=scaling))
    extreme = [1e300, -1e300, 0.0, 1e-300, 1e150, 1.0]
    scores = ranker.uncertainty(np.array([[a, b] for a in extreme for b in extreme]))
    assert np.isfinite(scores).all()


@pytest.mark.parametrize("size", [1e-12, 1e12])
def test_the_size_of_a_column_does_not_matter(size):
    rows = gamma_rows()
    plain, sized = fit_ranker(rows), fit_ranker(rows * [1.0, size])
    npt.assert_allclose(sized.uncertainty(rows * [1.0, size]), plain.uncertainty(rows), atol=1e-12)


def test_a_constant_column_neither_breaks_nor_influences_the_order():
    rows = gamma_rows()
    constant = np.column_stack([rows[:, :1], np.full(len(rows), 3.7), rows[:, 1:]])
    ranker = fit_ranker(constant)
    npt.assert_array_equal(ranker.uncertainty(constant), fit_ranker(rows).uncertainty(rows))
    assert ranker.diagnostics.constant_columns == ("x1",)
    assert (ranker.transform(constant)[:, 1] == 0.0).all()


@pytest.mark.parametrize("scaling", ["global", "quantile"])
def test_a_constant_column_does_not_influence_other_scalings_either(scaling):
    rows = gamma_rows()
    constant = np.column_stack([rows, np.full(len(rows), 1e6)])
    settings = Settings(scaling=scaling)
    npt.assert_array_equal(
        fit_ranker(constant, settings).uncertainty(constant), fit_ranker(rows, settings).uncertainty(rows)
    )


def test_the_order_of_columns_does_not_matter():
    rows = gamma_rows(m=3)
    table = ScoreTable.of({"a": rows[:, 0], "b": rows[:, 1], "c": rows[:, 2]})
    turned = ScoreTable.of({"c": rows[:, 2], "a": rows[:, 0], "b": rows[:, 1]})
    npt.assert_array_equal(fit_ranker(table).uncertainty(turned), fit_ranker(table).uncertainty(table))
    npt.assert_allclose(fit_ranker(turned).uncertainty(table), fit_ranker(table).uncertainty(table), atol=1e-9)


def test_the_order_of_calibration_rows_does_not_matter_to_the_map():
    rows = gamma_rows()
    shuffled = np.random.default_rng(3).permutation(rows)
    settings = Settings(holdback=0.0, tol=1e-12)
    npt.assert_allclose(
        fit_ranker(shuffled, settings).uncertainty(rows), fit_ranker(rows, settings).uncertainty(rows), atol=1e-10
    )


def test_two_fits_give_the_same_bits():
    rows = gamma_rows(m=4)
    npt.assert_array_equal(fit_ranker(rows).uncertainty(rows), fit_ranker(rows).uncertainty(rows))


def test_the_seed_decides_which_rows_are_held_back():
    rows = gamma_rows()
    first, second = (fit_ranker(rows, Settings(random_state=seed)) for seed in (1, 2))
    assert not np.array_equal(first.calibration_scores, second.calibration_scores)
    npt.assert_array_equal(first.calibration_scores, fit_ranker(rows, Settings(random_state=1)).calibration_scores)


@pytest.mark.parametrize("m", range(1, 11))
def test_one_to_ten_columns_work(m):
    rows = gamma_rows(600, m)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", CalibrationWarning)
        ranker = fit_ranker(rows)
    assert ranker.diagnostics.converged
    assert np.isfinite(ranker.uncertainty(rows)).all()
    high, low = ranker.uncertainty([[9.0] * m, [0.01] * m])
    assert high > low


def test_more_columns_than_groups_can_hold_are_refused():
    with pytest.raises(SettingError, match="65 varying score columns are too many; 64 is the limit"):
        fit_ranker(gamma_rows(100, 65))


def test_more_columns_than_rows_work():
    with pytest.warns(CalibrationWarning, match="anchors carry"):
        ranker = fit_ranker(gamma_rows(5, 6), Settings(holdback=0.0))
    assert ranker.uncertainty([[9.0] * 6])[0] > ranker.uncertainty([[0.01] * 6])[0]


@pytest.mark.parametrize("epsilon", [0.05, 0.1, 0.5, 2.0])
@pytest.mark.parametrize("m", [1, 2, 3, 4, 5, 6])
def test_forcing_the_dense_solver_changes_no_score(m, epsilon):
    rows = gamma_rows(120, m)
    options = {
        "epsilon": epsilon,
        "tol": 1e-12,
        "holdback": 0.0,
        "n_targets": 3**m,
        "anchor_mass": 0.2,
        "max_iter": 5000,
    }
    fast, slow = (fit_ranker(rows, Settings(solver=solver, **options)) for solver in ("separable", "dense"))
    assert (fast.diagnostics.solver, slow.diagnostics.solver) == ("separable", "dense")
    npt.assert_allclose(fast.uncertainty(rows * 3), slow.uncertainty(rows * 3), atol=1e-9)


def test_signed_scores_are_ranked_from_the_centre_outwards():
    rows = np.random.default_rng(0).normal(size=(800, 2))
    ranker = fit_ranker(rows, Settings(reference="ball"))
    centre, right, left, far = ranker.uncertainty([[0.0, 0.0], [2.0, 0.0], [-2.0, 0.0], [-50.0, 0.0]])
    assert centre < min(right, left)
    assert far > max(right, left)
    assert abs(right - left) < 0.15
    assert ranker.diagnostics.monotone_violations is None


def test_a_plan_that_does_not_converge_is_an_error_that_says_what_to_change():
    with pytest.raises(ConvergenceError, match=r"did not converge: marginal error .* Raise `epsilon` \(now 0.01\)"):
        fit_ranker(gamma_rows(), Settings(epsilon=0.01, max_iter=5))


def test_a_plan_that_does_not_converge_can_be_kept_with_a_warning():
    with pytest.warns(ConvergenceWarning, match="did not converge"):
        ranker = fit_ranker(gamma_rows(), Settings(epsilon=0.01, max_iter=5, on_failure="warn"))
    assert not ranker.diagnostics.converged
    assert ranker.diagnostics.sweeps == 5


def test_scores_spread_too_widely_for_epsilon_are_refused():
    with pytest.raises(ConvergenceError, match=r"spread too widely|did not converge"):
        fit_ranker(gamma_rows(300) * 1e4, Settings(scaling="identity", epsilon=0.001, max_iter=20))


def test_anchors_that_outweigh_the_rows_are_told_and_can_be_capped():
    rows = gamma_rows(40, 5)
    with pytest.warns(CalibrationWarning, match="outer anchors carry 61% of the mass"):
        fit_ranker(rows)
    capped = fit_ranker(rows, Settings(anchor_mass=0.2))
    assert capped.diagnostics.anchor_mass == pytest.approx(0.2)


def test_missing_calibration_values_are_named_with_column_and_count():
    rows = gamma_rows(50, 3)
    rows[[4, 9], 1] = np.nan
    rows[7, 2] = np.inf
    with pytest.raises(CalibrationError, match=r"'x1' in 2, 'x2' in 1 of 50 rows. Drop these 3 rows"):
        fit_ranker(rows)
    with pytest.raises(CalibrationError, match=r"'x2' in 1 of 10 rows. Drop this row, or leave"):
        fit_ranker(rows[[*range(4), *range(5, 9), *range(10, 12)]])


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        (np.ones((1, 2)), "At least two calibration rows"),
        (np.ones((2, 2)), "identical"),
        (np.full((50, 3), 7.0), "identical"),
    ],
)
def test_rows_without_an_order_are_refused(rows, message):
    with pytest.raises(CalibrationError, match=message):
        fit_ranker(rows)


def test_two_different_rows_are_enough():
    with pytest.warns(CalibrationWarning):
        ranker = fit_ranker([[0.0, 1.0], [1.0, 2.0]])
    assert ranker.uncertainty([[5.0, 5.0]])[0] > ranker.uncertainty([[0.0, 1.0]])[0]


@pytest.mark.parametrize(
    "wrong",
    [
        {"epsilon": 0.0},
        {"epsilon": float("nan")},
        {"epsilon": "0.5"},
        {"scaling": "min-max"},
        {"anchors": -1.0},
        {"anchor_mass": 1.0},
        {"overshoot": -0.5},
        {"holdback": 1.0},
        {"grid": "sobol"},
        {"n_targets": 1},
        {"n_targets": "many"},
        {"n_targets": 3.5},
        {"solver": "pot"},
        {"tol": 0.0},
        {"max_iter": 0},
        {"on_failure": "ignore"},
        {"alpha": 1.5},
        {"random_state": -1},
        {"reference": "gauss"},
    ],
)
def test_a_setting_outside_its_range_is_refused_by_name(wrong):
    with pytest.raises(SettingError, match=next(iter(wrong))):
        Settings(**wrong)


def test_a_single_component_keeps_its_order_across_the_edge_of_the_box():
    rows = gamma_rows(2000, 1)
    edge = rows.max() + np.ptp(rows) * np.array([-1e-9, -1e-10, 0.0, 1e-10, 1e-9])
    for settings in (Settings(holdback=0.0), Settings.paper(holdback=0.0)):
        assert (np.diff(fit_ranker(rows, settings).uncertainty(edge[:, None])) > 0).all()
