"""A table instead of a search gives what the search gives."""

import numpy as np
import numpy.testing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vecuq.conformal.counting import count_below

LAWS = {
    "uniform": lambda rng, n: rng.random(n),
    "long tail": lambda rng, n: rng.standard_cauchy(n),
    "few values": lambda rng, n: rng.integers(5, size=n).astype(float),
    "all equal": lambda rng, n: np.full(n, 3.0),
    "one far away": lambda rng, n: np.append(rng.random(n - 1), 1e300),
    "largest range": lambda rng, n: np.append(rng.random(n - 2), [-1.7e308, 1.7e308]),
    "tiny": lambda rng, n: rng.random(n) * 5e-324,
}


@pytest.mark.parametrize("law", LAWS)
@given(seed=st.integers(0, 2**32), n=st.integers(2, 6000))
@settings(max_examples=15, deadline=None)
def test_counts_are_those_of_a_search(law, seed, n):
    rng = np.random.default_rng(seed)
    ordered = np.sort(LAWS[law](rng, n))
    edges = [-np.inf, np.inf, 0.0, -0.0]
    numbers = np.concatenate([LAWS[law](rng, 3000), rng.choice(ordered, 3000), np.nextafter(ordered, 9.0), edges])
    npt.assert_array_equal(count_below(ordered, numbers), np.searchsorted(ordered, numbers))


@pytest.mark.parametrize("n", [0, 1, 2])
def test_few_sorted_numbers_are_counted_too(n):
    ordered, numbers = np.arange(float(n)), np.random.default_rng(0).normal(size=10_000)
    npt.assert_array_equal(count_below(ordered, numbers), np.searchsorted(ordered, numbers))


def test_a_number_alone_has_the_count_that_it_has_among_many():
    ordered, numbers = np.sort(np.random.default_rng(0).random(1000)), np.random.default_rng(1).random(20_000)
    alone = [int(count_below(ordered, numbers[k : k + 1])[0]) for k in range(50)]
    assert alone == count_below(ordered, numbers)[:50].tolist()
