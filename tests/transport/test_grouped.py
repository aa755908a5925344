"""Two levels of maps: what they keep of one level, and how columns are put into groups."""

import numpy as np
import numpy.testing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import spearmanr

from vecuq.errors import SettingError
from vecuq.transport import (
    MAX_GROUPED,
    Beta,
    CloudMap,
    FirstLevel,
    GroupedMap,
    SeparableKernel,
    Sources,
    alike_groups,
    lengths,
    maps_in,
    outer_anchors,
    rank_map,
    solve,
)
from vecuq.transport.grouping import rank_correlations

RNG = np.random.default_rng(0)
ROWS = RNG.beta(1.0, 3.0, size=(300, 7))
ROWS = (ROWS - ROWS.min(axis=0)) / np.ptp(ROWS, axis=0)
GROUPS = ((0, 3, 6), (1, 5), (2, 4))
FAR = np.array([[1e300] * 7, [-1e300] * 7, [0.5] * 6 + [1e12], [2.0] * 7])


def one_map(rows, high):
    corners = outer_anchors(np.zeros(rows.shape[1]), high, 5.0)
    grid = Beta().targets(rows.shape[1], 4 ** rows.shape[1])
    solved = solve(SeparableKernel(Sources.of(rows, corners), grid, 0.5).push, grid.weights)
    return rank_map(grid, solved.log_v, 0.5), CloudMap(grid.points, solved.log_v.ravel(), 0.5)


def two_levels(kind=0, weights=None):
    """Fit by hand, onto grids (0) or onto the same points as clouds (1)."""
    maps = tuple(one_map(ROWS[:, group], np.ones(len(group)))[kind] for group in GROUPS)
    first = FirstLevel(GROUPS, maps, np.zeros(7), np.ones(7), weights)
    levels = first(ROWS)[1]
    return GroupedMap(first, one_map(levels, first.high_levels)[kind], np.zeros(3), first.high_levels)


GRIDS, CLOUDS = two_levels(0), two_levels(1)


def test_levels_go_from_0_at_the_lower_corner_to_the_share_of_the_columns_at_the_upper_one():
    npt.assert_allclose(GRIDS.first(np.stack([np.zeros(7), np.ones(7)]))[1], [[0, 0, 0], [1, 2 / 3, 2 / 3]], atol=1e-12)
    weights = np.array([1.0, 0.2, 0.3, 0.5, 0.3, 0.4, 0.5])
    high = two_levels(weights=weights).first.high_levels
    npt.assert_allclose(high, [1.0, 0.3, 0.3])


def test_the_length_of_an_image_is_that_of_the_second_level():
    levels = GRIDS.first(ROWS)[1]
    npt.assert_allclose(np.linalg.norm(GRIDS(ROWS), axis=1), np.linalg.norm(GRIDS.top(levels), axis=1), rtol=1e-12)


def test_grids_and_clouds_of_the_same_points_agree_near_and_far():
    for rows in (ROWS, 3.0 * ROWS - 1.0, FAR):
        npt.assert_allclose(GRIDS(rows), CLOUDS(rows), atol=1e-9)


def test_one_group_of_one_column_keeps_the_order_of_the_column():
    column = np.linspace(-1.0, 2.0, 50)[:, None]
    one = one_map(ROWS[:, :1], np.ones(1))[0]
    first = FirstLevel(((0,),), (one,), np.zeros(1), np.ones(1))
    found = GroupedMap(first, one_map(first(ROWS[:, :1])[1], np.ones(1))[0], np.zeros(1), np.ones(1))(column)
    assert (np.diff(found[:, 0]) > 0).all()


@settings(max_examples=60, deadline=None)
@given(
    start=st.lists(st.floats(-2.0, 3.0), min_size=7, max_size=7),
    column=st.integers(0, 6),
    step=st.floats(1e-3, 1e6),
)
def test_raising_a_column_never_lowers_the_length(start, column, step):
    pair = np.array([start, start])
    pair[1, column] += step
    before, after = np.linalg.norm(GRIDS(pair), axis=1)
    assert after >= before - 1e-12


def test_a_row_alone_has_the_bits_that_it_has_in_a_batch():
    rows = np.concatenate([ROWS, 4.0 * ROWS, FAR])
    together = GRIDS(rows)
    for k in range(0, len(rows), 37):
        npt.assert_array_equal(GRIDS(rows[k : k + 1])[0], together[k])
    npt.assert_array_equal(GRIDS(np.asfortranarray(rows)), together)
    assert np.isfinite(together).all()


def test_an_image_of_length_0_is_shared_alike():
    class Nowhere:
        def __call__(self, rows, n_jobs=None):
            return np.zeros(rows.shape)

    first = FirstLevel(GROUPS, (Nowhere(), *GRIDS.first.maps[1:]), np.zeros(7), np.ones(7), signed=True)
    npt.assert_allclose(lengths(first._images(ROWS[:5], 1)[0][:, GROUPS[0]]), 1.0)


def test_a_map_consists_of_itself_or_of_its_maps():
    assert maps_in(GRIDS.top) == (GRIDS.top,)
    assert maps_in(GRIDS) == (*GRIDS.first.maps, GRIDS.top)


# Which columns are put together


def blocks(sizes, n_rows=200, noise=0.2, seed=0):
    """Columns that share a hidden one within each block, in a random order; and the block of each."""
    rng = np.random.default_rng(seed)
    block = rng.permutation(np.repeat(np.arange(len(sizes)), sizes))
    return rng.random((n_rows, len(sizes)))[:, block] + noise * rng.random((n_rows, len(block))), block


@pytest.mark.parametrize("sizes", [(4, 4, 4), (4, 3, 4), (6,) * 5, (6,) * 8, (8,) * 8, (8, 7, 8, 7, 8, 7, 8)])
def test_columns_that_share_something_are_put_together(sizes):
    rows, block = blocks(sizes)
    assert {frozenset(group) for group in alike_groups(rows)} == {
        frozenset(np.flatnonzero(block == number).tolist()) for number in range(len(sizes))
    }


@settings(max_examples=40, deadline=None)
@given(m=st.integers(1, MAX_GROUPED), seed=st.integers(0, 100), ties=st.booleans())
def test_every_column_is_in_one_of_at_most_eight_groups_of_at_most_eight(m, seed, ties):
    rows = np.random.default_rng(seed).random((30, m))
    groups = alike_groups(np.round(rows) if ties else rows)
    assert sorted(k for group in groups for k in group) == list(range(m))
    assert len(groups) <= 8
    assert max(map(len, groups)) <= 8


def test_the_order_of_the_columns_does_not_matter():
    rows = np.random.default_rng(3).random((100, 23))
    order = np.random.default_rng(4).permutation(23)
    shuffled = alike_groups(rows[:, order])
    assert {frozenset(order[list(group)].tolist()) for group in shuffled} == set(map(frozenset, alike_groups(rows)))


def test_correlations_are_spearmans():
    rows = np.round(np.random.default_rng(5).random((80, 6)), 1)
    npt.assert_allclose(rank_correlations(rows), spearmanr(rows)[0], atol=1e-12)


def test_more_columns_are_refused_with_what_to_do():
    with pytest.raises(SettingError, match=r"65 varying score columns are too many; 64 is the limit\. Leave out"):
        alike_groups(np.random.default_rng(0).random((20, 65)))
