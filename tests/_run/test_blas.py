"""One BLAS thread for us, and for the host as many as it had: under overlap, and whatever the host does meanwhile."""

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier, Event, Thread, local

import numpy as np
import numpy.testing as npt
import pytest
from threadpoolctl import threadpool_limits

from vecuq import Settings, fit_ranker
from vecuq._run import blas, in_blocks, one_blas_thread


def numbers():
    """How many threads each BLAS of this process has."""
    return [library.get() for library in blas._loaded_libraries()]


def set_numbers(number):
    for library in blas._loaded_libraries():
        library.put(number)


@pytest.fixture
def two_threads():
    """Two BLAS threads, also on a machine with one core."""
    import scipy.linalg  # noqa: F401 - it brings a BLAS of its own

    before = {library: library.get() for library in blas._loaded_libraries()}
    set_numbers(2)
    if set(numbers()) != {2}:
        pytest.skip("this BLAS cannot have two threads")
    yield
    for library, number in before.items():
        library.put(number)


@pytest.fixture
def in_thread():
    """Keep a context open in another thread, which lives until the test is over."""
    over, threads = Event(), []

    def keep(context):
        entered, leave, left = Event(), Event(), Event()

        def work():
            with context():
                entered.set()
                leave.wait(60)
            left.set()
            over.wait(60)

        threads.append(Thread(target=work))
        threads[-1].start()
        assert entered.wait(60)
        return lambda: leave.set() or left.wait(60)

    yield keep
    over.set()
    for thread in threads:
        thread.join()


LONG = np.random.default_rng(0).random(100_000)


def rows_times_a_long_sum(block):
    """Row by row, with a factor whose last bit shows how many threads BLAS had."""
    return block * np.dot(LONG, LONG)


def test_every_library_is_capped_and_gets_its_number_back(two_threads):
    with one_blas_thread():
        assert set(numbers()) == {1}
        with one_blas_thread():
            assert set(numbers()) == {1}
        assert set(numbers()) == {1}
    assert set(numbers()) == {2}


def test_who_came_first_may_leave_first(two_threads, in_thread):
    leave_first = in_thread(one_blas_thread)
    leave_last = in_thread(one_blas_thread)
    leave_first()
    assert set(numbers()) == {1}
    leave_last()
    assert set(numbers()) == {2}


def test_sixteen_threads_get_the_same_bits_and_leave_the_number_as_it_was(two_threads):
    rows = np.random.default_rng(1).random((3_000, 2))
    with one_blas_thread():
        alone = in_blocks(rows_times_a_long_sum, rows)
    together = Barrier(16, timeout=60)

    def work(_):
        together.wait()
        return [in_blocks(rows_times_a_long_sum, rows[: 600 * k]) for k in range(1, 6)]

    with ThreadPoolExecutor(16) as pool:
        for found in pool.map(work, range(16)):
            for some in found:
                npt.assert_array_equal(some, alone[: len(some)])
        assert set(numbers()) == {2}  # while the threads that came first still live


def test_a_ranker_on_a_large_grid_scores_alike_in_many_threads(two_threads, calibration_table, make_rows):
    ranker = fit_ranker(calibration_table, settings=Settings(n_targets=4_000))
    rows = np.column_stack(list(make_rows(2_000, 3).values()))
    alone = ranker.uncertainty(rows)
    with ThreadPoolExecutor(8) as pool:
        for found in pool.map(lambda _: ranker.uncertainty(rows), range(16)):
            npt.assert_array_equal(found, alone)
    assert set(numbers()) == {2}


@pytest.mark.parametrize("held", [1, 2])
def test_the_bits_are_the_same_while_another_thread_holds_a_limit(two_threads, in_thread, held):
    rows = np.random.default_rng(1).random((700, 2))
    expected = in_blocks(rows_times_a_long_sum, rows)
    leave = in_thread(lambda: threadpool_limits(held, user_api="blas"))
    during = numbers()
    npt.assert_array_equal(in_blocks(rows_times_a_long_sum, rows), expected)
    assert numbers() == during
    leave()
    assert set(numbers()) == {2}


def test_a_number_that_the_host_sets_meanwhile_stays(two_threads, in_thread):
    leave = in_thread(one_blas_thread)
    set_numbers(3)
    leave()
    assert set(numbers()) == {3}


def test_a_number_that_the_host_sets_between_two_overlapping_calls_comes_back(two_threads, in_thread):
    leave_first = in_thread(one_blas_thread)
    set_numbers(3)
    leave_last = in_thread(one_blas_thread)
    assert set(numbers()) == {1}
    leave_first()
    leave_last()
    assert set(numbers()) == {3}


def test_an_error_inside_gives_the_number_back(two_threads):
    with pytest.raises(KeyboardInterrupt), one_blas_thread():
        raise KeyboardInterrupt
    assert set(numbers()) == {2}


def test_the_libraries_of_the_wheels_are_found_although_threadpoolctl_does_not_know_them(two_threads, monkeypatch):
    """As threadpoolctl 3.1 to 3.4 with NumPy 2."""

    class Blind:
        lib_controllers = ()

    monkeypatch.setattr(blas, "ThreadpoolController", Blind)
    seen = numbers()
    monkeypatch.undo()
    assert seen == numbers()


def test_a_library_that_is_imported_late_is_capped_too():
    late = """
import numpy
from vecuq._run import blas
with blas.one_blas_thread():
    pass
import scipy.linalg
found = blas._loaded_libraries()
for library in found:
    library.put(2)
with blas.one_blas_thread():
    assert {library.get() for library in found} == {1}
print(len(found))
"""
    done = subprocess.run([sys.executable, "-c", late], capture_output=True, text=True, check=True)
    assert int(done.stdout) >= 1


class PerThread(local):
    """A library in which every thread has a number of its own, as in MKL."""

    number = 4

    def library(self):
        return blas._Library(lambda: self.number, lambda number: setattr(self, "number", number))


class ForAll:
    """A library whose number all threads share, found by trying."""

    number = 4

    library = PerThread.library


@pytest.mark.parametrize("kind", [PerThread, ForAll])
def test_a_library_may_keep_one_number_for_all_threads_or_one_for_each(monkeypatch, in_thread, kind):
    fake = kind()
    known = fake.library()
    monkeypatch.setattr(blas, "_loaded_libraries", lambda: [known])
    monkeypatch.setattr(blas, "_CAP", blas._Cap())
    leave = in_thread(one_blas_thread)
    seen = []
    with one_blas_thread():
        leave()
        in_blocks(lambda block: seen.append(fake.number) or block, np.zeros((40_000, 1)), n_jobs=2)
        assert fake.number == 1
    assert set(seen) == {1}
    assert fake.number == 4
    assert known.shared is (kind is ForAll)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
def test_a_forked_process_is_not_held_up_by_threads_that_it_does_not_have():
    cap = blas._Cap()
    cap.lock.acquire()
    cap.inside.add("another thread")
    cap.forget_others()
    with cap.held():
        assert len(cap.inside) == 1
    assert not cap.inside
