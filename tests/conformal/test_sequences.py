"""Labels one by one: bounds that hold however often they are looked at, and evidence against a promise."""

import numpy as np
import numpy.testing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import betaincinv

from vecuq.conformal import Doubt, doubted, running_error_lower, running_error_upper

DELTA = 0.1
# At most a share of delta of the streams, plus three standard errors.
N_STREAMS = 300
MOST = N_STREAMS * DELTA + 3 * np.sqrt(N_STREAMS * DELTA * (1 - DELTA))


def steady(rate):
    return lambda wrong_before, step: np.full(len(wrong_before), rate)


def jump(before, after, at):
    return lambda wrong_before, step: np.full(len(wrong_before), before if step < at else after)


def against_the_bound(wrong_before, step):
    """Errors become rarer as they get rarer: the worst for an upper bound is an error rate that leaves its history."""
    return np.where(wrong_before / max(step, 1) < 0.05, 0.2, 0.02)


RATES = {
    "steady 5 %": steady(0.05),
    "steady 30 %": steady(0.3),
    "rises": jump(0.02, 0.4, 100),
    "falls": jump(0.4, 0.02, 100),
    "depends on the past": against_the_bound,
}


def streams(rate, n_labels, seed, n_streams=N_STREAMS):
    """Return labels and their probabilities of being wrong, (labels, streams) each."""
    rng = np.random.default_rng(seed)
    labels, rates, before = [], [], np.zeros(n_streams)
    for step in range(n_labels):
        rates.append(rate(before, step))
        labels.append(rng.random(n_streams) < rates[-1])
        before = before + labels[-1]
    return np.array(labels), np.array(rates)


def bounds_of(labels, bound):
    """Return a bound after every label, each pair of counts computed once."""
    wrong = np.cumsum(labels, axis=0)
    count = np.arange(1, len(labels) + 1)[:, None] + np.zeros_like(wrong)
    pairs, place = np.unique(np.stack([wrong.ravel(), count.ravel()]), axis=1, return_inverse=True)
    return bound(*pairs)[np.ravel(place)].reshape(wrong.shape)


def running(rates):
    return np.cumsum(rates, axis=0) / np.arange(1, len(rates) + 1)[:, None]


@pytest.mark.parametrize("name", RATES)
def test_the_running_error_rate_is_rarely_ever_outside_its_bounds(name):
    labels, rates = streams(RATES[name], 400, seed=1)
    upper = bounds_of(labels, lambda wrong, n: running_error_upper(wrong, n, DELTA))
    lower = bounds_of(labels, lambda wrong, n: running_error_lower(wrong, n, DELTA))
    assert (upper < running(rates)).any(axis=0).sum() <= MOST
    assert (lower > running(rates)).any(axis=0).sum() <= MOST


def test_a_bound_for_one_look_would_be_exceeded_too_often():
    labels, rates = streams(steady(0.3), 400, seed=1)
    upper = bounds_of(labels, lambda wrong, n: np.where(wrong < n, betaincinv(wrong + 1, n - wrong + 1e-9, 0.9), 1.0))
    assert (upper < running(rates)).any(axis=0).sum() > MOST


