import numpy as np
import numpy.testing as npt
import pytest
from scipy import stats

from vecuq import Ball, Beta, Exponential, Settings, fit_ranker
from vecuq.errors import SettingError
from vecuq.transport import Cloud, Grid, authors_targets, auto_targets, named_reference, outer_anchors
from vecuq.transport.reference import points_per_axis


@pytest.mark.parametrize(
    ("law", "oracle"), [(Beta(2.0, 5.0), stats.beta(2, 5)), (Exponential(1.5), stats.expon(scale=1 / 1.5))]
)
def test_axes_are_quantiles_at_the_midpoints(law, oracle):
    grid = law.targets(2, 25)
    npt.assert_allclose(grid.axes[0], oracle.ppf([0.1, 0.3, 0.5, 0.7, 0.9]), rtol=1e-12)
    assert grid.weights.sum() == pytest.approx(1.0)


def test_the_number_of_targets_is_rounded_up_to_a_full_grid():
    assert points_per_axis(10_000, 4) == 10
    assert points_per_axis(10_001, 4) == 11
    assert points_per_axis(2, 5) == 2
    assert Beta().targets(2, 253).size == 256


def test_auto_does_not_grow_with_rows_and_is_finer_for_small_epsilon():
    assert auto_targets(4, 0.5) == 6**4
    assert auto_targets(4, 0.5) < auto_targets(4, 0.1) <= 20_000


@pytest.mark.parametrize("m", [1, 2, 3, 5, 8, 10])
def test_the_ball_is_symmetric_inside_its_radius_and_uniform(m):
    grid = Ball().targets(m, 500)
    assert (np.linalg.norm(grid.points, axis=1) <= 1.0).all()
    npt.assert_allclose(grid.points.mean(axis=0), 0.0, atol=1e-12)
    assert len(set(grid.weights[grid.weights > 0])) == 1
    assert grid.size >= (500 if m <= 8 else 200)


def test_references_are_known_by_name_and_by_parameters():
    assert named_reference("beta") == Beta(1.0, 1.0)
    assert named_reference("exponential(1.5)") == Exponential(1.5)
    assert named_reference(" ball ") == Ball()
    own = Exponential(3.0)
    assert named_reference(own) is own


@pytest.mark.parametrize("wrong", ["betta", "beta(1,2,3)", "exponential(x)", "beta(-1, 1)", "", 3, None, object()])
def test_a_wrong_reference_is_refused(wrong):
    with pytest.raises(SettingError):
        named_reference(wrong)


def test_the_authors_grid_keeps_as_many_points_as_asked_for():
    grid = authors_targets(Beta(), 2, 253)
    assert isinstance(grid, Grid)
    assert grid.size == 253
    assert grid.axes[0][[0, -1]].tolist() == [0.01, 0.99]
    cloud = authors_targets(Beta(), 3, 100)
    assert isinstance(cloud, Cloud)
    levels = np.sort((cloud.points - 0.01) / 0.98, axis=0)
    assert (np.floor(levels * 100) == np.arange(100)[:, None]).all(), "one point per cell of a Latin hypercube"
    with pytest.raises(SettingError, match="authors"):
        authors_targets(Ball(), 2, 10)


def test_anchors_are_the_outer_corners_of_the_box():
    rows = np.array([[0.2, 1.0], [1.0, 0.5]])
    corners = outer_anchors(rows.min(axis=0), rows.max(axis=0), 5.0)
    assert sorted(map(tuple, corners.points)) == [(0.0, 5.0), (5.0, 0.0), (5.0, 5.0)]
    signed = outer_anchors(np.array([-1.0, -1.0]), np.array([0.2, 0.5]), 2.0, signed=True)
    assert sorted(map(tuple, signed.points)) == [(-2.0, -2.0), (-2.0, 2.0), (2.0, -2.0), (2.0, 2.0)]
    assert outer_anchors(rows.min(axis=0), rows.max(axis=0), 0.0) is None


def test_anchors_without_a_positive_maximum_are_refused():
    with pytest.raises(SettingError, match="positive maximum"):
        outer_anchors(np.array([-2.0]), np.array([-1.0]), 5.0)


class Triangle:
    """A user's own law: a cloud of points on a triangle."""

    signed = False

    def __repr__(self):
        return "Triangle()"

    def targets(self, n_columns, n_targets):
        points = np.random.default_rng(0).dirichlet(np.ones(n_columns + 1), size=n_targets)[:, :n_columns]
        return Cloud(points, np.full(n_targets, 1.0 / n_targets))


def test_a_user_defined_reference_needs_two_names_only():
    rows = np.random.default_rng(0).gamma(1.0, size=(200, 2))
    ranker = fit_ranker(rows, Settings(reference=Triangle(), n_targets=300))
    assert ranker.diagnostics.solver == "dense"
    assert np.isfinite(ranker.uncertainty(rows)).all()


def test_a_saved_user_defined_reference_scores_alike_but_cannot_be_fitted_again(tmp_path):
    from vecuq import load
    from vecuq.errors import ModelFileError

    rows = np.random.default_rng(0).gamma(1.0, size=(200, 2))
    ranker = fit_ranker(rows, Settings(reference=Triangle(), n_targets=300))
    ranker.save(tmp_path / "model.vecuq")
    again = load(tmp_path / "model.vecuq")
    npt.assert_array_equal(again.uncertainty(rows), ranker.uncertainty(rows))
    assert repr(again.settings.reference) == "Triangle()"
    with pytest.raises(ModelFileError, match="defined outside vecuq"):
        fit_ranker(rows, again.settings)


def test_a_law_with_equal_quantiles_gives_fewer_heavier_points_and_can_be_saved(tmp_path):
    from vecuq import load

    rows = np.random.default_rng(0).gamma(1.0, size=(200, 2))
    ranker = fit_ranker(rows, Settings(reference="beta(0.01, 0.01)"))
    ranker.save(tmp_path / "model.vecuq")
    npt.assert_array_equal(load(tmp_path / "model.vecuq").uncertainty(rows), ranker.uncertainty(rows))


def test_a_built_in_law_given_as_an_object_can_be_fitted_again_after_loading(tmp_path):
    from vecuq import load

    rows = np.random.default_rng(0).gamma(1.0, size=(200, 2))
    fit_ranker(rows, Settings(reference=Beta(2.0, 5.0))).save(tmp_path / "model.vecuq")
    again = load(tmp_path / "model.vecuq")
    assert again.settings.reference == "beta(2.0, 5.0)"
    assert fit_ranker(rows, again.settings).diagnostics.converged


class Custom:
    signed = False

    def __init__(self, made):
        self.made = made

    def targets(self, n_columns, n_targets):
        return self.made


HALF = np.full((2, 2), 0.25)
RISING = np.array([0.2, 0.8])
WRONG = {
    "falling axis": Grid((RISING[::-1], RISING), HALF),
    "one point": Grid((RISING[:1], RISING), HALF[:1]),
    "weights": Grid((RISING, RISING), HALF * 2),
    "negative": Grid((RISING, RISING), HALF * [[-1, 2], [2, 1]]),
    "columns": Grid((RISING,), HALF[0] * 2),
    "cloud": Cloud(np.zeros((3, 5)), np.full(3, 1 / 3)),
    "array": np.zeros((3, 2)),
}


@pytest.mark.parametrize("made", WRONG.values(), ids=WRONG)
def test_a_users_reference_with_unusable_points_is_refused(made):
    with pytest.raises(SettingError, match="reference"):
        fit_ranker(np.random.default_rng(0).random((50, 2)), Settings(reference=Custom(made)))
