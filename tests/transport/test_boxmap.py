import numpy as np
import numpy.testing as npt
import pytest
from problems import full_grid, outer, sources_of

from vecuq._run import BLOCK
from vecuq.transport import GridMap, SeparableKernel, Sources, solve
from vecuq.transport.expansion import box_map


def fitted(m, g, epsilon):
    grid, sources = full_grid(g, m), sources_of(300, m)
    solved = solve(SeparableKernel(sources, grid, epsilon).push, grid.weights, max_sweeps=3000)
    return GridMap(grid.axes, solved.log_v, epsilon), (sources.rows.min(axis=0), sources.rows.max(axis=0))


@pytest.mark.parametrize("epsilon", [2.0, 0.5, 0.25])
@pytest.mark.parametrize(("m", "g"), [(1, 5000), (2, 70), (3, 18), (4, 10)])
def test_the_short_sum_is_the_map_inside_the_box(m, g, epsilon):
    exact, box = fitted(m, g, epsilon)
    short = box_map(exact.axes, exact.log_v, epsilon, box, 1e-9)
    assert short is not None
    assert short.first.matrix.size + short.second.matrix.size < 2 * g**m
    corners = np.stack(np.meshgrid(*np.stack(box).T, indexing="ij"), axis=-1).reshape(-1, m)
    rows = np.concatenate([box[0] + np.random.default_rng(0).random((500, m)) * (box[1] - box[0]), corners])
    npt.assert_allclose(short.images(rows), exact(rows), atol=1e-9)


def test_it_is_not_used_where_it_would_save_nothing_or_the_kernel_is_steep():
    small, box = fitted(4, 6, 0.5)
    assert box_map(small.axes, small.log_v, 0.5, box, 1e-9) is None
    steep, box = fitted(2, 70, 0.02)
    assert box_map(steep.axes, steep.log_v, 0.02, box, 1e-9) is None


@pytest.mark.parametrize("kind", ["gamma", "heavy", "spike"])
@pytest.mark.parametrize("epsilon", [0.2, 0.1, 0.07, 0.05])
@pytest.mark.parametrize(("m", "g"), [(2, 70), (3, 18)])
def test_where_rounding_would_show_the_short_sum_is_not_used(m, g, epsilon, kind):
    rng = np.random.default_rng(0)
    rows = {
        "gamma": rng.gamma(1.0, size=(300, m)),
        "heavy": rng.standard_cauchy((300, m)) ** 2,
        "spike": np.concatenate([1e-3 * rng.random((299, m)), np.ones((1, m))]),
    }[kind]
    rows = (rows - rows.min(axis=0)) / np.ptp(rows, axis=0)
    grid = full_grid(g, m)
    sources = Sources.of(rows, outer(m))
    solved = solve(SeparableKernel(sources, grid, epsilon).push, grid.weights, tol=1e-6, max_sweeps=3000)
    exact = GridMap(grid.axes, solved.log_v, epsilon)
    boxed = GridMap(grid.axes, solved.log_v, epsilon, (np.zeros(m), np.ones(m)))
    at = np.concatenate([rng.random((2000, m)), rows])
    npt.assert_allclose(boxed(at), exact(at), atol=1e-9)


def test_a_box_that_is_very_narrow_in_one_column_is_exact():
    exact, _ = fitted(2, 70, 0.5)
    box = (np.array([0.0, 0.5]), np.array([1.0, 0.5 + 1e-13]))
    boxed = GridMap(exact.axes, exact.log_v, 0.5, box)
    at = box[0] + np.random.default_rng(0).random((500, 2)) * (box[1] - box[0])
    npt.assert_allclose(boxed(at), exact(at), atol=1e-9)


def test_rows_inside_and_outside_the_box_have_the_same_bits_in_any_company():
    exact, box = fitted(3, 18, 0.5)
    boxed = GridMap(exact.axes, exact.log_v, 0.5, box)
    rows = np.random.default_rng(0).gamma(1.0, size=(2 * BLOCK + 11, 3)) * 0.4
    inside = boxed._in_box.contains(rows)
    assert 100 < inside.sum() < len(rows) - 100
    together = boxed(rows)
    npt.assert_array_equal(np.concatenate([boxed(row[None]) for row in rows[:300]]), together[:300])
    order = np.random.default_rng(1).permutation(len(rows))
    npt.assert_array_equal(boxed(rows[order]), together[order])
    npt.assert_allclose(together, exact(rows), atol=1e-9)


def test_threads_change_no_bit():
    exact, box = fitted(2, 70, 0.5)
    boxed = GridMap(exact.axes, exact.log_v, 0.5, box)
    rows = np.random.default_rng(0).random((80_000, 2)) * 1.2
    npt.assert_array_equal(boxed(rows, 1), boxed(rows, 4))
