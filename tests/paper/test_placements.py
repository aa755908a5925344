"""Other placements of the reference points: as many points as wanted, of the law, and none of them better."""

import numpy as np
import pytest
from scipy import stats

from vecuq import Settings, fit_ranker
from vecuq.paper.placements import ROWS, Scattered, placement_claim, placement_sheet
from vecuq.paper.toy import toy_scores


@pytest.mark.parametrize("sobol", [False, True])
def test_scattered_points_follow_the_reference_law(sobol):
    cloud = Scattered(sobol=sobol).targets(3, 700)
    assert cloud.points.shape == (700, 3)
    assert cloud.weights.sum() == pytest.approx(1.0)
    for column in cloud.points.T:
        assert stats.kstest(column, "uniform").pvalue > 0.01


def test_sobol_points_fill_the_cube_more_evenly_than_random_ones():
    gaps = [stats.qmc.discrepancy(Scattered(sobol=sobol).targets(3, 512).points) for sobol in (True, False)]
    assert gaps[0] < 0.2 * gaps[1]


@pytest.mark.parametrize("sobol", [False, True])
def test_another_placement_hardly_changes_the_order(sobol):
    data = toy_scores()
    paper = fit_ranker(data.calibration, Settings.paper()).uncertainty(data.test)
    other = fit_ranker(data.calibration, Settings.paper(reference=Scattered(sobol=sobol))).uncertainty(data.test)
    assert stats.spearmanr(paper, other).statistic > 0.99
    assert not np.array_equal(paper, other)


@pytest.mark.nightly
@pytest.mark.usefixtures("paper_data")
def test_each_placement_has_its_line_and_the_multiplier_multiplies(monkeypatch):
    from vecuq.paper import placements

    monkeypatch.setattr(placements, "n_groups", lambda *_: 1)
    sheet = placement_sheet()
    points = {row["Placement"]: row["Points"] for row in sheet.rows}
    assert points["random"] == points["Sobol"] == ROWS + 15
    assert points["authors' grid (Latin hypercube), x 2"] == 2 * (ROWS + 15)
    assert points["Cartesian grid, midpoints"] == 6**4
    assert "Sobol" in placement_claim(sheet)
