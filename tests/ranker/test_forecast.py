"""A fit that cannot arrive says so early; one that can is never stopped; numbers beyond a float64 are refused first."""

import warnings

import numpy as np
import pytest

from vecuq import Settings, fit_ranker, fit_stream
from vecuq.errors import ConvergenceError, ConvergenceWarning, SettingError
from vecuq.ranker.forecast import Forecast
from vecuq.table import ScoreTable

ROWS = np.random.default_rng(0).gamma(1.0, size=(60, 2))


def sweeps_of(rows, **settings):
    """Return the number of sweeps that a fit took, and the error it ended with, if any."""
    errors = []
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)
            fit_ranker(rows, Settings(**settings), progress=lambda sweep, error: errors.append(error))
    except ConvergenceError as error:
        return len(errors), str(error)
    return len(errors), ""


@pytest.mark.parametrize("epsilon", [1e-5, 1e-8, 1e-12])
def test_a_fit_that_cannot_converge_stops_after_twenty_sweeps(epsilon):
    sweeps, said = sweeps_of(ROWS, epsilon=epsilon, n_targets=100)
    assert sweeps == 20
    assert "will not converge: marginal error" in said
    assert f"Raise `epsilon` (now {epsilon:g})" in said


def test_whoever_wants_whatever_plan_there_is_gets_all_sweeps():
    with pytest.warns(ConvergenceWarning, match="after 60 sweeps"):
        fit_ranker(ROWS, Settings(epsilon=1e-5, n_targets=36, max_iter=60, anchors=0.0, on_failure="warn"))


def test_a_fit_that_needs_a_few_hundred_sweeps_is_not_stopped():
    rows = np.random.default_rng(0).gamma(0.3, size=(60, 3))
    sweeps, said = sweeps_of(rows, epsilon=0.005, anchors=0.0, n_targets=216)
    assert (sweeps > 100, said) == (True, "")


def told(errors, **settings):
    forecast = Forecast(Settings(**settings), None)
    for sweep, error in enumerate(errors, start=1):
        forecast(sweep, error)


def test_only_the_first_phase_is_judged_and_only_by_its_own_pace():
    told(np.linspace(1.5, 0.49, 1000))  # just in time
    told([0.4] * 999)  # nobody can say when it falls
    told([1.5] * 19)  # too early to say
    told([1.5] * 999, on_failure="warn")
    told([1.5] * 20, max_iter=20)  # the last sweep: the solver itself says how it went
    with pytest.raises(ConvergenceError, match="after 20 sweeps"):
        told([1.5] * 999)
    with pytest.raises(ConvergenceError, match=r"at this pace still 0\.9 after 1,000"):
        told(np.linspace(1.5, 0.9, 1000))


@pytest.mark.parametrize(
    ("rows", "settings", "remedy"),
    [
        (ROWS, {"epsilon": 1e-300}, r"epsilon=1e-300. Raise `epsilon`\.$"),
        (ROWS, {"epsilon": 5e-324}, r"Raise `epsilon`\.$"),
        (ROWS * 1e299, {"scaling": "identity"}, "Raise `epsilon`, use scaling='featurewise'."),
        (ROWS * 1e299, {"scaling": "identity", "anchors": 0.0, "epsilon": 1e299}, "use scaling='featurewise'"),
        (ROWS, {"anchors": 1e300}, r"bring `anchors` nearer \(now 1e\+300\)"),
    ],
)
def test_what_a_float64_cannot_tell_apart_is_refused_before_the_solver(rows, settings, remedy):
    with pytest.raises(ConvergenceError, match="too far to be distinguished") as caught:
        fit_ranker(rows, Settings(**settings))
    assert caught.match(remedy)


def test_streaming_leaves_a_tiny_epsilon_to_the_solver_of_rows():
    with pytest.raises(ConvergenceError, match="too far to be distinguished"):
        fit_stream(lambda: iter([ScoreTable.of(ROWS)]), Settings(epsilon=1e-300))


def test_the_largest_epsilon_and_the_largest_overshoot_work_without_a_word():
    ranker = fit_ranker(ROWS, Settings(epsilon=1e308, overshoot=1e6))
    assert np.isfinite(ranker.uncertainty([[1e308, 0.0], [1.0, 1.0]])).all()
    with pytest.raises(SettingError, match=r"overshoot must lie in \[0, 1e\+06\]"):
        Settings(overshoot=1e7)
