"""Parts are shared into tasks by their sizes alone, in their order."""

from hypothesis import given
from hypothesis import strategies as st

from vecuq.cluster.dask.groups import BRANCHES, ENOUGH_BYTES, MOST_PARTS, branches, grouped

sizes_of_parts = st.lists(st.integers(0, 2**26), max_size=300)


@given(sizes=sizes_of_parts, least=st.integers(1, 20))
def test_groups_hold_every_part_once_and_in_order(sizes, least):
    groups = grouped(range(len(sizes)), sizes, least_groups=least)
    assert [one for group in groups for one in group] == list(range(len(sizes)))
    assert all(0 < len(group) <= MOST_PARTS for group in groups)


@given(sizes=sizes_of_parts)
def test_a_group_is_no_larger_than_enough_and_one_part(sizes):
    for group in grouped(sizes, sizes):
        assert sum(group[:-1]) < ENOUGH_BYTES or len(group) == 1


def test_few_small_parts_are_shared_among_the_workers():
    assert len(grouped("abcdefgh", [1] * 8, least_groups=8)) == 8


@given(st.lists(st.integers(), max_size=100))
def test_branches_keep_the_order(items):
    found = list(branches(items))
    assert [one for some in found for one in some] == items
    assert all(len(some) <= BRANCHES for some in found)
