"""What n_jobs means, and buffers that threads keep."""

import os
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import numpy as np
import pytest

from vecuq._run import resolve_jobs, scratch
from vecuq.errors import SettingError


def test_jobs_mean_what_they_mean_in_scikit_learn(monkeypatch):
    monkeypatch.setattr(os, "cpu_count", lambda: 8)
    assert [resolve_jobs(n) for n in (None, 1, 3, -1, -2, -100)] == [1, 1, 3, 8, 7, 1]


@pytest.mark.parametrize("wrong", [0, 1.5, "2", True])
def test_other_jobs_are_refused(wrong):
    with pytest.raises(SettingError, match="n_jobs"):
        resolve_jobs(wrong)


def test_a_buffer_is_used_again_and_grows():
    small = scratch("test buffer", 4)
    assert np.shares_memory(small, scratch("test buffer", 2, 2))
    large = scratch("test buffer", 100)
    assert large.shape == (100,)
    assert np.shares_memory(large, scratch("test buffer", 4))
    assert not np.shares_memory(large, scratch("another test buffer", 4))


def test_what_is_huge_is_not_kept():
    huge = scratch("huge test buffer", 2**20 + 1)
    assert not np.shares_memory(huge, scratch("huge test buffer", 2**20 + 1))


def test_threads_do_not_share_buffers():
    both = Barrier(2, timeout=120)

    def work(value):
        mine = scratch("shared name", 1000)
        mine[:] = value
        both.wait()
        return mine.min(), mine.max()

    with ThreadPoolExecutor(2) as pool:
        assert list(pool.map(work, [1.0, 2.0])) == [(1.0, 1.0), (2.0, 2.0)]
