import numpy as np
import numpy.testing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from problems import axes_of, cloud_of, full_grid, sources_of
from scipy.optimize import linprog

from vecuq.transport import CloudMap, DenseKernel, Grid, SeparableKernel, Sources, rank_map, sinkhorn, solve
from vecuq.transport.sinkhorn import Anderson

# Points per axis small enough for the dense oracle.
GRIDS = {1: 40, 2: 12, 3: 7, 4: 5, 5: 4, 6: 3}


def plan_of(sources, cloud, log_v, epsilon):
    kernel = DenseKernel(sources, cloud, epsilon)
    log_k = -kernel.cost(kernel.rows) / epsilon
    scores = log_k + log_v
    log_u = kernel.log_a - np.log(np.exp(scores - scores.max(1, keepdims=True)).sum(1)) - scores.max(1)
    return np.exp(log_u[:, None] + scores)


@pytest.mark.parametrize("epsilon", [2.0, 0.5, 0.1, 0.05])
@pytest.mark.parametrize("m", GRIDS)
def test_separable_and_dense_solvers_agree_in_score(m, epsilon):
    sources, grid = sources_of(150, m), full_grid(GRIDS[m], m)
    cloud = cloud_of(grid)
    fast = solve(SeparableKernel(sources, grid, epsilon).push, grid.weights, tol=1e-12, max_sweeps=3000)
    slow = solve(DenseKernel(sources, cloud, epsilon).push, cloud.weights, tol=1e-12, max_sweeps=3000)
    assert fast.converged
    assert slow.converged
    rng = np.random.default_rng(1)
    rows = np.concatenate([rng.random((200, m)), 40 * rng.random((100, m)) - 5, 10 ** rng.uniform(0, 300, (50, m))])
    ours = np.linalg.norm(rank_map(grid, fast.log_v, epsilon)(rows), axis=1)
    oracle = np.linalg.norm(CloudMap(cloud.points, slow.log_v, epsilon)(rows), axis=1)
    npt.assert_allclose(ours, oracle, atol=1e-9)


@pytest.mark.parametrize("epsilon", [2.0, 0.5, 0.1])
def test_the_python_optimal_transport_library_gives_the_same_scores(epsilon):
    ot = pytest.importorskip("ot", reason="POT is a test-only dependency")
    sources, grid = sources_of(200, 3), full_grid(6, 3)
    cloud = cloud_of(grid)
    kernel = DenseKernel(sources, cloud, epsilon)
    cost = kernel.cost(kernel.rows)
    options = {"method": "sinkhorn_log", "numItermax": 20_000, "stopThr": 1e-12}
    plan = ot.sinkhorn(np.exp(kernel.log_a), cloud.weights, cost, epsilon, **options)
    theirs = np.linalg.norm((plan @ cloud.points) / plan.sum(axis=1, keepdims=True), axis=1)
    solved = solve(SeparableKernel(sources, grid, epsilon).push, grid.weights, tol=1e-12)
    ours = np.linalg.norm(rank_map(grid, solved.log_v, epsilon)(kernel.rows), axis=1)
    npt.assert_allclose(ours, theirs, atol=1e-7)


@settings(max_examples=40, deadline=None)
@given(
    seed=st.integers(0, 10_000),
    n=st.integers(2, 40),
    m=st.integers(1, 4),
    epsilon=st.floats(0.05, 3.0),
    anchors=st.booleans(),
)
def test_the_plan_has_the_requested_marginals(seed, n, m, epsilon, anchors):
    sources, grid = sources_of(n, m, seed, anchors=anchors), full_grid(3, m)
    solved = solve(SeparableKernel(sources, grid, epsilon).push, grid.weights, max_sweeps=5000)
    assert solved.converged
    plan = plan_of(sources, cloud_of(grid), solved.log_v.ravel(), epsilon)
    npt.assert_allclose(plan.sum(axis=0), grid.weights.ravel(), atol=2e-9)
    npt.assert_allclose(plan.sum(), 1.0, atol=1e-12)


def test_a_stall_just_above_the_tolerance_is_overcome():
    """Plain steps reduce the error by a factor 0.99997 here, and straight down no accelerated one is kept."""
    sources, grid = sources_of(20, 3, 14, anchors=True), full_grid(3, 3)
    solved = solve(SeparableKernel(sources, grid, 0.0546875).push, grid.weights, max_sweeps=1000)
    assert solved.converged


