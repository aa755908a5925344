"""Probabilities of being wrong: monotone, calibrated, inside an interval that covers."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import isotonic_regression

from vecuq.conformal import wrong_rates


@given(seed=st.integers(0, 500), n=st.integers(1, 300), n_cells=st.integers(1, 40))
def test_probabilities_and_bounds_never_fall_and_enclose_each_other(seed, n, n_cells):
    rng = np.random.default_rng(seed)
    found = wrong_rates(rng.integers(n_cells, size=n), rng.random(n) < rng.random(), n_cells, 0.1)
    for values in (found.probability, found.lower, found.upper):
        assert (np.diff(values) >= 0).all()
    assert ((found.lower <= found.probability) & (found.probability <= found.upper)).all()


def test_with_many_labels_the_probability_is_the_isotonic_fit():
    rng = np.random.default_rng(0)
    cells = rng.integers(10, size=50_000)
    wrong = rng.random(50_000) < 0.05 * cells
    rates = np.bincount(cells, weights=wrong) / np.bincount(cells)
    fitted = isotonic_regression(rates, weights=np.bincount(cells)).x
    np.testing.assert_allclose(wrong_rates(cells, wrong, 10, 0.1).probability, fitted, atol=1e-3)


def test_probabilities_are_calibrated_on_other_rows():
    rng, said, seen = np.random.default_rng(1), [], []
    for _ in range(200):
        cells = rng.integers(50, size=300)
        wrong = rng.random(300) < 0.6 * (cells / 50) ** 2
        found = wrong_rates(cells[:200], wrong[:200], 50, 0.1).probability
        said.append(found[cells[200:]])
        seen.append(wrong[200:])
    said, seen = np.concatenate(said), np.concatenate(seen)
    for low, high in ((0.0, 0.1), (0.1, 0.3), (0.3, 0.6)):
        rows = (said >= low) & (said < high)
        assert abs(said[rows].mean() - seen[rows].mean()) < 0.03


@pytest.mark.parametrize("n", [60, 400])
def test_the_interval_of_a_cell_covers_its_rate(n):
    rng, truth, missed = np.random.default_rng(2), 0.5 * (np.arange(20) / 20) ** 2, 0
    for _ in range(300):
        cells = rng.integers(20, size=n)
        found = wrong_rates(cells, rng.random(n) < truth[cells], 20, 0.1)
        missed += (truth[10] < found.lower[10]) or (truth[10] > found.upper[10])
    assert missed / 300 <= 0.1 + 3 * np.sqrt(0.09 / 300)


def test_where_rates_are_alike_no_single_interval_misses_more_often_than_promised():
    """A hundred cells with one rate: bounds that borrow the tightest of all cells would miss in half of the draws."""
    rng, missed = np.random.default_rng(3), np.zeros(100)
    for _ in range(100):
        found = wrong_rates(rng.integers(100, size=1_000), rng.random(1_000) < 0.1, 100, 0.1)
        missed += (found.lower > 0.1) | (found.upper < 0.1)
    assert missed.max() <= 10 + 3 * np.sqrt(9)


def test_intervals_of_rows_in_groups_count_one_row_of_each():
    """40 groups of 25 equal rows: all rows taken for independent would miss in most draws."""
    rng, groups, missed = np.random.default_rng(4), np.repeat(np.arange(40), 25), 0
    for _ in range(100):
        cells, wrong = rng.integers(5, size=40)[groups], (rng.random(40) < 0.3)[groups]
        found = wrong_rates(cells, wrong, 5, 0.1, independent=np.tile(np.arange(25) == 0, 40))
        missed += (found.lower[2] > 0.3) or (found.upper[2] < 0.3)
    assert missed <= 10 + 3 * np.sqrt(9)


def test_intervals_of_graded_losses_cover_their_mean():
    rng, missed = np.random.default_rng(5), 0
    for _ in range(200):
        found = wrong_rates(rng.integers(4, size=200), rng.choice([0.0, 0.5], size=200), 4, 0.1)
        missed += (found.lower[1] > 0.25) or (found.upper[1] < 0.25)
    assert missed <= 20 + 3 * np.sqrt(18)
