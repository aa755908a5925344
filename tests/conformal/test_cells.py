"""Cells: counts by score that add up to the same summary in any order, with the finest resolution that fits."""

from itertools import pairwise

import numpy as np
import numpy.testing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st

from vecuq.conformal import Cells, added, keys_of, scores_of_keys

NUMBERS = st.floats(allow_nan=False)
ROWS = st.lists(st.tuples(NUMBERS, st.booleans()), min_size=1, max_size=120)


def counted(rows, most=16):
    scores, kinds = (np.array(part) for part in zip(*rows, strict=True))
    return Cells.of_kinds(scores.astype(float), kinds.astype(bool), most)


def assert_same(one, two):
    assert one.shift == two.shift
    npt.assert_array_equal(one.keys, two.keys)
    npt.assert_array_equal(one.counts, two.counts)


@given(st.lists(NUMBERS, min_size=2))
def test_keys_are_in_the_order_of_the_scores_and_give_them_back(scores):
    scores = np.sort(np.array(scores)) + 0.0
    keys = keys_of(scores)
    npt.assert_array_equal(keys[1:] > keys[:-1], scores[1:] > scores[:-1])
    npt.assert_array_equal(scores_of_keys(keys), scores)


@given(rows=ROWS, cuts=st.lists(st.integers(0, 120), max_size=4), data=st.data())
def test_parts_in_any_order_add_up_to_one_pass_over_all_rows(rows, cuts, data):
    ends = [0, *sorted(cut for cut in cuts if cut < len(rows)), len(rows)]
    parts = [rows[a:b] for a, b in pairwise(ends) if a < b]
    parts = data.draw(st.permutations(parts))
    whole = counted(rows)
    total = counted(parts[0])
    for part in parts[1:]:
        total = total + counted(part)
    assert_same(total, whole)
    assert_same(added([Cells.empty(2, 16), *map(counted, parts[::-1])]), whole)


@given(rows=ROWS)
def test_the_resolution_is_the_finest_at_which_the_cells_fit(rows):
    cells = counted(rows)
    keys = keys_of(np.array([score for score, _ in rows]))
    fits = [shift for shift in range(64) if len(np.unique(keys >> np.uint64(shift))) <= 16]
    assert cells.shift == fits[0]
    assert cells.totals == [sum(not kind for _, kind in rows), sum(kind for _, kind in rows)]


@given(rows=ROWS)
def test_every_score_lies_between_the_edges_of_its_cell(rows):
    cells = counted(rows)
    low, high = cells.edges()
    scores = np.array([score for score, _ in rows]) + 0.0
    place = np.searchsorted(cells.keys, keys_of(scores) >> np.uint64(cells.shift))
    assert (low[place] <= scores).all()
    assert (scores <= high[place]).all()
    assert not cells.of_no_number.any()


def test_few_different_scores_are_kept_apart_to_the_last_bit():
    scores = np.array([1.0, np.nextafter(1.0, 2.0), -0.0, 0.0, np.inf])
    cells = Cells.of_kinds(scores, np.zeros(5, dtype=bool))
    assert cells.exact
    npt.assert_array_equal(cells.edges()[0], [0.0, 1.0, scores[1], np.inf])
    npt.assert_array_equal(cells.counts[:, 0], [2, 1, 1, 1])


@given(rows=ROWS)
def test_a_known_shift_only_saves_time(rows):
    cells = counted(rows)
    scores, kinds = (np.array(part) for part in zip(*rows, strict=True))
    assert_same(Cells.of_kinds(scores, kinds.astype(bool), 16, at_least=cells.shift), cells)


def test_sums_of_whole_numbers_are_exact_beyond_what_floats_hold():
    large = np.array([[2**62], [2**61 + 1]])
    cells = Cells.of_sums(np.array([0.5, 0.5]), large)
    assert cells.totals == [2**62 + 2**61 + 1]


@pytest.mark.parametrize("seed", range(3))
def test_counts_of_a_coarser_resolution_are_sums_of_the_finer(seed):
    rng = np.random.default_rng(seed)
    fine = Cells.of_kinds(rng.normal(size=5_000), rng.random(5_000) < 0.3)
    coarse = fine.at_most(100)
    assert 50 <= len(coarse) <= 100
    assert coarse.totals == fine.totals
    again = np.unique(fine.keys >> np.uint64(coarse.shift), return_index=True)[1]
    npt.assert_array_equal(np.add.reduceat(fine.counts, again, axis=0), coarse.counts)
