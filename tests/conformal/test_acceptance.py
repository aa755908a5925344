"""Accepting rows with a promise: each promise is simulated, and each simulation sees a procedure that breaks it."""

import numpy as np
import numpy.testing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom, binomtest

from vecuq.conformal import (
    Ladder,
    accept_confidently,
    acceptance_p_values,
    accepted_on_average,
    coverage_margin,
    error_rate_lower,
    error_rate_p_values,
    error_rate_upper,
    fewest_labels,
    mean_loss_p_values,
    mean_loss_upper,
    missed_p_values,
    shares_of_delta,
    stakes_for,
    walk_outwards,
)

ALLOWED, DELTA = 0.1, 0.1


def population(seed: int, n: int = 20_000) -> tuple[np.ndarray, np.ndarray]:
    """Scores whose error rate rises, dips and rises again: no threshold beyond some is good."""
    rng = np.random.default_rng(seed)
    scores = rng.random(n)
    rate = np.clip(0.02 + 0.35 * scores + 0.08 * np.sin(12 * scores), 0, 1)
    return scores, rng.random(n) < rate


def broken_rate(choose, draws: int = 1500, n: int = 400) -> float:
    """How often the error rate of what is accepted, counted on the whole population, is above what is allowed."""
    scores, wrong = population(0)
    order = np.argsort(scores)
    risk = np.cumsum(wrong[order]) / np.arange(1, len(order) + 1)
    ladder = Ladder.of(np.random.default_rng(1).random(500))
    rng, broken = np.random.default_rng(2), 0
    for _ in range(draws):
        drawn = rng.integers(len(scores), size=n)
        threshold = choose(scores[drawn], wrong[drawn], ladder)
        accepted = np.searchsorted(scores[order], threshold, side="right")
        broken += accepted > 0 and risk[accepted - 1] > ALLOWED
    return broken / draws


def confident(scores, wrong, ladder):
    return accept_confidently(scores, wrong, ladder, allowed=ALLOWED, delta=DELTA).threshold


def naive(scores, wrong, ladder):
    places = ladder.places_of(scores)
    steps = len(ladder.thresholds)
    counts = np.bincount(places, minlength=steps + 1).cumsum()[:steps]
    errors = np.bincount(places, weights=wrong, minlength=steps + 1).cumsum()[:steps]
    good = np.flatnonzero((counts > 0) & (errors <= ALLOWED * counts))
    return ladder.thresholds[good[-1]] if len(good) else -np.inf


def inwards(scores, wrong, ladder):
    """Stop at the first threshold that passes, from the widest inwards: the walk that is not valid."""
    places = ladder.places_of(scores)
    steps = len(ladder.thresholds)
    counts = np.bincount(places, minlength=steps + 1).cumsum()[:steps]
    errors = np.bincount(places, weights=wrong, minlength=steps + 1).cumsum()[:steps]
    passed = np.flatnonzero(error_rate_p_values(errors, counts, ALLOWED) <= DELTA)
    return ladder.thresholds[passed[-1]] if len(passed) else -np.inf


def test_the_confident_promise_breaks_in_at_most_delta_of_all_label_sets():
    assert broken_rate(confident) <= DELTA + 3 * np.sqrt(DELTA * (1 - DELTA) / 1500)


def test_the_naive_threshold_and_the_walk_inwards_break_it_more_often():
    assert broken_rate(naive) > 0.3
    assert broken_rate(inwards) > broken_rate(confident)


def test_a_rate_just_above_what_is_allowed_at_every_threshold_is_the_hardest_case():
    rng, ladder, draws = np.random.default_rng(3), Ladder.of(np.random.default_rng(4).random(300)), 2000
    found = sum(
        accept_confidently(
            rng.random(300), rng.random(300) < ALLOWED + 1e-6, ladder, allowed=ALLOWED, delta=DELTA
        ).certified
        for _ in range(draws)
    )
    assert 0.02 < found / draws <= DELTA + 3 * np.sqrt(DELTA * (1 - DELTA) / draws)


@pytest.mark.parametrize("size", [5, 10])
def test_groups_keep_the_promise_where_rows_of_a_group_are_wrong_together(size):
    rng, ladder, draws, n_groups = np.random.default_rng(5), Ladder.of(np.random.default_rng(6).random(300)), 800, 120
    groups = np.repeat(np.arange(n_groups), size)
    by_group = by_row = 0
    for _ in range(draws):
        scores = rng.random(len(groups))
        wrong = (rng.random(n_groups) < ALLOWED + 1e-6)[groups]
        how = {"allowed": ALLOWED, "delta": DELTA}
        by_group += accept_confidently(scores, wrong, ladder, groups=groups, **how).certified
        by_row += accept_confidently(scores, wrong, ladder, **how).certified
    limit = DELTA + 3 * np.sqrt(DELTA * (1 - DELTA) / draws)
    assert by_group / draws <= limit
    assert by_row / draws > limit