def test_bounds_close_in_on_the_error_rate():
    n = np.array([100, 1_000, 10_000, 100_000])
    upper, lower = (bound(n // 20, n, DELTA) for bound in (running_error_upper, running_error_lower))
    assert (np.diff(upper) < 0).all()
    assert (np.diff(lower) > 0).all()
    npt.assert_allclose([lower[-1], upper[-1]], 0.05, atol=0.003)


@given(st.integers(0, 300), st.integers(0, 300), st.sampled_from([0.01, 0.1, 0.3]))
def test_bounds_hold_the_observed_rate_and_grow_with_the_errors(wrong, right, delta):
    n = wrong + right
    upper, more = running_error_upper([wrong, wrong + 1], [n, n + 1], delta)
    lower, fewer = running_error_lower([wrong, wrong], [n, n + 1], delta)
    assert 0 <= lower <= wrong / max(n, 1) <= upper <= 1
    assert upper <= more + 1e-12
    assert fewer <= lower + 1e-12


@pytest.mark.parametrize("name", ["exactly as promised", "better", "sometimes better"])
@pytest.mark.parametrize("allowed", [0.05, 0.2])
def test_a_promise_that_holds_is_rarely_ever_called_broken(name, allowed):
    rate = {"exactly as promised": allowed, "better": allowed / 2, "sometimes better": allowed}[name]
    law = jump(0.0, rate, 200) if name == "sometimes better" else steady(rate)
    labels, _ = streams(law, 2_000, seed=2)
    _, evidence = doubted(Doubt.new(N_STREAMS), labels, allowed)
    assert (evidence.max(axis=0) >= np.log(1 / DELTA)).sum() <= MOST


@pytest.mark.parametrize("before", [0, 200, 500])
@pytest.mark.parametrize("accuracy", [0.95, 0.9, 0.8])
def test_ten_points_of_accuracy_less_are_found_within_300_labels(accuracy, before):
    allowed = 1 - accuracy
    labels, _ = streams(jump(allowed, allowed + 0.1, before), before + 500, seed=3, n_streams=100)
    _, evidence = doubted(Doubt.new(100), labels, allowed)
    found = evidence >= np.log(1 / DELTA)
    first = np.where(found.any(axis=0), found.argmax(axis=0), np.inf)
    assert np.median(first - before + 1) <= 300


def from_every_start(wrong, allowed):
    """The evidence, added up start by start and bet by bet."""

    def reserve(t):
        return 0.75 * (1 + t / 1_000) ** -0.5 if t else 1.0

    total = reserve(len(wrong))
    for start in range(len(wrong)):
        stake = reserve(start) - reserve(start + 1)
        for share in 0.5 ** np.arange(1, 6):
            rate = allowed + (1 - allowed) * share
            gains = np.where(wrong[start:], rate / allowed, (1 - rate) / (1 - allowed))
            total += stake * gains.prod() / 5
    return total


LABELS = st.lists(st.booleans(), min_size=1, max_size=40).map(np.array)


@given(LABELS, st.sampled_from([0.01, 0.05, 0.5]))
def test_the_evidence_is_the_sum_over_every_start(wrong, allowed):
    after, log_evidence = doubted(Doubt.new(), wrong, allowed)
    assert np.exp(log_evidence[-1]) == pytest.approx(from_every_start(wrong, allowed), rel=1e-9)
    assert after.log_evidence == log_evidence[-1]


@settings(max_examples=30)
@given(st.integers(0, 60), st.integers(0, 2**32 - 1))
def test_going_on_gives_the_same_bits_as_going_through(cut, seed):
    wrong = np.random.default_rng(seed).random(60) < 0.1
    whole, through = doubted(Doubt.new(), wrong, 0.05)
    half, first = doubted(Doubt.new(), wrong[:cut], 0.05)
    rest, second = doubted(half, wrong[cut:], 0.05)
    npt.assert_array_equal(np.concatenate([first, second]), through)
    npt.assert_array_equal(rest.staked, whole.staked)


def test_streams_that_go_on_together_are_as_each_alone():
    labels = np.random.default_rng(0).random((50, 4)) < 0.2
    _, together = doubted(Doubt.new(4), labels, 0.1)
    npt.assert_array_equal(together, np.stack([doubted(Doubt.new(), one, 0.1)[1] for one in labels.T], axis=1))


@given(LABELS)
def test_one_label_less_that_is_wrong_never_adds_evidence(wrong):
    _, evidence = doubted(Doubt.new(), wrong, 0.05)
    _, fewer = doubted(Doubt.new(), wrong & (np.arange(len(wrong)) != wrong.argmax()), 0.05)
    assert (fewer <= evidence + 1e-12).all()