def test_with_little_regularisation_the_plan_costs_as_much_as_exact_transport():
    """Independent solver: the linear programme of unregularised transport."""
    sources, grid = sources_of(9, 2, anchors=False), full_grid(3, 2)
    cloud = cloud_of(grid)
    kernel = DenseKernel(sources, cloud, 0.002)
    cost = kernel.cost(kernel.rows)
    rows, columns = np.kron(np.eye(9), np.ones(9)), np.kron(np.ones(9), np.eye(9))
    exact = linprog(cost.ravel(), A_eq=np.vstack([rows, columns]), b_eq=np.full(18, 1 / 9)).fun
    solved = solve(SeparableKernel(sources, grid, 0.002).push, grid.weights, tol=1e-8, max_sweeps=20_000)
    plan = plan_of(sources, cloud, solved.log_v.ravel(), 0.002)
    assert float((plan * cost).sum()) == pytest.approx(exact, abs=0.002)


def test_one_source_spreads_evenly_so_the_potential_is_the_inverse_kernel():
    """Closed form: with a single row the plan is b, hence v_j = b_j exp(|z - t_j|^2 / epsilon) up to a constant."""
    sources, grid = Sources.of(np.array([[0.3, 0.9]])), full_grid(5, 2)
    solved = solve(SeparableKernel(sources, grid, 0.5).push, grid.weights, tol=1e-14)
    expected = ((grid.points - [0.3, 0.9]) ** 2).sum(axis=1) / 0.5
    npt.assert_allclose(solved.log_v.ravel(), expected - expected.max(), atol=1e-12)


def test_two_mirrored_rows_have_a_closed_form():
    """Rows at 0 and 1, targets at 0 and 1: the plan has entries s/2 and (1-s)/2, with s = 1/(1+e^(-1/eps))."""
    epsilon = 0.7
    sources = Sources.of(np.array([[0.0], [1.0]]))
    grid = Grid((np.array([0.0, 1.0]),), np.array([0.5, 0.5]))
    solved = solve(SeparableKernel(sources, grid, epsilon).push, grid.weights, tol=1e-14)
    s = 1.0 / (1.0 + np.exp(-1.0 / epsilon))
    plan = plan_of(sources, cloud_of(grid), solved.log_v, epsilon)
    npt.assert_allclose(plan, [[s / 2, (1 - s) / 2], [(1 - s) / 2, s / 2]], atol=1e-12)


def test_small_epsilon_uses_several_cells_and_still_agrees_with_the_oracle():
    sources, grid = sources_of(60, 4), full_grid(3, 4)
    kernel, cloud = SeparableKernel(sources, grid, 0.004), cloud_of(grid)
    assert len(kernel.groups) > 1
    log_v = np.random.default_rng(0).normal(size=grid.weights.shape)
    npt.assert_allclose(
        kernel.push(log_v).ravel() - kernel.push(log_v).max(),
        (d := DenseKernel(sources, cloud, 0.004).push(log_v.ravel())) - d.max(),
        atol=1e-9,
    )


def test_grid_points_without_weight_receive_nothing_and_matter_to_nobody():
    sources, grid = sources_of(50, 2), full_grid(6, 2)
    weights = grid.weights.copy()
    weights[1::2, 0] = 0.0
    holes = Grid(axes_of(6, 2), weights / weights.sum())
    fast = solve(SeparableKernel(sources, holes, 0.5).push, holes.weights, tol=1e-13)
    cloud = cloud_of(holes)
    slow = solve(DenseKernel(sources, cloud, 0.5).push, cloud.weights, tol=1e-13)
    assert np.isneginf(fast.log_v[1::2, 0]).all()
    npt.assert_allclose(fast.log_v[weights > 0], slow.log_v, atol=1e-9)


def test_a_wild_accelerated_step_is_taken_back(monkeypatch):
    """The safeguard: whatever the acceleration proposes, the plan converges as plain Sinkhorn would."""
    rng = np.random.default_rng(0)

    class Wild(Anderson):
        def propose(self, point, image):
            super().propose(point, image)
            return image + 5 * rng.normal(size=image.shape)

    monkeypatch.setattr(sinkhorn, "Anderson", Wild)
    sources, grid = sources_of(80, 2), full_grid(6, 2)
    solved = solve(SeparableKernel(sources, grid, 0.5).push, grid.weights)
    assert solved.converged


def test_running_out_of_sweeps_is_told():
    sources, grid = sources_of(80, 3), full_grid(4, 3)
    solved = solve(SeparableKernel(sources, grid, 0.01).push, grid.weights, max_sweeps=3)
    assert not solved.converged
    assert solved.marginal_error > 1e-9
    assert solved.sweeps == 3


def test_rows_and_anchors_weigh_the_same_and_a_cap_is_kept():
    sources = sources_of(20, 3)
    assert sources.corners.mass == pytest.approx(7 / 27)
    assert sources.row_weight == pytest.approx(1 / 27)
    capped = Sources.of(sources.rows, sources.corners, max_corner_mass=0.1)
    assert capped.corners.mass == pytest.approx(0.1)
    assert capped.row_weight * 20 == pytest.approx(0.9)
