"""The one-sided distance, against a solver that knows nothing of subsets."""

import numpy as np
import numpy.testing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import nnls
from scipy.stats import norm, rankdata

from vecuq import baselines
from vecuq.baselines.gaussian_copula import one_sided_distance
from vecuq.errors import SettingError


def correlation_of(seed, m):
    draws = np.random.default_rng(seed).normal(size=(m + 2, m)) + np.random.default_rng(seed + 1).normal(
        size=(m + 2, 1)
    )
    return np.atleast_2d(np.corrcoef(draws, rowvar=False))


def distance_by_least_squares(z, correlation):
    """The nearest w >= z to the origin: C times the non-negative multipliers that solve the dual problem."""
    root = np.linalg.cholesky(correlation)
    multipliers, _ = nnls(root.T, np.linalg.solve(root, z))
    return np.linalg.norm(root.T @ multipliers)


@given(seed=st.integers(0, 10_000), m=st.integers(1, 6))
@settings(max_examples=60, deadline=None)
def test_outside_the_orthant_it_is_the_distance_of_non_negative_least_squares(seed, m):
    correlation = correlation_of(seed, m)
    z = np.random.default_rng(seed + 2).normal(size=(5, m))
    z[:, 0] = np.abs(z[:, 0])
    wanted = [distance_by_least_squares(row, correlation) for row in z]
    npt.assert_allclose(one_sided_distance(z, correlation), wanted, rtol=1e-6, atol=1e-9)


def test_inside_the_orthant_it_is_minus_the_distance_to_the_border():
    """Which is the smallest one-sided step, in the metric of C^-1, that makes some entry positive."""
    correlation, z = correlation_of(5, 3), -np.abs(np.random.default_rng(0).normal(size=(6, 3)))
    inverse = np.linalg.inv(correlation)
    steps = correlation / np.sqrt(np.diag(correlation))  # row k: the cheapest direction that raises entry k
    to_border = [[-row[k] / steps[k, k] * np.sqrt(steps[k] @ inverse @ steps[k]) for k in range(3)] for row in z]
    npt.assert_allclose(one_sided_distance(z, correlation), -np.min(to_border, axis=1), rtol=1e-10)


def test_independent_columns_give_the_length_of_the_positive_part():
    z = np.array([[3.0, 4.0], [3.0, -4.0], [-3.0, -4.0]])
    npt.assert_allclose(one_sided_distance(z, np.eye(2)), [5.0, 3.0, -3.0])


def test_one_column_gives_the_normal_score_of_its_rank():
    column = np.random.default_rng(0).integers(0, 20, size=(60, 1)).astype(float)
    wanted = norm.ppf(rankdata(column[:, 0]) / 61)
    npt.assert_allclose(baselines.copula().fit(column).uncertainty(column), wanted, rtol=1e-9, atol=1e-12)


def test_a_column_that_comes_twice_counts_once_and_not_so_in_fisher():
    rows = np.random.default_rng(0).gamma(1.0, size=(200, 2))
    thrice = [0, 0, 0, 1]
    for name, once in (("copula", True), ("fisher", False)):
        wanted = getattr(baselines, name)().fit(rows).uncertainty(rows)
        found = getattr(baselines, name)().fit(rows[:, thrice]).uncertainty(rows[:, thrice])
        assert np.allclose(found, wanted, rtol=1e-4) == once


def test_too_many_columns_are_refused():
    with pytest.raises(SettingError, match="11 varying score columns are too many for the copula distance; 10"):
        baselines.copula().fit(np.random.default_rng(0).normal(size=(30, 11)))
