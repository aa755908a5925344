"""How a fit is judged: falls of the score are looked for from far below the rows to far above them."""

from dataclasses import replace

import numpy as np
import numpy.testing as npt
import pytest

from vecuq import PartialFit, Settings, fit_ranker, read_table
from vecuq._run import BLOCK
from vecuq.data import demo_files
from vecuq.ranker import falls
from vecuq.ranker.judge import monotone_violations

COLUMNS = ("entropy", "mutual_information", "mahalanobis", "knn")


def nearly_equal(n_columns, seed=0):
    rng = np.random.default_rng(seed)
    return np.repeat(rng.random((400, 1)), n_columns, axis=1) + 1e-3 * rng.random((400, n_columns))


def related(n_columns, seed=0):
    rng = np.random.default_rng(seed)
    return rng.gamma(1.0, size=(400, 1)) + rng.gamma(1.0, size=(400, n_columns))


@pytest.mark.parametrize("n_columns", [2, 3])
def test_a_fall_far_below_the_rows_is_seen(n_columns):
    """From -1e300 to a few widths below the box the score of such columns falls by 1e-4, and nowhere else."""
    rows = nearly_equal(n_columns)
    ranker = fit_ranker(rows)
    lowest, low = np.tile(np.median(rows, axis=0), (2, 50, 1))
    lowest[:, 0], low[:, 0] = -1e300, np.linspace(-20, -1, 50)
    assert (ranker.uncertainty(lowest) > ranker.uncertainty(low) + 1e-6).any()
    assert ranker.diagnostics.monotone_violations > 0


@pytest.mark.parametrize("n_columns", [1, 2, 4])
@pytest.mark.parametrize("settings", [Settings(), Settings(scaling="quantile")])
def test_nothing_is_seen_where_nothing_falls(n_columns, settings):
    assert fit_ranker(related(n_columns), settings).diagnostics.monotone_violations == 0.0


def test_scattered_reference_points_are_seen_to_fall_on_the_example():
    calibration = read_table(demo_files()[0], columns=COLUMNS)
    rough = Settings(grid="authors", n_targets="rows", tol=1e-6, max_iter=5000)
    assert fit_ranker(calibration).diagnostics.monotone_violations == 0.0
    assert fit_ranker(calibration, rough).diagnostics.monotone_violations > 0.05


def test_a_fit_without_rows_is_judged_too():
    rows = related(3)
    assert (
        PartialFit(settings=Settings(holdback=0.0), n_rows=10**6).update(rows).fit().diagnostics.monotone_violations
        == 0.0
    )


def test_columns_of_any_width_are_judged_alike():
    rows = nearly_equal(3)
    found = [
        fit_ranker(rows * scale, Settings(scaling="featurewise")).diagnostics.monotone_violations
        for scale in (1.0, 1e-9, 1e9)
    ]
    npt.assert_allclose(found, found[0], atol=0.01)


def test_the_trials_take_two_blocks_at_most_and_always_the_same():
    ranker, seen = fit_ranker(related(4)), []

    def watched(rows, n_jobs=None):
        seen.append(rows.copy())
        return ranker.rank_map(rows, n_jobs)

    for _ in range(2):
        monotone_violations(replace(ranker, rank_map=watched), None)
    assert len(seen) == 2
    assert len(seen[0]) <= 2 * BLOCK
    npt.assert_array_equal(*seen)
    assert seen[0].min() == -1e300
    assert seen[0].max() == 1e300


def test_falls_are_relative_to_the_size_of_the_score():
    npt.assert_allclose(falls(np.array([[1e300, 0.5e300, 0.5e300]])), [[0.5, 0.0]])
    npt.assert_allclose(falls(np.array([[0.0, 1.0]])), [[-1.0]])
