"""Memory that is kept while somebody works, and long work in processes taken as it is done."""

import os
import subprocess
import sys
import time
from multiprocessing import active_children
from multiprocessing.connection import wait

import pytest

from vecuq._run import as_done, memory_kept


def triple(number, tick):
    tick(number)
    return 3 * number


def fail(number, tick):
    if number == 2:
        raise ValueError("two")
    time.sleep(0.01)
    return number


def die(number, tick):
    os._exit(3)


def running_children():
    """Return the processes of this one that run; the list of `multiprocessing` still has some that were just reaped."""
    return {child for child in active_children() if not wait([child.sentinel], timeout=0)}


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_every_item_comes_with_its_result_and_rows_are_added_up(n_jobs):
    rows = []
    assert sorted(as_done(triple, range(9), n_jobs=n_jobs, tick=rows.append)) == [(k, 3 * k) for k in range(9)]
    assert sum(rows) == 36


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_an_error_is_raised_as_it_is_and_ends_the_processes(n_jobs):
    before = running_children()
    with pytest.raises(ValueError, match="two"):
        list(as_done(fail, range(9), n_jobs=n_jobs))
    assert running_children() <= before


def test_a_worker_that_dies_is_told():
    with pytest.raises(MemoryError):
        list(as_done(die, range(3), n_jobs=2))


def test_a_caller_who_stops_early_ends_the_processes():
    before = running_children()
    stream = as_done(triple, range(9), n_jobs=2)
    next(stream)
    stream.close()
    assert running_children() <= before


FAULTS = """
import resource, numpy as np
from vecuq._run import memory_kept
def faults(times=200):
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    for _ in range(times):
        np.ones(65_536)
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before
plain = faults()
with memory_kept():
    with memory_kept():
        faults()
    kept = faults()
print(plain, kept, faults())
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="the allocator of glibc")
def test_arrays_use_memory_again_where_the_allocator_was_told_to_give_it_back():
    env = {**os.environ, "MALLOC_TRIM_THRESHOLD_": "65536"}
    done = subprocess.run([sys.executable, "-c", FAULTS], env=env, capture_output=True, text=True, check=True)
    plain, kept, after = map(int, done.stdout.split())
    if plain < 20_000:
        pytest.skip("this allocator keeps memory by itself")
    assert kept < plain / 10
    assert after > plain / 2


def test_without_that_setting_nothing_happens():
    with memory_kept():
        pass
