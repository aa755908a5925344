"""Decisions: p-values with and without ties, flags, selections, and rates that cannot be had."""

from dataclasses import replace

import numpy as np
import numpy.testing as npt
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from scipy.stats import beta, kstest

from vecuq import Settings, VecUQ, fit_ranker
from vecuq.conformal import (
    around,
    conformal_p_values,
    deliverable,
    flagged,
    largest_selected,
    last_equal,
    selected,
    threshold_at,
    tie_draws,
)
from vecuq.errors import CalibrationError, CalibrationWarning, MissingValueWarning, SettingError

ROWS = np.random.default_rng(0).gamma(1.0, size=(400, 3))
NEW = np.random.default_rng(1).gamma(1.5, size=(300, 3)) * 2

levels = st.lists(st.integers(0, 5).map(float), min_size=1, max_size=30).map(np.array)
numbers = st.one_of(st.floats(allow_nan=False, allow_infinity=False), st.integers(-3, 3).map(float))
number_lists = st.lists(numbers, min_size=1, max_size=20).map(np.array)
p_lists = st.lists(st.integers(1, 40).map(lambda k: k / 40), min_size=1, max_size=25).map(np.array)


@pytest.fixture(scope="module")
def ranker():
    return fit_ranker(ROWS)


@given(calibration=levels, scores=levels)
def test_p_values_count_what_is_at_least_as_large(calibration, scores):
    brute = [(1 + sum(c >= s for c in calibration)) / (len(calibration) + 1) for s in scores]
    npt.assert_allclose(conformal_p_values(scores, np.sort(calibration)), brute)


@given(calibration=levels, scores=levels, luck=st.floats(0, 0.999))
def test_randomised_ties_count_between_none_and_all_of_them(calibration, scores, luck):
    known = np.sort(calibration)
    got = conformal_p_values(scores, known, np.full(len(scores), luck))
    strict = np.array([(1 + sum(c > s for c in calibration)) / (len(calibration) + 1) for s in scores])
    assert (got >= strict - 1e-12).all()
    assert (got <= conformal_p_values(scores, known) + 1e-12).all()


def test_randomised_ties_make_p_values_uniform_where_all_scores_are_equal():
    luck = (np.arange(1000) + 0.5) / 1000
    got = conformal_p_values(np.ones(1000), np.ones(9), luck)
    npt.assert_array_equal(np.unique(got, return_counts=True)[1], [100] * 10)


def test_randomised_ties_are_seeded_and_change_nothing_without_ties(ranker):
    npt.assert_array_equal(ranker.p_values(NEW, ties="randomised"), ranker.p_values(NEW))
    coarse = fit_ranker(ROWS.round())
    first, again, other = (coarse.p_values(NEW.round(), ties="randomised", random_state=seed) for seed in (1, 1, 2))
    npt.assert_array_equal(first, again)
    assert not np.array_equal(first, other)
    assert (first <= coarse.p_values(NEW.round())).all()
    model = VecUQ(random_state=1).fit(ROWS.round())
    npt.assert_array_equal(
        model.p_values(NEW.round(), ties="randomised"),
        model.ranker_.p_values(NEW.round(), ties="randomised", random_state=1),
    )


def brute_step_up(p_values, alpha):
    """Return the Benjamini-Hochberg selection from its definition: the largest k with k p-values <= alpha k / n."""
    n = len(p_values)
    largest = max((k for k in range(1, n + 1) if (p_values <= alpha * k / n + 1e-12).sum() >= k), default=0)
    return p_values <= alpha * largest / n + 1e-12 if largest else np.zeros(n, dtype=bool)


@given(p_values=p_lists, alpha=st.sampled_from([0.05, 0.1, 0.2, 0.5]))
def test_bh_is_the_step_up_rule(p_values, alpha):
    npt.assert_array_equal(selected(p_values, alpha, "bh"), brute_step_up(p_values, alpha))


@given(p_values=p_lists, alpha=st.sampled_from([0.05, 0.1, 0.2, 0.5]))
def test_by_is_bh_at_a_rate_divided_by_the_harmonic_sum(p_values, alpha):
    harmonic = sum(1 / k for k in range(1, len(p_values) + 1))
    npt.assert_array_equal(selected(p_values, alpha, "by"), brute_step_up(p_values, alpha / harmonic))
    npt.assert_array_equal(selected(p_values, alpha, "none"), p_values <= alpha + 1e-12)


def test_a_row_without_a_p_value_is_flagged_but_never_selected():
    p_values = np.array([0.01, np.nan, 0.9])
    npt.assert_array_equal(flagged(p_values, 0.05), [True, True, False])
    npt.assert_array_equal(selected(p_values, 0.05), [True, False, False])
    npt.assert_array_equal(selected(np.full(3, np.nan), 0.05), [False] * 3)
    assert selected(np.empty(0), 0.05).shape == (0,)


