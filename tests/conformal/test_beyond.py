"""How many new rows lie beyond a held-back score: the exact law, beside other ways to compute it and a simulation."""

from math import comb

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import beta, betabinom

from vecuq.conformal import rows_beyond_p_value


@given(n_held=st.integers(1, 60), n_new=st.integers(1, 80), data=st.data())
def test_it_is_the_beta_binomial_law(n_held, n_new, data):
    rank, beyond = data.draw(st.integers(1, n_held)), data.draw(st.integers(0, n_new))
    found = rows_beyond_p_value(beyond, n_new, rank, n_held)
    assert found == pytest.approx(betabinom.sf(beyond - 1, n_new, rank, n_held + 1 - rank), rel=1e-9, abs=1e-12)


@given(n_held=st.integers(1, 10**5), rank=st.integers(1, 200))
def test_one_new_row_exceeds_with_the_probability_of_its_rank(n_held, rank):
    rank = min(rank, n_held)
    assert rows_beyond_p_value(1, 1, rank, n_held) == pytest.approx(rank / (n_held + 1), rel=1e-8)


def test_all_new_rows_beyond_the_largest_is_a_closed_form():
    assert rows_beyond_p_value(7, 7, 1, 5) == pytest.approx(1 / comb(12, 5))


@pytest.mark.parametrize("n_new", [10**9, 10**12])
@pytest.mark.parametrize("share", [0.2, 0.25, 0.27])
def test_of_endless_rows_the_share_has_a_beta_law(n_new, share):
    found = rows_beyond_p_value(round(share * n_new), n_new, 1_250, 5_000)
    assert found == pytest.approx(beta.sf(share, 1_250, 3_751), rel=1e-4)


def test_it_keeps_its_level_on_drawn_rows():
    rng = np.random.default_rng(0)
    hits = []
    for _ in range(2_000):
        held, new = np.sort(rng.normal(size=40)), rng.normal(size=60)
        hits.append(rows_beyond_p_value(int((new > held[-10]).sum()), 60, 10, 40) <= 0.1)
    assert 0.05 <= np.mean(hits) <= 0.1 + 3 * np.sqrt(0.09 / 2_000)
