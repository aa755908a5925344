"""Ranks by counting, one pair at a time."""

import numpy as np
import numpy.testing as npt
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import rankdata

from vecuq import baselines

rows_with_ties = st.lists(st.tuples(*[st.integers(0, 4)] * 3), min_size=3, max_size=12)


def counted_rank(score, calibration):
    smaller = len([c for c in calibration if c < score])
    equal = len([c for c in calibration if c == score])
    return (smaller + equal / 2) / len(calibration)


@given(calibration=rows_with_ties, new=rows_with_ties)
@settings(max_examples=50, deadline=None)
def test_ranks_are_those_that_are_counted(calibration, new):
    rows = np.array([(0, 0, 0), (4, 4, 4), *calibration], dtype=float)  # every column varies
    wanted = np.array([[counted_rank(s, rows[:, k]) for k, s in enumerate(row)] for row in new])
    new = np.array(new, dtype=float)
    npt.assert_allclose(baselines.mean_rank().fit(rows).uncertainty(new), wanted.mean(axis=1), atol=1e-15)
    npt.assert_array_equal(baselines.max_rank().fit(rows).uncertainty(new), wanted.max(axis=1))


def test_calibration_rows_have_the_average_ranks_of_scipy():
    rows = np.random.default_rng(0).integers(0, 9, size=(80, 2)).astype(float)
    wanted = (rankdata(rows, axis=0) - 0.5).mean(axis=1) / 80
    npt.assert_allclose(baselines.mean_rank().fit(rows).uncertainty(rows), wanted, rtol=1e-14)


def test_ranks_reach_both_ends():
    rows = np.random.default_rng(0).normal(size=(50, 7))
    for combiner in (baselines.mean_rank(), baselines.max_rank()):
        npt.assert_array_equal(combiner.fit(rows).uncertainty([[-9.0] * 7, [9.0] * 7]), [0.0, 1.0])