def test_graded_losses_keep_the_promise_at_their_mean():
    rng, ladder, draws = np.random.default_rng(7), Ladder.of(np.random.default_rng(8).random(300)), 800
    for law in (lambda n: rng.beta(0.5, 4.5, n), lambda n: 0.25 * (rng.random(n) < 0.4), lambda n: np.full(n, ALLOWED)):
        found = sum(
            accept_confidently(rng.random(200), law(200), ladder, allowed=ALLOWED, delta=DELTA).certified
            for _ in range(draws)
        )
        assert found / draws <= DELTA + 3 * np.sqrt(DELTA * (1 - DELTA) / draws)


def test_graded_losses_are_certified_where_they_are_low():
    rng, ladder = np.random.default_rng(9), Ladder.of(np.random.default_rng(10).random(300))
    scores = rng.random(500)
    found = accept_confidently(scores, 0.15 * scores * rng.random(500) * 2, ladder, allowed=ALLOWED, delta=DELTA)
    assert found.n_accepted[found.walk.last] > 300


@pytest.mark.parametrize("batch", [1, 50, 1000])
def test_on_average_the_share_of_wrong_rows_in_a_batch_is_at_most_what_is_allowed(batch):
    rng, draws = np.random.default_rng(11), 600
    shares, pooled = [], np.zeros(2)
    for _ in range(draws):
        scores = rng.random(200 + batch)
        wrong = rng.random(200 + batch) < 0.3 * scores**2
        taken = accepted_on_average(scores[200:], scores[:200], wrong[:200], ALLOWED)
        shares.append((wrong[200:] & taken).sum() / max(taken.sum(), 1))
        pooled += [(wrong[200:] & taken).sum(), taken.sum()]
    assert np.mean(shares) <= ALLOWED + 3 * np.std(shares) / np.sqrt(draws)
    assert pooled[1] > 0


def test_the_p_value_of_acceptance_is_small_for_a_wrong_row_as_rarely_as_it_says():
    rng, draws = np.random.default_rng(12), 4000
    small = 0
    for _ in range(draws):
        scores = rng.random(51).round(2)
        wrong = rng.random(51) < scores
        p = acceptance_p_values(scores[50:], scores[:50], wrong[:50])[0]
        small += wrong[50] and p <= 0.2
    assert small / draws <= 0.2 + 3 * np.sqrt(0.16 / draws)


def test_rows_without_a_score_are_never_accepted():
    ladder = Ladder.of(np.linspace(0, 1, 200))
    found = accept_confidently(np.full(300, np.nan), np.zeros(300), ladder, allowed=ALLOWED, delta=DELTA)
    assert not found.certified
    assert not accepted_on_average(np.array([np.nan, 0.1]), np.linspace(0, 1, 99), np.zeros(99, dtype=bool), 0.5)[0]


def test_equal_scores_are_accepted_together_also_on_another_processor():
    ladder = Ladder.of(np.repeat([0.1, 0.2, 0.3], 50))
    assert len(ladder.thresholds) == 3
    npt.assert_array_equal(ladder.places_of(np.array([0.2, 0.2 * (1 + 1e-12), 0.2 * (1 - 1e-12)])), 1)


def test_unlabelled_rows_without_a_score_count_in_the_coverage():
    npt.assert_allclose(Ladder.of(np.array([1.0, 2.0, np.nan, np.nan]), n_levels=4).coverage, [0.25, 0.5])


@given(errors=st.integers(0, 60), extra=st.integers(0, 200), rate=st.floats(0.01, 0.9))
def test_p_values_are_those_of_the_binomial_law(errors, extra, rate):
    npt.assert_allclose(error_rate_p_values(errors, errors + extra, rate), binom.cdf(errors, errors + extra, rate))


@given(errors=st.integers(0, 40), extra=st.integers(1, 200), delta=st.floats(0.01, 0.4))
def test_bounds_are_those_of_clopper_and_pearson(errors, extra, delta):
    interval = binomtest(errors, errors + extra).proportion_ci(1 - 2 * delta, method="exact")
    npt.assert_allclose(error_rate_upper(errors, errors + extra, delta), interval.high, rtol=1e-7)
    npt.assert_allclose(error_rate_lower(errors, errors + extra, delta), interval.low, rtol=1e-7, atol=1e-12)


@given(allowed=st.floats(0.005, 0.5), delta=st.floats(0.01, 0.4), errors=st.integers(0, 3))
def test_so_few_labels_pass_and_one_less_does_not(allowed, delta, errors):
    n = fewest_labels(allowed, delta, errors)
    assert error_rate_p_values(errors, n, allowed) <= delta * (1 + 1e-9)
    assert error_rate_p_values(errors, n - 1, allowed) > delta * (1 - 1e-9)


