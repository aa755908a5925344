import threading

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vecuq._run import side_by_side


@settings(max_examples=30)
@given(st.lists(st.integers()), st.integers(1, 5))
def test_every_item_comes_once_with_its_result(items, jobs):
    assert sorted(side_by_side(lambda item: item + 1, items, jobs)) == sorted((item, item + 1) for item in items)


def test_no_more_items_are_taken_than_may_run_at_once():
    taken = []

    def items():
        for item in range(20):
            taken.append(item)
            yield item

    for done, _ in enumerate(side_by_side(abs, items(), 3)):
        assert len(taken) <= done + 3


def test_as_many_calls_run_at_once_as_there_are_jobs():
    together = threading.Barrier(3)
    assert len(list(side_by_side(lambda _: together.wait(120), range(3), 3))) == 3


def test_an_error_is_raised_without_waiting_for_the_calls_under_way():
    never = threading.Event()

    def call(item):
        if item == 0:
            raise KeyError("first")
        never.wait(60)

    with pytest.raises(KeyError, match="first"):
        list(side_by_side(call, range(2), 2))
    assert not never.is_set()
    never.set()


def test_the_number_of_jobs_may_change_while_they_run():
    rooms, taken = iter([1, 3, 1, 1, 1, 1, 1, 1, 1, 1, 1]), []

    def items():
        for item in range(6):
            taken.append(item)
            yield item

    started = []
    for _ in side_by_side(abs, items(), lambda: next(rooms)):
        started.append(len(taken))
    # One, then up to three at once, then no further one until only one is left.
    assert started == [1, 4, 4, 4, 5, 6]
