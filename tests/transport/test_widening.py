import numpy as np
import numpy.testing as npt
from hypothesis import given, settings
from hypothesis import strategies as st

from vecuq.transport import chebyshev_moments, widened_moments


def in_units(rows, low, high):
    width = np.where(high > low, high - low, 1.0)
    return np.clip(2.0 * ((rows - low) / width) - 1.0, -1.0, 1.0)


@given(
    seed=st.integers(0, 2**32),
    n_columns=st.integers(1, 4),
    q=st.integers(2, 14),
    growth=st.floats(0, 8),
    constant=st.booleans(),
)
@settings(deadline=None, max_examples=60)
def test_widened_moments_are_those_of_the_rows_on_the_larger_box(seed, n_columns, q, growth, constant):
    rng = np.random.default_rng(seed)
    rows = rng.gamma(1.0, size=(50, n_columns))
    rows[:, 0] = 3.0 if constant else rows[:, 0]
    old = rows.min(axis=0), rows.max(axis=0)
    new = old[0] - rng.random(n_columns) * 10.0**growth, old[1] + rng.random(n_columns)
    found = widened_moments(chebyshev_moments(in_units(rows, *old), q), old, new)
    npt.assert_allclose(found, chebyshev_moments(in_units(rows, *new), q), atol=1e-12 * len(rows))


def test_many_small_steps_lose_no_digits():
    rows = np.random.default_rng(0).random((100, 3))
    box = rows.min(axis=0), rows.max(axis=0)
    moments = chebyshev_moments(in_units(rows, *box), 12)
    for _ in range(200):
        larger = box[0] - 0.01, box[1] + 0.02
        moments, box = widened_moments(moments, box, larger), larger
    npt.assert_allclose(moments, chebyshev_moments(in_units(rows, *box), 12), atol=1e-12 * len(rows))


def test_one_row_on_a_box_twice_as_wide_in_closed_form():
    # x = 1 at the upper end of [0, 1] is x' = 0 in the middle of [0, 2], where T_0 .. T_3 are 1, 0, -1, 0.
    found = widened_moments(np.ones(4), (np.zeros(1), np.ones(1)), (np.zeros(1), np.full(1, 2.0)))
    npt.assert_allclose(found, [1.0, 0.0, -1.0, 0.0], atol=1e-15)
