"""A rate that this calibration set keeps with a confidence, and the law of its rate."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import beta, binom

from vecuq.conformal import (
    HeldScores,
    group_weights,
    held_for_confidence,
    rate_interval,
    rate_with_confidence,
    threshold_at,
)
from vecuq.errors import SettingError


@given(
    n=st.integers(1, 400), alpha=st.sampled_from([0.01, 0.05, 0.1, 0.3]), confidence=st.sampled_from([0.6, 0.9, 0.99])
)
def test_the_rank_is_the_largest_whose_beta_law_keeps_alpha_with_confidence(n, alpha, confidence):
    most = int(alpha * (n + 1) * (1 + 1e-12))
    kept = [k for k in range(1, most + 1) if beta(k, n + 1 - k).cdf(alpha) >= confidence - 1e-12]
    if kept:
        assert rate_with_confidence(alpha, confidence, n) == pytest.approx(kept[-1] / (n + 1))
    else:
        assert n < held_for_confidence(alpha, confidence)
        with pytest.raises(SettingError, match=rf"needs at least {held_for_confidence(alpha, confidence):,} held-back"):
            rate_with_confidence(alpha, confidence, n)


@given(alpha=st.floats(0.005, 0.5), confidence=st.floats(0.6, 0.99))
def test_as_many_rows_as_the_message_names_are_enough_and_one_less_is_not(alpha, confidence):
    n = held_for_confidence(alpha, confidence)
    assert rate_with_confidence(alpha, confidence, n) > 0
    if n > 1:
        with pytest.raises(SettingError, match=rf"needs at least {n:,} held-back rows; this model has {n - 1:,}"):
            rate_with_confidence(alpha, confidence, n - 1)


@pytest.mark.parametrize(("n", "alpha"), [(200, 0.05), (99, 0.05), (300, 0.01)])
def test_one_set_in_ten_at_most_flags_more_than_alpha(n, alpha):
    """For uniform scores the rate of a set is one minus its threshold."""
    rng, sets = np.random.default_rng(0), 4_000
    rate = rate_with_confidence(alpha, 0.9, n)
    broken = np.array([1.0 - threshold_at(np.sort(rng.random(n)), rate) > alpha for _ in range(sets)])
    assert broken.mean() <= 0.1 + 3 * np.sqrt(0.09 / sets)
    # One rank more, or no confidence at all, would be seen.
    more = np.array([1.0 - threshold_at(np.sort(rng.random(n)), rate + 1 / (n + 1)) > alpha for _ in range(sets)])
    assert more.mean() > 0.1 + 3 * np.sqrt(0.09 / sets)


def rates_of_groups(n_groups, alpha, *, confident, sets=1_500, seed=0):
    """Return the false-alarm rate of each calibration set of groups of four rows, known exactly: scores are uniform.

    A group is of one kind, all rows alike, or of the other, all rows independent.
    """
    rng, out = np.random.default_rng(seed), np.empty(sets)
    rate = rate_with_confidence(alpha, 0.9, n_groups, groups=True) if confident else alpha
    groups = np.repeat(np.arange(n_groups), 4)
    for one in range(sets):
        scores = rng.random((n_groups, 4))
        scores[::2] = scores[::2, :1]
        order = np.argsort(scores.ravel())
        held = HeldScores(scores.ravel()[order], group_weights(groups)[order])
        out[one] = 1.0 - held.threshold(rate)
    return out


def test_one_set_of_groups_in_ten_at_most_flags_more_than_alpha():
    broken = rates_of_groups(150, 0.1, confident=True) > 0.1
    assert broken.mean() <= 0.1 + 3 * np.sqrt(0.09 / len(broken))
    assert rates_of_groups(150, 0.1, confident=True).mean() > 0.03
    assert (rates_of_groups(150, 0.1, confident=False) > 0.1).mean() > 0.25


@given(n=st.integers(20, 500), alpha=st.sampled_from([0.05, 0.1, 0.3]))
def test_groups_ask_for_more_than_single_rows(n, alpha):
    try:
        grouped = rate_with_confidence(alpha, 0.9, n, groups=True)
    except SettingError:
        assert n < held_for_confidence(alpha, 0.9)
    else:
        assert grouped <= rate_with_confidence(alpha, 0.9, n)
        # A share of each group above the threshold is never worse than yes or no, to the factor of Bentkus.
        assert binom(n, alpha).cdf(round(grouped * (n + 1)) - 1) <= 0.1 + 1e-9


@pytest.mark.parametrize(("n", "alpha"), [(200, 0.05), (50, 0.1)])
def test_nine_sets_in_ten_lie_in_the_interval(n, alpha):
    rng = np.random.default_rng(1)
    rates = np.array([1.0 - threshold_at(np.sort(rng.random(n)), alpha) for _ in range(4_000)])
    low, high = rate_interval(alpha, n)
    assert abs(np.mean((rates >= low) & (rates <= high)) - 0.9) < 3 * np.sqrt(0.09 / 4_000)
    assert abs(np.mean(rates > high) - 0.05) < 0.012


def test_the_interval_of_a_rate_that_cannot_be_had_is_empty():
    assert rate_interval(0.01, 20) == (0.0, 0.0)
    assert rate_interval(0.999, 3) == rate_interval(0.75, 3) != (1.0, 1.0)


@pytest.mark.parametrize("confidence", [0.0, 1.0, 90, "high"])
def test_a_confidence_that_is_none_is_refused(confidence):
    with pytest.raises(SettingError, match="confidence must"):
        rate_with_confidence(0.05, confidence, 200)
