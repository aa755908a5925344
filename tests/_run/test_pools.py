import threading

import pytest

from vecuq._run import ahead


def test_items_come_in_order():
    assert list(ahead(iter(range(100)))) == list(range(100))


def test_the_next_items_are_made_before_they_are_asked_for():
    made = [threading.Event() for _ in range(10)]
    stream = ahead((made[k].set() or k for k in range(10)), depth=2)
    assert next(stream) == 0
    # Nobody has asked for these two, and yet they come; a deadlock would end the wait.
    assert made[1].wait(120)
    assert made[2].wait(120)
    # Two lie ready and one is in the making: no more, however long we wait.
    assert not made[6].is_set()
    stream.close()


def test_an_error_in_the_thread_is_raised_in_its_place():
    def failing():
        yield 1
        raise ValueError("second item")

    stream = ahead(failing())
    assert next(stream) == 1
    with pytest.raises(ValueError, match="second item"):
        next(stream)


def test_a_consumer_that_stops_stops_the_thread_and_closes_the_source():
    closed = threading.Event()

    def endless():
        try:
            while True:
                yield 0
        finally:
            closed.set()

    before = threading.active_count()
    stream = ahead(endless())
    next(stream)
    stream.close()
    assert closed.wait(120)
    assert threading.active_count() == before
