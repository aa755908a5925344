"""Bets: fair on uniform p-values, and summed over every moment at which drift may have begun."""

import numpy as np
import numpy.testing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.integrate import quad
from scipy.stats import norm

from vecuq.conformal import Fortune, bets_on, play


@pytest.mark.parametrize("bet", bets_on("both"), ids=str)
def test_every_bet_is_fair(bet):
    value, _ = quad(lambda z: np.exp(bet.log_density(z)) * norm.pdf(z), -12, 12, epsabs=1e-10)
    assert value == pytest.approx(1.0, abs=1e-7)


def test_bets_on_growth_pay_more_for_smaller_p_values():
    z = np.linspace(-6, 6, 50)
    for bet in bets_on("up"):
        assert (np.diff(bet.log_density(z)) > 0).all()


def from_every_start(p, bets):
    """What the stakes are worth in the end, added up start by start."""
    densities = np.array([[np.exp(bet.log_density(-norm.ppf(value))) for bet in bets] for value in p])
    total = 1 / np.sqrt(len(p) + 1)
    for start in range(len(p)):
        stake = 1 / np.sqrt(start + 1) - 1 / np.sqrt(start + 2)
        total += stake * densities[start:].prod(axis=0).mean()
    return total


@settings(max_examples=30)
@given(st.lists(st.floats(1e-6, 1 - 1e-6), min_size=1, max_size=30), st.sampled_from(["both", "up"]))
def test_the_fortune_is_the_sum_over_every_start(p, direction):
    bets = bets_on(direction)
    played = play(Fortune.new(len(bets)), np.array(p), np.arange(len(p)), bets)
    assert np.exp(played.log_total[-1]) == pytest.approx(from_every_start(p, bets), rel=1e-9)


@settings(max_examples=30)
@given(st.integers(0, 50), st.integers(0, 2**32 - 1))
def test_playing_on_gives_the_same_bits_as_playing_through(cut, seed):
    p, bets = np.random.default_rng(seed).random(50), bets_on("both")
    rows = np.arange(50)
    whole = play(Fortune.new(len(bets)), p, rows, bets)
    half = play(Fortune.new(len(bets)), p[:cut], rows[:cut], bets)
    rest = play(half.after, p[cut:], rows[cut:], bets)
    npt.assert_array_equal(np.concatenate([half.log_total, rest.log_total]), whole.log_total)
    npt.assert_array_equal(np.concatenate([half.started, rest.started]), whole.started)


def test_the_start_of_a_change_is_found():
    rng, bets = np.random.default_rng(0), bets_on("both")
    p = np.concatenate([rng.random(500), norm.sf(rng.normal(1.0, size=100))])
    played = play(Fortune.new(len(bets)), p, np.arange(600), bets)
    best = played.log_by_bet[-1].argmax()
    assert bets[best].says == "higher"
    assert abs(played.started[-1, best] - 500) <= 20


def test_p_values_of_exactly_zero_and_one_leave_the_fortune_finite():
    bets = bets_on("both")
    played = play(Fortune.new(len(bets)), np.array([0.0, 1.0, 0.5]), np.arange(3), bets)
    assert np.isfinite(played.log_total).all()