@given(n=st.integers(1, 60), alpha=st.sampled_from([0.01, 0.02, 0.05, 0.1, 0.25, 0.5]))
def test_a_rate_is_refused_exactly_when_the_smallest_p_value_exceeds_it(n, alpha):
    if 1 / (n + 1) <= alpha + 1e-12:
        assert deliverable(alpha, n) == alpha
    else:
        with pytest.raises(SettingError, match=f"this model has {n}, which allow alpha={1 / (n + 1):.4g}"):
            deliverable(alpha, n)


@given(calibration=levels, scores=levels, alpha=st.sampled_from([0.1, 0.25, 0.5, 0.9]))
def test_a_score_above_the_threshold_is_a_p_value_of_at_most_alpha(calibration, scores, alpha):
    known = np.sort(calibration)
    if alpha * (len(known) + 1) >= 1:
        npt.assert_array_equal(scores > threshold_at(known, alpha), flagged(conformal_p_values(scores, known), alpha))


def steps_around(values):
    """Return numbers that are a few steps from others, for all that lies on an edge."""
    up, down = np.nextafter(values, np.inf), np.nextafter(values, -np.inf)
    return np.concatenate([values, up, down, np.nextafter(up, np.inf), np.nextafter(down, -np.inf)])


@given(calibration=number_lists, others=number_lists, alpha=st.floats(0.001, 0.999))
@example(calibration=np.zeros(5), others=np.zeros(1), alpha=0.5)
@example(calibration=np.full(9, np.finfo(float).max), others=np.array([-np.finfo(float).max]), alpha=0.1)
def test_exactly_the_floats_above_the_threshold_have_p_values_of_at_most_alpha(calibration, others, alpha):
    known, threshold = np.sort(calibration), threshold_at(np.sort(calibration), alpha)
    ends = np.concatenate([known, *around(known), last_equal(known), [threshold]])
    with np.errstate(over="ignore"):
        scores = np.concatenate([steps_around(ends), others])
    npt.assert_array_equal(scores > threshold, flagged(conformal_p_values(scores, known), alpha))


@given(values=number_lists, share=st.floats(-0.99e-9, 0.99e-9))
def test_what_lies_less_than_a_hair_away_is_equal_and_what_lies_further_is_not(values, share):
    lower, higher = around(values)
    with np.errstate(over="ignore"):
        moved = values * (1 + share)
    assert ((lower <= moved) & (moved <= higher)).all()
    # Below, a step is more than a hair; above, there is nothing.
    inner = (np.abs(values) > 1e-300) & (np.abs(values) < 1e300)
    further = 3e-9 * np.abs(values[inner])
    assert (values[inner] + further > higher[inner]).all()
    assert (values[inner] - further < lower[inner]).all()


@pytest.mark.parametrize("towards", [-np.inf, np.inf])
def test_a_calibration_score_that_is_one_bit_off_changes_no_p_value_of_tied_rows(towards):
    """So it is on another processor: the scores of equal rows differ in the last bits, and they are ties still."""
    rows = np.random.default_rng(3).integers(0, 2, size=(400, 2)).astype(float)
    at_home = fit_ranker(rows)
    elsewhere = replace(at_home, calibration_scores=np.nextafter(at_home.calibration_scores, towards))
    new = np.random.default_rng(4).integers(0, 2, size=(2000, 2)).astype(float)
    for how in ({}, {"ties": "randomised"}):
        npt.assert_array_equal(elsewhere.p_values(new, **how), at_home.p_values(new, **how))
    for alpha in (0.01, 0.05, 0.1, 0.3):
        npt.assert_array_equal(elsewhere.flag(new, alpha), at_home.flag(new, alpha))
        npt.assert_array_equal(elsewhere.uncertainty(new) > elsewhere.threshold(alpha), at_home.flag(new, alpha))
    assert elsewhere.flag(new, 0.1).mean() < 0.12


def test_a_generator_goes_on_from_call_to_call_so_that_rows_one_by_one_are_one_batch():
    coarse, new = fit_ranker(ROWS.round()), NEW[:60].round()
    rng = np.random.default_rng(7)
    alone = [coarse.p_values(row[None], ties="randomised", random_state=rng)[0] for row in new]
    batch = coarse.p_values(new, ties="randomised", random_state=np.random.default_rng(7))
    npt.assert_array_equal(alone, batch)
    assert not np.array_equal(batch, coarse.p_values(new, ties="randomised", random_state=rng))


