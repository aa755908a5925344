"""Online ranks: the urn is the law of exchangeable places, and its p-values are uniform, ties or none."""

from collections import Counter
from itertools import permutations

import numpy as np
import numpy.testing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import kstest

from vecuq.conformal import SortedScores, uniform_ranks


def one_by_one(above, n, draws):
    """The formula of the module, read aloud."""
    counts, out = [0] * (n + 1), []
    for t, (bin_, draw) in enumerate(zip(above, draws, strict=True), start=1):
        higher = sum(1 + c for c in counts[:bin_])
        out.append((higher + draw * (1 + counts[bin_])) / (n + t))
        counts[bin_] += 1
    return out


@settings(max_examples=30, deadline=None)
@given(st.integers(1, 20), st.integers(0, 1200), st.integers(0, 2**32 - 1))
def test_blocks_of_rows_give_what_rows_one_by_one_give(n, n_rows, seed):
    rng = np.random.default_rng(seed)
    above, draws = rng.integers(0, n + 1, size=n_rows), rng.random(n_rows)
    counts = np.zeros(n + 1, dtype=np.int64)
    npt.assert_array_equal(uniform_ranks(above, counts, draws), one_by_one(above, n, draws))
    npt.assert_array_equal(counts, np.bincount(above, minlength=n + 1))


def test_the_urn_is_the_law_of_places_over_all_orders():
    # Two calibration scores and three rows: all orders of five numbers are equally likely.
    seen = Counter()
    for order in permutations(range(5)):
        reference = SortedScores.of(np.array(order[:2], dtype=float), (0,))
        seen[tuple(reference.bins_above(np.array(order[2:], dtype=float), np.zeros(3)))] += 1
    for bins, count in seen.items():
        chance, counts = 1.0, [0, 0, 0]
        for t, bin_ in enumerate(bins, start=1):
            chance *= (1 + counts[bin_]) / (2 + t)
            counts[bin_] += 1
        assert count / 120 == pytest.approx(chance)


LAWS = {
    "continuous": lambda rng, n: rng.normal(size=n),
    "tied": lambda rng, n: rng.integers(0, 3, size=n).astype(float),
    "constant": lambda rng, n: np.zeros(n),
    "half zero": lambda rng, n: np.maximum(rng.normal(size=n), 0.0),
}


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("n", [5, 200])
def test_online_p_values_are_uniform_and_independent_under_no_drift(law, n):
    pooled, pairs = [], []
    for run in range(400):
        rng = np.random.default_rng([run, n])
        reference = SortedScores.of(LAWS[law](rng, n), (run, 1))
        above = reference.bins_above(LAWS[law](rng, 20), rng.random(20))
        p = uniform_ranks(above, np.zeros(n + 1, dtype=np.int64), rng.random(20))
        pooled.append(p)
        # Sharing one calibration set would make the mean of a run vary more than that of independent numbers.
        pairs.append(p.mean())
    assert kstest(np.concatenate(pooled), "uniform").pvalue > 1e-3
    assert np.var(pairs) * 12 * 20 == pytest.approx(1.0, abs=0.3)


def test_a_score_above_all_others_is_in_the_first_bin_and_one_below_in_the_last():
    reference = SortedScores.of(np.array([3.0, 1.0, 2.0]), (0,))
    npt.assert_array_equal(reference.bins_above(np.array([9.0, 2.5, 0.0]), np.full(3, 0.5)), [0, 1, 3])


@settings(max_examples=60)
@given(st.lists(st.integers(-3, 3), min_size=1, max_size=20), st.integers(0, 2**32 - 1))
def test_scores_a_hair_apart_are_placed_as_if_they_were_equal(levels, seed):
    rng = np.random.default_rng(seed)
    scores, new, breakers = np.array(levels) / 3, rng.integers(-4, 5, size=50) / 3, rng.random(50)
    exact, blurred = (
        SortedScores.of(scores * (1 + off * rng.uniform(-1, 1, size=len(scores))), (seed,)) for off in (0.0, 1e-13)
    )
    nudged = new * (1 + 1e-13 * rng.uniform(-1, 1, size=50))
    npt.assert_array_equal(blurred.bins_above(nudged, breakers), exact.bins_above(new, breakers))
    assert exact.has_ties == blurred.has_ties == (len(set(levels)) < len(levels))


def test_scores_that_lie_densely_are_not_all_equal():
    # Each is a hair above the one before; together they span many hairs.
    dense = 1.0 + 4e-10 * np.arange(2_000)
    reference = SortedScores.of(dense, (0,))
    above = reference.bins_above(dense, np.full(2_000, 0.5))
    assert np.abs(above - np.arange(2_000, 0, -1)).max() <= 4
    npt.assert_array_equal(reference.bins_above(np.array([0.5, 2.0]), np.full(2, 0.5)), [2_000, 0])


def test_infinite_scores_lie_beyond_all_others_and_tie_with_each_other():
    reference = SortedScores.of(np.array([-np.inf, 1.0, np.inf, np.inf]), (0,))
    npt.assert_array_equal(reference.bins_above(np.array([np.inf, -np.inf]), np.array([1.0, 0.0])), [0, 4])
    npt.assert_array_equal(reference.bins_above(np.array([np.inf, 1e300]), np.array([0.0, 0.0])), [2, 2])
