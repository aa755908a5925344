"""Intervals of the ROC-AUC: the equation they solve, and how often they hold the truth."""

import numpy as np
import numpy.testing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st
from orders_of_ties import tied_rows
from scipy.optimize import brentq
from scipy.special import ndtri

from vecuq.errors import TableError
from vecuq.evaluation import Bootstrap, estimate, roc_auc, roc_auc_interval
from vecuq.evaluation.auc_interval import _influence, _variance


def newcombe(area, m, n, level, wider=1.0):
    """The two roots of Newcombe's method 5, found by another solver."""

    def distance(a):
        more = (m + n) / 2 - 1
        variance = a * (1 - a) * (1 + more * (1 - a) / (2 - a) + more * a / (1 + a)) / (m * n)
        return (area - a) ** 2 - wider * ndtri(0.5 + level / 2) ** 2 * variance

    low = brentq(distance, 0.0, min(area, 1 - 1e-12)) if area > 0 else 0.0
    return low, brentq(distance, max(area, 1e-12), 1.0) if area < 1 else 1.0


def delong(score, target):
    """DeLong's variance over all pairs of a positive and a negative row."""
    pairs = (score[target == 1][:, None] > score[target == 0]) + 0.5 * (
        score[target == 1][:, None] == score[target == 0]
    )
    kinds = [means.var(ddof=1) / len(means) if len(means) > 1 else 0.0 for means in (pairs.mean(1), pairs.mean(0))]
    return sum(kinds)


@given(tied_rows(most=12), st.sampled_from([0.8, 0.95]))
def test_the_ends_solve_the_equation_of_method_5_with_the_larger_variance(rows, level):
    score, target = rows
    target = (target > 0.5).astype(float)
    area = roc_auc(score, target)
    if np.isnan(area):
        assert np.isnan(roc_auc_interval(score, target, level=level)).all()
        return
    m, n = target.sum(), (1 - target).sum()
    more = (m + n) / 2 - 1
    plain = area * (1 - area) * (1 + more * (1 - area) / (2 - area) + more * area / (1 + area)) / (m * n)
    wider = max(1.0, delong(score, target) / plain) if plain > 0 else 1.0
    npt.assert_allclose(roc_auc_interval(score, target, level=level), newcombe(area, m, n, level, wider), atol=1e-7)


def test_rows_that_are_all_in_groups_of_one_have_the_variance_of_delong():
    rng = np.random.default_rng(0)
    score, target = rng.integers(9, size=60).astype(float), (rng.random(60) < 0.3).astype(float)
    _, terms = _influence(score, target)
    assert _variance(terms, target, np.arange(60)) == pytest.approx(delong(score, target), rel=1e-12)


def test_a_perfect_order_has_an_interval_that_is_not_empty():
    low, high = roc_auc_interval([1, 2, 3, 4], [0, 0, 1, 1])
    assert (low < 0.6, high) == (True, 1.0)
    low, high = roc_auc_interval([1, 2, 3, 4], [1, 1, 0, 0])
    assert (low, high > 0.4) == (0.0, True)


def test_the_estimate_of_a_roc_auc_has_this_interval():
    rng = np.random.default_rng(0)
    target = (rng.random(80) < 0.2).astype(float)
    score, groups = rng.normal(size=80) + target, rng.integers(20, size=80)
    for together in (None, groups):
        found = estimate(score, target, "roc_auc", bootstrap=Bootstrap(5, level=0.9), groups=together)
        assert (found.low, found.high) == roc_auc_interval(score, target, level=0.9, groups=together)


def held(area, n_positive, n_negative, *, spread=1.0, sets=600, seed=0):
    """Share of test sets of normal scores whose interval at 95 % holds the true area."""
    rng = np.random.default_rng(seed)
    target = np.repeat([1.0, 0.0], [n_positive, n_negative])
    shift, width = ndtri(area) * np.hypot(1.0, spread), np.where(target == 1, spread, 1.0)
    ends = [roc_auc_interval(rng.normal(size=len(target)) * width + shift * target, target) for _ in range(sets)]
    return np.mean([low <= area <= high for low, high in ends])


@pytest.mark.parametrize("area", [0.7, 0.8, 0.9, 0.98])
@pytest.mark.parametrize("n_negative", [10, 190])
def test_ten_positive_rows_are_enough_for_an_interval_that_holds_the_truth(area, n_negative):
    """At least 93 %; the percentile bootstrap holds an area of 0.98 in 75 %."""
    assert held(area, 10, n_negative) >= 0.93


@pytest.mark.parametrize("area", [0.7, 0.9])
def test_positive_rows_that_spread_more_than_the_others_do_not_break_the_interval(area):
    """Newcombe's interval alone holds the truth in 82-90 % here."""
    assert held(area, 10, 190, spread=3.0) >= 0.91


@pytest.mark.parametrize("area", [0.7, 0.9])
def test_rows_that_come_in_groups_need_to_be_said_to(area):
    """40 groups of 10 rows with one label each: if rows count, about half of the intervals hold the truth."""
    rng, groups, found = np.random.default_rng(0), np.repeat(np.arange(40), 10), []
    for _ in range(300):
        target = (rng.random(40) < 0.3).astype(float)[groups]
        score = np.sqrt(2) * ndtri(area) * target + np.sqrt([0.8, 0.2]) @ [
            rng.normal(size=40)[groups],
            rng.normal(size=400),
        ]
        ends = [roc_auc_interval(score, target, groups=together) for together in (groups, None)]
        found.append([low <= area <= high for low, high in ends])
    by_group, by_row = np.mean(found, axis=0)
    assert by_group >= 0.93
    assert by_row <= 0.7


def test_groups_must_name_every_row():
    with pytest.raises(TableError, match="2 of 4 rows have no group"):
        roc_auc_interval([1, 2, 3, 4], [0, 1, 0, 1], groups=["a", None, "b", ""])
    with pytest.raises(TableError, match="one value per row, 4 in all; got"):
        roc_auc_interval([1, 2, 3, 4], [0, 1, 0, 1], groups=["a", "b"])
