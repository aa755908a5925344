import numpy as np
import numpy.testing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from problems import cloud_of, full_grid, sources_of

from vecuq._run import BLOCK
from vecuq.transport import CloudMap, GridMap, SeparableKernel, rank_map, solve


def fitted(m, g, epsilon=0.5, n=120):
    grid = full_grid(g, m)
    solved = solve(SeparableKernel(sources_of(n, m), grid, epsilon).push, grid.weights, max_sweeps=3000)
    return grid, rank_map(grid, solved.log_v, epsilon)


@pytest.mark.parametrize("m", [1, 2, 3, 4, 5, 8])
def test_a_row_has_the_same_bits_alone_and_in_any_company(m):
    _, image = fitted(m, 3 if m > 4 else 6)
    rows = np.random.default_rng(0).gamma(1.0, size=(2 * BLOCK + 7, m)) * 3
    together = image(rows)
    alone = np.concatenate([image(row[None]) for row in rows])
    order = np.random.default_rng(1).permutation(len(rows))
    npt.assert_array_equal(alone, together)
    npt.assert_array_equal(image(rows[order]), together[order])
    npt.assert_array_equal(np.concatenate([image(rows[:100]), image(rows[100:])]), together)


def test_the_map_is_the_barycentre_that_the_formula_says():
    grid, image = fitted(3, 4)
    rows = np.random.default_rng(0).random((20, 3)) * 2
    weights = np.exp(image.log_v.ravel() - ((rows[:, None] - grid.points) ** 2).sum(axis=2) / 0.5)
    expected = (weights @ grid.points) / weights.sum(axis=1, keepdims=True)
    npt.assert_allclose(image(rows), expected, atol=1e-13)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.floats(-1e300, 1e300), min_size=3, max_size=3), st.sampled_from([2.0, 0.5, 0.02]))
def test_an_image_is_finite_and_inside_the_hull_at_any_distance(row, epsilon):
    grid, image = FITTED.setdefault(epsilon, fitted(3, 4, epsilon, n=40))
    for mapping in (image, CloudMap(grid.points, image.log_v.ravel(), epsilon)):
        point = mapping(np.array([row]))[0]
        assert np.isfinite(point).all()
        assert (point >= grid.axes[0][0] - 1e-12).all()
        assert (point <= grid.axes[0][-1] + 1e-12).all()


FITTED = {}


def test_far_rows_reach_the_vertex_of_their_side():
    """Closed form: the limit of the map along an axis is the last grid point of that axis."""
    _, image = fitted(2, 5)
    npt.assert_allclose(image(np.array([[1e12, 1e250], [-1e12, 1e3]])), [[0.9, 0.9], [0.1, 0.9]], atol=1e-12)


def test_a_huge_column_does_not_drown_the_others():
    grid, image = fitted(2, 5)
    cloud = CloudMap(grid.points, image.log_v.ravel(), 0.5)
    rows = np.array([[1e200, 0.1], [1e200, 0.6], [1e200, 3.0]])
    npt.assert_allclose(image(rows), cloud(rows), atol=1e-12)
    assert (np.diff(image(rows)[:, 1]) > 0).all()


def test_in_one_dimension_order_is_kept_exactly():
    _, image = fitted(1, 30)
    rows = np.sort(np.random.default_rng(0).random(2000))[:, None] * 1.5
    assert (np.diff(image(rows)[:, 0]) > 0).all()


def test_no_rows_give_no_images():
    grid, image = fitted(2, 4)
    assert image(np.empty((0, 2))).shape == (0, 2)
    assert CloudMap(grid.points, image.log_v.ravel(), 0.5)(np.empty((0, 2))).shape == (0, 2)


def test_a_grid_with_holes_is_mapped_as_a_cloud():
    grid = full_grid(4, 2)
    weights = grid.weights.copy()
    weights[0, 0] = 0.0
    holes = type(grid)(grid.axes, weights / weights.sum())
    solved = solve(SeparableKernel(sources_of(50, 2), holes, 0.5).push, holes.weights)
    assert isinstance(rank_map(holes, solved.log_v, 0.5), CloudMap)
    assert isinstance(rank_map(grid, solved.log_v, 0.5), GridMap)
    assert cloud_of(holes).size == 15
