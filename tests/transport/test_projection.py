import tracemalloc

import numpy as np
import numpy.testing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from problems import full_grid, sources_of

from vecuq.ranker.solve import in_units
from vecuq.transport import Nodes, ProjectedKernel, SeparableKernel, chebyshev_moments, nodes_needed, rank_map, solve
from vecuq.transport.projection import chebyshev_nodes, chebyshev_values, interpolate, node_weights


def test_chebyshev_values_are_cosines():
    """Closed form: T_n(cos t) = cos(n t)."""
    angle = np.linspace(0, np.pi, 50)
    npt.assert_allclose(chebyshev_values(np.cos(angle), 9), np.cos(np.arange(9)[:, None] * angle), atol=1e-13)


@given(st.integers(0, 1000), st.integers(1, 4), st.integers(1, 30))
@settings(max_examples=40, deadline=None)
def test_moments_of_chunks_add_up(seed, m, cut):
    rows = np.random.default_rng(seed).uniform(-1, 1, size=(40, m))
    whole = chebyshev_moments(rows, 5)
    npt.assert_allclose(chebyshev_moments(rows[:cut], 5) + chebyshev_moments(rows[cut:], 5), whole, atol=1e-12)


def test_node_weights_integrate_polynomials_exactly():
    rows = np.random.default_rng(0).uniform(-1, 1, size=(100, 2))
    weights = node_weights(chebyshev_moments(rows, 6))
    x, y = np.meshgrid(chebyshev_nodes(6), chebyshev_nodes(6), indexing="ij")
    assert weights.sum() == pytest.approx(100)
    assert (weights * x**3 * y**5).sum() == pytest.approx((rows[:, 0] ** 3 * rows[:, 1] ** 5).sum(), abs=1e-11)


def test_interpolation_reproduces_polynomials():
    x, y = np.meshgrid(chebyshev_nodes(5), chebyshev_nodes(5), indexing="ij")
    at = np.random.default_rng(0).uniform(-1, 1, size=(30, 2))
    npt.assert_allclose(interpolate(x**4 - x * y**3, at), at[:, 0] ** 4 - at[:, 0] * at[:, 1] ** 3, atol=1e-12)


@pytest.mark.parametrize("epsilon", [2.0, 1.0, 0.5, 0.3])
@pytest.mark.parametrize("m", [1, 2, 3, 4])
def test_a_sketch_gives_the_scores_of_the_rows(m, epsilon):
    sources, grid = sources_of(400, m), full_grid({1: 30, 2: 10, 3: 6, 4: 5}[m], m)
    low, high = sources.rows.min(axis=0), sources.rows.max(axis=0)
    units = (2 * sources.rows - low - high) / (high - low)
    nodes = Nodes.of(chebyshev_moments(units, nodes_needed(1 / epsilon)), low, high, sources.row_weight)
    kernel = ProjectedKernel(nodes, sources.corners, grid, epsilon)
    projected = solve(kernel.push, grid.weights, tol=1e-12)
    exact = solve(SeparableKernel(sources, grid, epsilon).push, grid.weights, tol=1e-12)
    rows = np.random.default_rng(1).random((200, m))
    ours, theirs = (np.linalg.norm(rank_map(grid, s.log_v, epsilon)(rows), axis=1) for s in (projected, exact))
    npt.assert_allclose(ours, theirs, atol=1e-8)
    assert kernel.interpolation_error(projected.log_v, rank_map(grid, projected.log_v, epsilon)) < 2e-9


def test_too_few_nodes_show_in_the_interpolation_error():
    sources, grid = sources_of(400, 2), full_grid(10, 2)
    low, high = sources.rows.min(axis=0), sources.rows.max(axis=0)
    units = (2 * sources.rows - low - high) / (high - low)
    nodes = Nodes.of(chebyshev_moments(units, 5), low, high, sources.row_weight)
    kernel = ProjectedKernel(nodes, sources.corners, grid, 0.3)
    solved = solve(kernel.push, grid.weights)
    assert kernel.interpolation_error(solved.log_v, rank_map(grid, solved.log_v, 0.3)) > 1e-6


@pytest.mark.parametrize("m", [1, 2, 3, 4, 5, 6])
def test_moments_are_sums_of_products_and_0_at_high_degrees(m):
    """Independent check: every moment by itself, one loop over its columns."""
    q, rows = 5, np.random.default_rng(m).uniform(-1, 1, size=(1000, m))
    values, moments = chebyshev_values(rows, q), chebyshev_moments(rows, q)
    for degrees in np.ndindex(moments.shape):
        halves = sum(degrees[: m // 2]), sum(degrees[m // 2 :])
        kept = sum(degrees) <= 4 * q // 3 and max(halves) <= q + 2
        product = np.prod([values[degree, :, k] for k, degree in enumerate(degrees)], axis=0)
        assert moments[degrees] == pytest.approx(product.sum() if kept else 0.0, abs=1e-11)


def test_the_layout_of_rows_does_not_change_their_moments():
    rows = np.random.default_rng(0).uniform(-1, 1, size=(2000, 4))
    npt.assert_array_equal(chebyshev_moments(np.asfortranarray(rows), 7), chebyshev_moments(rows, 7))


def test_moments_ask_for_no_new_memory_from_block_to_block():
    """Scratch arrays are used again, so that no setting of the allocator matters."""
    rows = np.random.default_rng(0).uniform(-1, 1, size=(50_000, 4))
    chebyshev_moments(rows, 12)
    tracemalloc.start()
    before = tracemalloc.get_traced_memory()[0]
    chebyshev_moments(rows, 12)
    peak = tracemalloc.get_traced_memory()[1] - before
    tracemalloc.stop()
    assert peak < 1_200_000  # the moments themselves, twice, and the sum over blocks


@pytest.mark.parametrize("m", [1, 3, 4])
def test_moments_in_a_box_are_those_of_the_rows_brought_to_units(m):
    rows = np.random.default_rng(0).gamma(1.0, size=(2000, m))
    rows[:, 0] = 7.0  # a constant column lies at -1
    low, high = rows.min(axis=0), rows.max(axis=0)
    npt.assert_array_equal(chebyshev_moments(rows, 6, box=(low, high)), chebyshev_moments(in_units(rows, low, high), 6))
    npt.assert_allclose(in_units(rows, low, high)[:, 1:], (2 * rows - low - high)[:, 1:] / (high - low)[1:], atol=1e-12)
    assert (in_units(rows, low, high)[:, 0] == -1).all()
