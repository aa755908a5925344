"""The promise of the cascade, the same decisions: a score that does not grow with every column is refused."""

from dataclasses import replace
from itertools import permutations

import numpy as np
import pytest

from vecuq import Cascade, Settings, fit_ranker, read_table
from vecuq.cascade.bounds import Bounds
from vecuq.cascade.brackets import need_brackets, stages
from vecuq.data import demo_files
from vecuq.errors import CalibrationError

COLUMNS = ("entropy", "mutual_information", "mahalanobis", "knn")
NAMES = ("x0", "x1", "x2")
COSTS = dict.fromkeys(NAMES, 1)


def nearly_equal(seed=0, n=400):
    """Three uniform columns that hardly differ."""
    rng = np.random.default_rng(seed)
    return np.repeat(rng.random((n, 1)), 3, axis=1) + 1e-3 * rng.random((n, 3))


def trusted(ranker):
    """The ranker as if its fit had seen nothing amiss, like one that an older vecuq saved."""
    return replace(ranker, diagnostics=replace(ranker.diagnostics, monotone_violations=0.0))


def test_a_centre_outward_order_is_refused():
    rows = np.random.default_rng(5).gamma(2.0, size=(200, 3)) - 1
    with pytest.raises(CalibrationError, match="centre-outward"):
        Cascade(fit_ranker(rows, Settings(reference="ball")), COSTS, 0.05)


@pytest.mark.parametrize(
    "settings",
    [
        Settings(grid="authors", n_targets="rows", tol=1e-6, max_iter=5000),
        Settings(grid="authors", reference="exponential"),
        Settings(epsilon=0.05, tol=1e-6, max_iter=5000),
    ],
    ids=["authors", "authors exponential", "small epsilon"],
)
def test_an_order_that_falls_far_from_the_rows_is_refused_on_the_example(settings):
    calibration = read_table(demo_files()[0], columns=COLUMNS)
    with pytest.raises(CalibrationError, match=r"of raised values lower the score.*reference='beta', grid='midpoint'"):
        Cascade(fit_ranker(calibration, settings), dict.fromkeys(COLUMNS, 1), 0.05)


@pytest.mark.parametrize("settings", [Settings(reference="exponential"), Settings()], ids=["exponential", "default"])
def test_columns_that_nearly_repeat_each_other_are_refused_where_the_score_falls(settings):
    ranker = fit_ranker(nearly_equal(), settings)
    with pytest.raises(CalibrationError, match="leave out columns that nearly repeat others"):
        Cascade(ranker, COSTS, 0.05)


def test_scattered_reference_points_are_refused_whatever_the_diagnostics_say():
    calibration = read_table(demo_files()[0], columns=COLUMNS)
    ranker = trusted(fit_ranker(calibration, Settings(grid="authors", n_targets="rows", tol=1e-6, max_iter=5000)))
    with pytest.raises(CalibrationError, match="no full grid"):
        Cascade(ranker, dict.fromkeys(COLUMNS, 1), 0.05)


def test_a_bracket_that_fails_is_found_although_the_diagnostics_saw_nothing():
    ranker = trusted(fit_ranker(nearly_equal(), Settings(reference="exponential")))
    with pytest.raises(CalibrationError, match=r"known, raising the others lowers it by up to .*epsilon=1 or more"):
        Cascade(ranker, COSTS, 0.05)


def test_bounds_that_keep_off_where_the_score_falls_leave_the_brackets_whole():
    ranker = fit_ranker(nearly_equal())
    order = [(name,) for name in NAMES]
    with pytest.raises(CalibrationError):
        need_brackets(ranker, order, Bounds.of(None, ranker))
    need_brackets(ranker, order, Bounds.of(dict.fromkeys(NAMES, (0, None)), ranker))


def test_few_steps_are_tried_in_every_set_and_many_in_their_order():
    def known_at(ranker, order):
        return [
            [name for name, known in zip(ranker.columns, flags, strict=True) if known]
            for flags in stages(ranker, order)
        ]

    few = fit_ranker(np.random.default_rng(3).gamma(2.0, size=(60, 3)))
    assert known_at(few, [("x2",), ("x0", "x1")]) == [[], ["x2"], ["x0", "x1"]]
    assert len(known_at(few, [("x0",), ("x1",), ("x2",)])) == 7
    many = fit_ranker(np.random.default_rng(3).gamma(2.0, size=(400, 5)))
    order = [(f"x{k}",) for k in (4, 3, 2, 1, 0)]
    assert known_at(many, order) == [[], ["x4"], ["x3", "x4"], ["x2", "x3", "x4"], ["x1", "x2", "x3", "x4"]]


def test_an_ordinary_ranker_is_proven_and_an_uneven_grid_is_tried(monkeypatch):
    from vecuq.cascade import cascade

    tried = []
    monkeypatch.setattr(cascade, "need_brackets", lambda *parts: tried.append(parts))
    rows = np.random.default_rng(2).gamma(1.0, size=(200, 3))
    assert Cascade(fit_ranker(rows), COSTS, 0.05).proven
    assert not tried
    assert not Cascade(fit_ranker(rows, Settings(reference="exponential")), COSTS, 0.05).proven
    assert len(tried) == 1


@pytest.mark.parametrize("settings", [Settings(), Settings(reference="exponential")])
def test_what_is_accepted_decides_as_all_columns_do_in_any_order_however_far(settings):
    """Rows near and far, with columns anywhere from -1e300 to 1e300, in all six orders."""
    rng = np.random.default_rng(1)
    rows = rng.gamma(1.0, size=(400, 1)) + rng.gamma(1.0, size=(400, 3))
    ranker = fit_ranker(rows, settings)
    near = rows[rng.integers(400, size=1500)] * rng.uniform(0.5, 1.5, size=(1500, 3))
    far = rng.choice([-1e300, -1e3, -30.0, -5.0, -1.0, 20.0, 1e300], size=near.shape)
    new = np.where(rng.random(near.shape) < 0.2, far, near)
    for order in permutations(NAMES):
        assert Cascade(ranker, COSTS, 0.1, order=order).decide_table(new).n_different == 0