def test_rows_one_by_one_have_uniform_p_values_with_a_generator_and_not_with_a_seed():
    """Every score ties with all held-back ones, so luck alone decides."""
    rng = np.random.default_rng(0)
    drawn = np.array(
        [conformal_p_values(np.ones(1), np.ones(9), tie_draws("randomised", 1, rng))[0] for _ in range(2000)]
    )
    for alpha in np.arange(1, 10) / 10:
        assert abs(np.mean(drawn <= alpha + 1e-9) - alpha) < 4 * np.sqrt(alpha * (1 - alpha) / 2000)
    assert len({tie_draws("randomised", 1, 5)[0] for _ in range(20)}) == 1


@pytest.mark.parametrize("seed", [-1, 0.5, True, "7"])
def test_a_seed_that_is_none_is_refused(ranker, seed):
    with pytest.raises(SettingError, match="random_state must be None, a whole number of at least 0 or a numpy Gen"):
        ranker.p_values(NEW, ties="randomised", random_state=seed)


def test_the_estimator_takes_ties_and_seeds_wherever_it_decides():
    model, new = VecUQ(random_state=1).fit(ROWS.round()), NEW.round()
    p_values = model.p_values(new, ties="randomised", random_state=2)
    how = {"ties": "randomised", "random_state": 2}
    npt.assert_array_equal(p_values, model.ranker_.p_values(new, **how))
    assert not np.array_equal(p_values, model.p_values(new, ties="randomised"))
    npt.assert_array_equal(model.flag(new, 0.1, **how), p_values <= 0.1)
    npt.assert_array_equal(model.select(new, 0.2, **how), selected(p_values, 0.2))
    npt.assert_array_equal(model.p_values_at_median(new, **how), model.ranker_.p_values_at_median(new, **how))
    rng = np.random.default_rng(2)
    npt.assert_array_equal(model.p_values(new, ties="randomised", random_state=np.random.default_rng(2)), p_values)
    parts = [model.p_values(part, ties="randomised", random_state=rng) for part in np.array_split(new, 7)]
    npt.assert_array_equal(np.concatenate(parts), p_values)


def test_all_columns_at_their_medians_share_one_luck():
    coarse = fit_ranker(ROWS.round())
    middle = np.tile(coarse.centre, (50, 1))
    got = coarse.p_values_at_median(middle, ties="randomised", random_state=np.random.default_rng(0))
    assert len(np.unique(got[:, 0])) > 1
    npt.assert_array_equal(got, np.repeat(got[:, :1], 3, axis=1))


@given(p_values=p_lists, alpha=st.sampled_from([0.05, 0.1, 0.2, 0.5]), method=st.sampled_from(["bh", "by", "none"]))
def test_the_largest_selected_p_value_tells_the_selection(p_values, alpha, method):
    values, counts = np.unique(p_values, return_counts=True)
    largest = largest_selected(values, counts, alpha, method)
    npt.assert_array_equal(selected(p_values, alpha, method), p_values <= largest)
    assert largest == 0 or largest in values


def test_an_unknown_method_is_refused_before_any_work(ranker):
    with pytest.raises(SettingError, match="method must be one of"):
        ranker.select("no rows at all", 0.1, method="bonferroni")


def test_flag_and_select_are_the_same_on_ranker_and_estimator(ranker):
    model = VecUQ().fit(ROWS)
    npt.assert_array_equal(ranker.flag(NEW, 0.1), ranker.p_values(NEW) <= 0.1)
    npt.assert_array_equal(model.flag(NEW, 0.1), ranker.flag(NEW, 0.1))
    npt.assert_array_equal(model.flag(NEW), model.predict(NEW) == -1)
    for method in ("bh", "none"):
        npt.assert_array_equal(model.select(NEW, 0.2, method=method), ranker.select(NEW, 0.2, method=method))
    with pytest.warns(CalibrationWarning, match="at least 47 must be that far out at once"):
        npt.assert_array_equal(model.select(NEW, 0.2, method="by"), ranker.select(NEW, 0.2, method="by"))
    npt.assert_array_equal(ranker.select(NEW, 0.2), selected(ranker.p_values(NEW), 0.2))
    assert ranker.select(NEW, 0.2).any()


@pytest.mark.parametrize("method", ["flag", "select", "threshold"])
def test_a_rate_that_cannot_be_delivered_is_refused_everywhere(ranker, method):
    ask = getattr(ranker, method)
    with pytest.raises(SettingError, match=r"alpha=0.001 needs at least 999 held-back rows; .* allow alpha=0.004975"):
        ask(0.001) if method == "threshold" else ask(NEW, 0.001)
    with pytest.raises(SettingError, match=r"alpha=0.001"):
        getattr(VecUQ().fit(ROWS), method)(*([] if method == "threshold" else [NEW]), 0.001)


