"""Far rows and the paper's limitations: what the studies claim is checked on maps that are solved another way."""

import numpy as np
import numpy.testing as npt
import pytest

from vecuq import Settings, fit_ranker
from vecuq.paper import STUDIES, direction, limits, ood_calibration, other_costs
from vecuq.paper.ensembles import group_scores
from vecuq.paper.images import COMPONENTS
from vecuq.paper.limits import ANCHORS, BANDS, NO_ANCHORS, OVERSHOOT, SUM, barycentre
from vecuq.paper.ood_calibration import OTHER, RANGE, SAME, mixed
from vecuq.paper.other_costs import cost, falling_share, fit_cost_map, typical_epsilon
from vecuq.paper.toy import toy_scores


@pytest.fixture(scope="module")
def far():
    return STUDIES["limits"]()


def test_far_images_end_on_the_boundary_and_not_at_the_barycentre(far):
    for ray, found in far.figures["rays"].items():
        last = found[-1]
        assert last["to the boundary"] < 1e-9, ray
        assert last["to the barycentre"] > 0.3, ray


def test_only_overshoot_keeps_far_order(far):
    order = list(far.figures["far order"].values())
    assert [set(found) for found in order] == [{NO_ANCHORS, ANCHORS, OVERSHOOT, SUM}] * len(BANDS)
    assert order[-1][NO_ANCHORS] == pytest.approx(0.5, abs=0.02)
    assert order[-1][ANCHORS] == pytest.approx(0.5, abs=0.02)
    assert min(found[OVERSHOOT] for found in order) > 0.999
    assert far.figures["ties"]["100 to 1,000,000"][ANCHORS] == 1.0
    assert far.figures["ties"]["100 to 1,000,000"][OVERSHOOT] == 0.0


def test_along_a_ray_no_score_falls(far):
    for found in far.figures["rays"].values():
        for name in limits._SETTINGS:
            assert (np.diff([line[name] for line in found]) >= 0).all()


def test_the_barycentre_is_the_image_where_the_kernel_is_flat():
    """With a huge epsilon all kernel terms are equal: there the paper's argument holds."""
    ranker = fit_ranker(toy_scores().calibration, Settings.paper(epsilon=1e6, anchors=0.0))
    image = ranker.transform([[0.2, 3.0]])[0]
    npt.assert_allclose(image, barycentre(ranker), atol=1e-5)


@pytest.mark.parametrize("epsilon", [0.5, 0.2])
def test_squared_cost_gives_the_scores_of_the_ranker(epsilon):
    data = toy_scores()
    ours = fit_ranker(data.calibration, Settings.paper(epsilon=epsilon, n_targets=256))
    theirs = fit_cost_map(data.calibration, 2.0, epsilon, n_targets=256)
    rows = np.concatenate([data.test[:200], data.ood[:50]])
    npt.assert_allclose(theirs.uncertainty(rows), ours.uncertainty(rows), atol=1e-6)


@pytest.mark.parametrize("power", other_costs.POWERS)
def test_costs_are_powers_summed_over_columns(power):
    rng = np.random.default_rng(0)
    rows, targets = rng.normal(size=(5, 3)), rng.random((4, 3))
    expected = (np.abs(rows[:, None] - targets) ** power).sum(axis=2)
    npt.assert_allclose(cost(rows, targets, power), expected, rtol=1e-12)


def test_the_absolute_cost_is_the_one_whose_far_images_do_not_reach_the_outermost_target():
    data = toy_scores()
    far_row = 1e6 * data.calibration.max(axis=0)[None]
    for power in other_costs.POWERS:
        fitted = fit_cost_map(data.calibration, power, 0.5)
        short = np.max(fitted.targets.max(axis=0) - fitted.images(far_row)[0])
        assert (short > 0.1) == (power == 1.0)


def test_falling_share_can_see_a_fall():
    data = toy_scores()
    fitted = fit_cost_map(data.calibration, 2.0, 0.5)
    assert falling_share(fitted, data.test[:50]) == 0.0
    away = type(fitted)(**{**vars(fitted), "targets": fitted.targets - 1.0})  # uncertain rows now lie near the origin
    assert falling_share(away, data.test[:50]) > 0.5


def test_epsilon_is_scaled_to_the_mean_cost_of_two_uniform_draws():
    first, second = np.random.default_rng(0).random((2, 400_000))
    mean_square = np.mean((first - second) ** 2)
    for power in other_costs.POWERS:
        expected = 0.5 * np.mean(np.abs(first - second) ** power) / mean_square
        assert typical_epsilon(power) == pytest.approx(expected, rel=0.01)


@pytest.mark.usefixtures("paper_data")
def test_mixed_in_rows_calibrate_and_do_not_evaluate():
    scores = group_scores("cifar10", 0).select(COMPONENTS)
    rows, left = mixed(scores, SAME, 0.10, 0)
    assert len(rows) == len(scores.calibration)
    assert [len(scores.ood[name]) - len(left[name]) for name in scores.ood] == [50] * 4
    npt.assert_array_equal(rows[:1800], scores.calibration[:1800])
    rows, left = mixed(scores, OTHER, 0.10, 0)
    assert set(left) == set(scores.ood) - {"svhn"}
    assert {row.tobytes() for row in rows[1800:]} <= {row.tobytes() for row in scores.ood["svhn"]}
    only_range, _ = mixed(scores, RANGE, 0.10, 0)
    npt.assert_array_equal(only_range.max(axis=0), mixed(scores, SAME, 0.10, 0)[0].max(axis=0))
    assert len(only_range) == 1801
    npt.assert_array_equal(mixed(scores, SAME, 0.0, 0)[0], scores.calibration)


@pytest.mark.usefixtures("paper_data")
def test_flagged_rows_are_errors_and_out_of_distribution_rows_above_the_threshold():
    scores = group_scores("fashion_mnist", 0).select(COMPONENTS)
    ranker = fit_ranker(scores.calibration, Settings.paper())
    rows, is_ood = direction.flagged_rows(scores, ranker, "mnist")
    threshold = np.quantile(ranker.uncertainty(scores.calibration), 0.95)
    assert ranker.uncertainty(rows).min() > threshold
    assert 0 < (~is_ood).sum() <= scores.is_error.sum()
    assert {row.tobytes() for row in rows[is_ood]} <= {row.tobytes() for row in scores.ood["mnist"]}


@pytest.mark.nightly
@pytest.mark.usefixtures("paper_data")
def test_the_three_limitations_come_out_as_three_tables(monkeypatch):
    for room in (ood_calibration, other_costs, direction):
        monkeypatch.setattr(room, "n_groups", lambda _: 1)
    study = STUDIES["limitations"]()
    assert [len(sheet.rows) for sheet in study.sheets] == [len(ood_calibration.LINES), 7, 12]
    assert [claim[:12] for claim in study.claims] == ["Limitation 1", "Limitation 2", "Limitation 3"]
    for pair in study.figures["direction"].values():
        # A labelled combination of the scores is at least about as good as the length alone.
        assert pair["labelled, scores"][0] > pair["labelled, length"][0] - 0.02
