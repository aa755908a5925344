"""P-values of rows that come together: they count groups, and are valid where those of single rows are not."""

import numpy as np
import numpy.testing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st

from vecuq.conformal import (
    HeldScores,
    conformal_p_values,
    flagged,
    group_weights,
    grouped_p_values,
    grouped_threshold,
    tail_weights,
    threshold_at,
)

levels = st.integers(0, 5).map(float)
grouped = st.lists(st.tuples(levels, st.integers(0, 6)), min_size=1, max_size=30)
score_lists = st.lists(levels, min_size=1, max_size=20).map(np.array)


def held_of(pairs):
    """Return held-back scores, increasing, and their group numbers from 0."""
    scores, names = (np.array(part) for part in zip(*sorted(pairs), strict=True))
    return scores, np.unique(names, return_inverse=True)[1]


def by_definition(score, scores, groups):
    shares = [np.mean(scores[groups == one] >= score) for one in np.unique(groups)]
    return (1 + sum(shares)) / (len(shares) + 1)


@given(pairs=grouped, new=score_lists)
def test_p_values_are_those_of_the_definition(pairs, new):
    scores, groups = held_of(pairs)
    got = grouped_p_values(new, scores, tail_weights(group_weights(groups)))
    npt.assert_allclose(got, [by_definition(one, scores, groups) for one in new])


@given(scores=score_lists, new=score_lists, alpha=st.sampled_from([0.05, 0.1, 0.25, 0.5]))
def test_groups_of_one_row_are_rows(scores, new, alpha):
    known, tails = np.sort(scores), tail_weights(np.ones(len(scores)))
    npt.assert_allclose(grouped_p_values(new, known, tails), conformal_p_values(new, known))
    assert grouped_threshold(known, tails, alpha) == threshold_at(known, alpha)


@given(pairs=grouped, new=score_lists, alpha=st.floats(0.01, 0.99))
def test_a_score_above_the_threshold_is_a_p_value_of_at_most_alpha(pairs, new, alpha):
    scores, groups = held_of(pairs)
    held = HeldScores(scores, group_weights(groups))
    ends = np.concatenate([new, scores, np.nextafter(scores, np.inf), scores * (1 + 3e-9), scores + 0.5])
    npt.assert_array_equal(ends > held.threshold(alpha), flagged(held.p_values(ends), alpha))


@given(pairs=grouped, new=score_lists, draw=st.floats(0, 0.999))
def test_ties_that_count_in_part_lie_between_none_and_all(pairs, new, draw):
    scores, groups = held_of(pairs)
    held = HeldScores(scores, group_weights(groups))
    got = held.p_values(new, np.full(len(new), draw))
    assert (got <= held.p_values(new) + 1e-12).all()
    assert (got >= held.p_values(new + 0.5) - 1e-12).all()


def test_a_held_back_share_counts_groups_and_says_so():
    held = HeldScores(np.arange(6.0), group_weights(np.array([0, 0, 0, 0, 1, 2])))
    assert (held.count, held.unit) == (3, "groups")
    assert held.above(4.5) == 1.0
    assert held.above(2.5) == pytest.approx(2.25)
    with pytest.raises(Exception, match="needs at least 9 held-back groups; this model has 3"):
        held.rate(0.1)


def rates(n_groups, size, alpha, *, likeness, by_group, runs=4_000, seed=0):
    """Return the share of new rows flagged in each run; rows of one group share a part of their score."""
    rng = np.random.default_rng(seed)
    flags = np.empty((runs, 20))
    for run in range(runs):
        sizes = rng.integers(1, 2 * size, size=n_groups)
        groups = np.repeat(np.arange(n_groups), sizes)
        part = rng.normal(size=n_groups)
        scores = likeness * part[groups] + (1 - likeness) * rng.normal(size=len(groups))
        new = likeness * rng.normal(size=20) + (1 - likeness) * rng.normal(size=20)
        order = np.argsort(scores)
        weights = group_weights(groups)[order] if by_group else None
        flags[run] = new > HeldScores(scores[order], weights).threshold(alpha)
    return flags.mean(axis=1)


@pytest.mark.parametrize(("n_groups", "alpha"), [(20, 0.05), (200, 0.05), (200, 0.01)])
def test_new_groups_are_flagged_at_most_at_alpha(n_groups, alpha):
    found = rates(n_groups, 10, alpha, likeness=0.8, by_group=True, runs=1_500)
    assert found.mean() <= alpha + 3 * found.std() / np.sqrt(len(found))
    assert found.mean() > alpha / 3  # a rule that flags nothing would pass, too


def test_the_simulation_would_see_p_values_that_count_rows():
    found = rates(20, 10, 0.05, likeness=0.8, by_group=False, runs=1_500)
    assert found.mean() > 0.05 + 6 * found.std() / np.sqrt(len(found))