def test_without_errors_the_floor_is_the_one_in_closed_form():
    assert fewest_labels(0.05, 0.1) == int(np.ceil(np.log(0.1) / np.log(0.95))) == 45


@given(n=st.integers(1, 5000), allowed=st.floats(0.01, 0.5), delta=st.floats(0.01, 0.4))
def test_the_shares_of_delta_add_up_to_delta(n, allowed, delta):
    ladder = Ladder.of(np.linspace(0, 1, 500))
    npt.assert_allclose(shares_of_delta(ladder, n, allowed=allowed, delta=delta).sum(), delta)


@given(p=st.lists(st.floats(0, 1), min_size=1, max_size=20), seed=st.integers(0, 100))
def test_a_walk_passes_no_more_than_delta_on(p, seed):
    shares = np.random.default_rng(seed).dirichlet(np.ones(len(p))) * 0.1
    walk = walk_outwards(np.array(p), shares)
    assert (walk.levels <= 0.1 + 1e-12).all()
    assert walk.last == -1 or p[walk.last] <= walk.levels[walk.last] * (1 + 1e-9)


def test_the_bound_on_a_mean_loss_holds_and_is_not_idle():
    rng, draws, below = np.random.default_rng(13), 1000, 0
    for _ in range(draws):
        below += mean_loss_upper(rng.beta(1, 9, 100), DELTA) < 0.1
    assert below / draws <= DELTA + 3 * np.sqrt(DELTA * (1 - DELTA) / draws)
    assert mean_loss_upper(rng.beta(1, 9, 4000), DELTA) < 0.11


def test_bets_on_losses_do_not_depend_on_the_order_of_rows():
    losses = np.random.default_rng(14).random((50, 3)) - 0.5
    stakes = stakes_for(50, np.ones(3), 0.5, 0.1)
    npt.assert_allclose(mean_loss_p_values(losses, 0.5, stakes), mean_loss_p_values(losses[::-1], 0.5, stakes))


def test_the_margin_of_coverage_holds_for_all_thresholds_at_once():
    rng, draws = np.random.default_rng(15), 1000
    far = sum(
        np.abs(np.sort(rng.random(80)) - np.arange(1, 81) / 80).max() > coverage_margin(80, DELTA) for _ in range(draws)
    )
    assert far / draws <= DELTA + 3 * np.sqrt(DELTA * (1 - DELTA) / draws)


def test_the_average_promise_holds_where_rows_have_no_score():
    """Left out of the batch but not of the labels, half of the rows would double the share of wrong ones."""
    rng, shares = np.random.default_rng(11), []
    for _ in range(200):
        scores = rng.random(1_000)
        wrong = rng.random(1_000) < 0.6 * scores
        scores[rng.random(1_000) < 0.5] = np.nan
        accepted = accepted_on_average(scores[500:], scores[:500], wrong[:500], allowed=0.1)
        assert not accepted[np.isnan(scores[500:])].any()
        shares.append((wrong[500:] & accepted).sum() / max(accepted.sum(), 1))
    assert np.mean(shares) <= 0.1 + 3 * np.std(shares) / np.sqrt(200)


def test_the_share_of_wrong_rows_that_is_missed_counts_groups_where_rows_come_together():
    """40 groups of 10 equal rows: counted as 400 rows, the promise would break in a third of the draws."""
    rng, groups, broken = np.random.default_rng(12), np.repeat(np.arange(40), 10), 0
    ladder = Ladder.of(np.linspace(0, 1, 1_001))
    for _ in range(200):
        scores, wrong = rng.random(40)[groups], (rng.random(40) < 0.3)[groups]
        p_values = missed_p_values(scores, wrong, ladder, allowed=0.2, delta=0.1, groups=groups)
        last = walk_outwards(p_values, 0.1 * (np.arange(len(p_values)) == 0)).last
        broken += last >= 0 and ladder.thresholds[last] > 0.2 + 1e-6
    assert broken / 200 <= 0.1 + 3 * np.sqrt(0.09 / 200)


def test_the_bound_of_groups_is_on_a_random_row_of_a_random_group():
    """Half of the groups have one accepted row and no error, the others ten with a fifth wrong: a rate of 2 / 11."""
    rng, below = np.random.default_rng(13), 0
    for _ in range(100):
        full = rng.random(300) < 0.5
        shares = np.where(full, 1.0, 0.1)
        below += mean_loss_upper(full * rng.binomial(10, 0.2, 300) / 10, 0.1, shares=shares, coverage=0.55) < 2 / 11
    assert below <= 10 + 3 * np.sqrt(9)
