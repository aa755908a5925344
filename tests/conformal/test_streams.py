"""Selections from a stream of batches: one false-discovery rate for all of them together."""

import numpy as np
import numpy.testing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st

from vecuq import fit_ranker
from vecuq.conformal import Discoveries, conformal_p_values, select_by_e_values, select_by_pooling, selected
from vecuq.errors import SettingError
from vecuq.monitor import StreamSelection

ALPHA = 0.1


def per_batch(found, p_values, alpha):
    return found, selected(p_values, alpha)


def stream(seed, n_held, share, shift, *, n_batches=250, size=50):
    """Return p-values and which rows are out-of-distribution, (batches, size) each."""
    rng = np.random.default_rng(seed)
    outside = rng.random((n_batches, size)) < share
    scores = rng.normal(size=outside.shape) + shift * outside
    p_values = conformal_p_values(scores.ravel(), np.sort(rng.normal(size=n_held)))
    return p_values.reshape(outside.shape), outside


def false_and_found(rule, n_held, share, shift, n_runs=20):
    """Return the false-discovery rate of whole streams, and the share of outliers found, on average over runs."""
    rates = []
    for run in range(n_runs):
        p_values, outside = stream(run, n_held, share, shift)
        found, chosen = Discoveries.new(n_held), []
        for batch in p_values:
            found, one = rule(found, batch, ALPHA)
            chosen.append(one)
        chosen = np.array(chosen)
        rates.append([(chosen & ~outside).sum() / max(chosen.sum(), 1), (chosen & outside).sum() / outside.sum()])
    return np.mean(rates, axis=0)


def test_a_selection_per_batch_is_false_far_more_often_than_alpha_over_a_stream():
    false, _ = false_and_found(per_batch, 1_000, 0.01, 4.0)
    assert false > 0.2


@pytest.mark.parametrize(("share", "shift"), [(0.01, 4.0), (0.1, 4.0), (0.3, 3.0)])
def test_e_values_keep_the_rate_over_a_stream(share, shift):
    # At most alpha plus three standard errors, which are at most 0.3 / sqrt(20).
    assert false_and_found(select_by_e_values, 5_000, share, shift)[0] <= 0.1
    assert false_and_found(select_by_e_values, 1_000, share, shift)[0] <= 0.1


def test_e_values_find_some_outliers_of_a_stream():
    assert false_and_found(select_by_e_values, 5_000, 0.1, 4.0, n_runs=5)[1] > 0.1


@pytest.mark.parametrize(("share", "shift"), [(0.02, 4.0), (0.1, 3.0), (0.3, 3.0)])
def test_pooling_keeps_the_rate_and_finds_most(share, shift):
    false, found = false_and_found(select_by_pooling, 1_000, share, shift)
    assert false <= 0.1
    assert found > 0.5


def test_nothing_is_selected_by_pooling_where_there_is_nothing():
    for run in range(20):
        p_values, _ = stream(run, 1_000, 0.0, 0.0)
        found = Discoveries.new(1_000)
        for batch in p_values:
            found, chosen = select_by_pooling(found, batch, ALPHA)
            assert not chosen.any()


def test_rows_that_copy_each_other_do_not_break_the_proven_rate():
    # All rows of a stream share their noise: the worst dependence, for which per-row rates say nothing of shares.
    false = []
    for run in range(400):
        rng = np.random.default_rng(run)
        p = conformal_p_values(rng.normal(size=1), np.sort(rng.normal(size=99)))
        found, any_false = Discoveries.new(99), False
        for _ in range(20):
            found, chosen = select_by_e_values(found, np.repeat(p, 3), 0.5)
            any_false |= chosen.any()
        false.append(any_false)
    assert np.mean(false) <= 0.5


@given(st.lists(st.integers(1, 101), min_size=1, max_size=30), st.sampled_from([select_by_e_values, select_by_pooling]))
def test_rows_without_a_score_change_nothing(levels, rule):
    p_values = np.array(levels) / 101
    plain, chosen = rule(Discoveries.new(100), p_values, 0.3)
    with_gap, more = rule(Discoveries.new(100), np.append(p_values, np.nan), 0.3)
    npt.assert_array_equal(more, np.append(chosen, False))
    npt.assert_array_equal(plain.counts, with_gap.counts)
    assert plain.selected == with_gap.selected == chosen.sum()


def test_a_selection_goes_on_from_its_state_and_refuses_that_of_another_model():
    rng = np.random.default_rng(0)
    ranker = fit_ranker(rng.gamma(2.0, size=(4_000, 2)))
    batches = [np.vstack([rng.gamma(2.0, size=(95, 2)), rng.gamma(2.0, size=(5, 2)) + 20]) for _ in range(6)]
    whole = StreamSelection(ranker, method="pooled")
    first = StreamSelection(ranker, method="pooled")
    expected = [whole.select(batch) for batch in batches]
    for batch in batches[:3]:
        first.select(batch)
    rest = StreamSelection(ranker, method="pooled", state=first.state)
    npt.assert_array_equal([rest.select(batch) for batch in batches[3:]], expected[3:])
    with pytest.raises(SettingError, match="2,000 held-back rows; this one has 100"):
        StreamSelection(fit_ranker(rng.gamma(2.0, size=(200, 2))), state=first.state)
