"""The proof of monotonicity: it holds on ordinary fits, and never where the score falls."""

from dataclasses import replace
from itertools import product

import numpy as np
import numpy.testing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy.signal import convolve

from vecuq import Settings, fit_ranker, load, read_table
from vecuq.data import demo_files
from vecuq.ranker import is_proven_monotone
from vecuq.ranker.proof import polynomial_product, slopes_are_positive
from vecuq.transport import GridMap

COLUMNS = ("entropy", "mutual_information", "mahalanobis", "knn")
AXES = (np.array([0.25, 0.5, 0.75]), np.array([0.1, 0.4, 0.7]))


def related(n_columns, seed=0):
    rng = np.random.default_rng(seed)
    return rng.gamma(1.0, size=(400, 1)) + rng.gamma(1.0, size=(400, n_columns))


def nearly_equal(n_columns, seed=0):
    rng = np.random.default_rng(seed)
    return np.repeat(rng.random((400, 1)), n_columns, axis=1) + 1e-3 * rng.random((400, n_columns))


@pytest.mark.parametrize("n_columns", [1, 2, 3, 4])
@pytest.mark.parametrize("kind", ["independent", "related", "correlated at 0.99"])
def test_ordinary_fits_are_proven(n_columns, kind):
    rng = np.random.default_rng(1)
    own, shared = rng.normal(size=(400, n_columns)), rng.normal(size=(400, 1))
    rows = {"independent": own, "related": related(n_columns), "correlated at 0.99": 10 * shared + own}[kind]
    assert is_proven_monotone(fit_ranker(rows))


def test_the_example_is_proven_and_stays_so_when_saved(tmp_path):
    ranker = fit_ranker(read_table(demo_files()[0], columns=COLUMNS))
    ranker.save(tmp_path / "model.vecuq")
    assert is_proven_monotone(ranker)
    assert is_proven_monotone(load(tmp_path / "model.vecuq"))


@pytest.mark.parametrize("n_columns", [2, 3, 4])
def test_columns_that_nearly_repeat_each_other_are_not_proven(n_columns):
    assert not is_proven_monotone(fit_ranker(nearly_equal(n_columns)))


@pytest.mark.parametrize(
    "changes",
    [
        {"reference": "exponential"},
        {"grid": "authors"},
        {"reference": "ball"},
        {"epsilon": 0.02, "tol": 1e-2, "on_failure": "warn"},
        {"n_targets": 40_000},
    ],
    ids=repr,
)
@pytest.mark.filterwarnings("ignore::vecuq.errors.ConvergenceWarning")
def test_what_the_proof_does_not_cover_is_not_proven(changes):
    assert not is_proven_monotone(fit_ranker(related(2), Settings(**changes)))


def weights(shape):
    return hnp.arrays(float, shape, elements=st.floats(-3, 3)).map(np.exp)


@settings(max_examples=60, deadline=None)
@given(weights((3, 3)))
def test_the_coefficients_are_those_of_all_triples_of_targets(w):
    points = list(product(range(3), range(3)))
    at = {p: np.array([AXES[0][p[0]], AXES[1][p[1]]]) for p in points}
    sums, sizes = {}, {}
    for a, b, c in product(points, repeat=3):
        # F_l(a) (F_lk(b) F(c) - F_l(b) F_k(c)), summed over l, for each k.
        term = w[a] * w[b] * w[c] * (at[a] @ at[b]) * (at[b] - at[c])
        key = a[0] + b[0] + c[0], a[1] + b[1] + c[1]
        sums[key] = sums.get(key, 0.0) + term
        sizes[key] = sizes.get(key, 0.0) + np.abs(term)
    least = min(float((sums[key] / (sizes[key] + 1e-300)).min()) for key in sums)
    if abs(least) > 1e-9 or least >= 0:
        assert slopes_are_positive(AXES, w) == (least > -1e-9)


@settings(max_examples=60, deadline=None)
@given(weights((3, 3)), st.integers(0, 2**32 - 1))
def test_nothing_that_is_proven_falls_at_any_row(w, seed):
    rng = np.random.default_rng(seed)
    rows = rng.normal(size=(300, 2)) * 10.0 ** rng.uniform(-1, 3, size=(300, 1))
    raised = rows.copy()
    raised[np.arange(300), rng.integers(2, size=300)] += 10.0 ** rng.uniform(-2, 3, size=300)
    found = GridMap(AXES, np.log(w), 0.5)
    if slopes_are_positive(AXES, np.exp(np.log(w) - sum(np.meshgrid(*[t**2 / 0.5 for t in AXES], indexing="ij")))):
        before, after = (np.linalg.norm(found(points), axis=1) for points in (rows, raised))
        assert (after >= before - 1e-12).all()


@pytest.mark.parametrize("m", [1, 2, 3, 4])
def test_polynomials_are_multiplied(m):
    rng = np.random.default_rng(m)
    a, b = rng.random((4, 2, 3, 5)[:m]), rng.random((2, 3, 2, 2)[:m])
    npt.assert_allclose(polynomial_product(a, b), convolve(a, b, method="direct"), rtol=1e-13)


def test_negative_targets_are_not_proven():
    ranker = fit_ranker(related(2))
    moved = GridMap(tuple(axis - 0.5 for axis in ranker.rank_map.axes), ranker.rank_map.log_v, 0.5)
    assert not is_proven_monotone(replace(ranker, rank_map=moved))
