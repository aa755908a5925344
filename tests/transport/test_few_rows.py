"""A few rows stand in a smaller block, where that changes no bit."""

import numpy as np
import numpy.testing as npt
import pytest

from vecuq import fit_ranker
from vecuq.transport import maps


def fitted(n_columns):
    rng = np.random.default_rng(n_columns)
    return fit_ranker(rng.gamma(1.0, size=(8 * 2**n_columns, n_columns)))


@pytest.mark.parametrize("n_columns", [2, 3, 5, 7])
@pytest.mark.parametrize("n_rows", [1, 95, 96, 97])
def test_a_few_rows_have_the_bits_that_they_have_among_many(n_columns, n_rows):
    ranker, rows = fitted(n_columns), np.random.default_rng(0).gamma(1.5, size=(700, n_columns))
    npt.assert_array_equal(ranker.uncertainty(rows[:n_rows]), ranker.uncertainty(rows)[:n_rows])


def test_where_small_blocks_round_otherwise_they_are_not_used(monkeypatch):
    ranker, rows = fitted(3), np.random.default_rng(0).gamma(1.5, size=(700, 3))
    exact, sizes = maps.GridMap._images, []

    def rounding(self, block, centre, v):
        sizes.append(len(block))
        return exact(self, block, centre, v) + (1e-9 if len(block) == maps.FEW else 0.0)

    many = ranker.uncertainty(rows)
    monkeypatch.setattr(maps.GridMap, "_images", rounding)
    vars(ranker.rank_map).pop("_few_are_alike", None)  # what the fit has found
    assert not ranker.rank_map._few_are_alike
    sizes.clear()
    npt.assert_array_equal(ranker.uncertainty(rows[:1]), many[:1])
    assert sizes == [maps.BLOCK]