@pytest.mark.parametrize("alpha", [1e-300, 5e-324])
def test_an_alpha_near_zero_is_refused_in_one_line_however_many_rows_it_needs(alpha):
    with pytest.raises(SettingError) as caught:
        deliverable(alpha, 30)
    assert len(str(caught.value)) < 200


def test_by_needs_more_rows_and_says_how_many(ranker):
    with pytest.raises(SettingError, match=r"method='by' over 300 rows needs at least \d+ held-back rows"):
        ranker.select(NEW, 0.01, method="by")
    with pytest.raises(SettingError, match=r"allow none. Use method='bh'"):
        fit_ranker(ROWS[:8], Settings(anchors=0)).select(NEW, 0.5, method="by")


def test_decisions_without_held_back_rows_say_why_not():
    paper = fit_ranker(ROWS, Settings.paper())
    for decide in (paper.flag, paper.select):
        with pytest.raises(CalibrationError, match="holdback=0"):
            decide(NEW, 0.1)


def test_unknown_words_are_refused_with_the_known_ones(ranker):
    with pytest.raises(SettingError, match="method must be one of 'bh', 'by', 'none'"):
        ranker.select(NEW, 0.1, method="bonferroni")
    with pytest.raises(SettingError, match="Did you mean 'randomised'"):
        ranker.p_values(NEW, ties="randomized")


def test_a_row_with_a_hole_is_flagged_and_told(ranker):
    holed = NEW.copy()
    holed[0, 0] = np.nan
    with pytest.warns(MissingValueWarning):
        assert ranker.flag(holed, 0.1)[0]
    with pytest.warns(MissingValueWarning):
        assert not ranker.select(holed, 0.1)[0]


def test_the_offset_is_the_negated_threshold():
    model = VecUQ(alpha=0.1).fit(ROWS)
    assert model.offset_ == -model.ranker_.threshold(0.1) == -model.threshold(0.1) == -model.threshold()
    assert model.threshold(0.2) == model.ranker_.threshold(0.2) < model.threshold()
    npt.assert_array_equal(model.decision_function(NEW), model.score_samples(NEW) - model.offset_)


def test_the_false_alarm_rate_of_one_calibration_set_follows_the_beta_law_that_is_stated():
    """For uniform scores the rate of a set is one minus its threshold: Beta(k, n + 1 - k), k = floor(alpha (n + 1))."""
    rng = np.random.default_rng(0)
    for n, alpha in ((99, 0.05), (200, 0.05), (50, 0.1)):
        rates = [1.0 - threshold_at(np.sort(rng.random(n)), alpha) for _ in range(2000)]
        k = int(np.floor(alpha * (n + 1)))
        assert kstest(rates, beta(k, n + 1 - k).cdf).pvalue > 0.001
        assert kstest(rates, beta(k + 1, n - k).cdf).pvalue < 1e-6  # one row more or less would be seen


def test_a_confidence_flags_less_and_is_the_same_everywhere(ranker):
    model = VecUQ().fit(ROWS)
    sure = ranker.flag(NEW, 0.1, confidence=0.9)
    npt.assert_array_equal(model.flag(NEW, 0.1, confidence=0.9), sure)
    npt.assert_array_equal(ranker.uncertainty(NEW) > ranker.threshold(0.1, confidence=0.9), sure)
    assert model.threshold(confidence=0.9) == ranker.threshold(0.05, confidence=0.9) > ranker.threshold(0.05)
    assert 0 < sure.sum() < ranker.flag(NEW, 0.1).sum()
    assert (sure <= ranker.flag(NEW, 0.1)).all()


def test_a_confidence_is_refused_with_randomised_ties_without_held_back_rows_and_with_too_few(ranker):
    with pytest.raises(SettingError, match="ties='conservative' only"):
        ranker.flag(NEW, 0.1, confidence=0.9, ties="randomised")
    with pytest.raises(SettingError, match="needs at least 230 held-back rows; this model has 200"):
        ranker.flag(NEW, 0.01, confidence=0.9)
    with pytest.raises(CalibrationError, match="holdback=0"):
        fit_ranker(ROWS, Settings.paper()).flag(NEW, 0.1, confidence=0.9)


def test_an_empty_selection_says_how_many_rows_it_would_need(ranker):
    """Twenty rows, however far out, are not selected among 5,000 by 200 held-back rows."""
    rows = np.concatenate([np.full((20, 3), 99.0), ROWS[np.random.default_rng(5).integers(0, 400, 4_980)]])
    with pytest.warns(
        CalibrationWarning, match=r"of 5,000 rows at least 498 must be that far out at once .*alpha=0.05"
    ):
        assert not ranker.select(rows, 0.05).any()
    assert ranker.select(rows[:30], 0.2)[:20].all()
    assert not ranker.select(np.full((5, 3), 0.1), 0.3).any()  # one row would be enough, so nothing is said
