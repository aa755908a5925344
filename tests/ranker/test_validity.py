"""What is promised of decisions, by simulation: rates that hold for few rows, ties, and rows with holes.

The quick versions run always; the long ones, 2,000 repetitions each, with ``pytest -m slow``.
"""

import warnings

import numpy as np
import pytest

from vecuq import Settings, fit_ranker
from vecuq.errors import CalibrationWarning

ALPHAS = (0.01, 0.05, 0.1)
TIES = ("conservative", "randomised")
LAWS = {
    "continuous": lambda rng, n: rng.gamma(1.0, size=(n, 2)),
    "ties": lambda rng, n: rng.gamma(1.0, size=(n, 2)).round(1),
    "discrete": lambda rng, n: rng.integers(0, 3, size=(n, 2)).astype(float),
    "a constant column": lambda rng, n: np.column_stack([rng.gamma(1.0, size=n), np.ones(n)]),
    "heavy": lambda rng, n: np.abs(rng.standard_cauchy((n, 2))),
    # Of two columns one is left when the other is missing, and any increasing score of it has the same p-values.
    "three columns": lambda rng, n: rng.gamma(1.0, size=(n, 1)) + rng.gamma(1.0, size=(n, 3)),
}


def fitted(rows, **choices):
    """Fit a small grid; a handful of rows rightly warns of the anchors."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return fit_ranker(rows, Settings(n_targets=16, tol=1e-6, **choices))


def at_most(values, bound):
    """Whether a mean stays within three standard errors above a bound."""
    return np.mean(values) <= bound + 3 * np.std(values) / np.sqrt(len(values))


def rates_of(p_values):
    return [np.mean(p_values <= alpha * (1 + 1e-12)) for alpha in ALPHAS]


def false_alarms(law, n, repetitions, *, seed=0, absent=None, **choices):
    """Return the share of p-values up to each alpha, (repetitions, ties conservative or randomised, alphas)."""
    rng = np.random.default_rng(seed)
    rates = np.empty((repetitions, 2, len(ALPHAS)))
    for i in range(repetitions):
        ranker = fitted(LAWS[law](rng, n), random_state=i, **choices)
        new = LAWS[law](rng, 200)
        if absent is not None:
            new[:, absent] = np.nan
        missing = "nan" if absent is None else "marginal"
        for j, ties in enumerate(TIES):
            rates[i, j] = rates_of(ranker.p_values(new, ties=ties, random_state=i, missing=missing))
    return rates


def never_above_alpha(rates):
    """Whether the mean rate of every kind stays within three standard errors of its alpha."""
    return all(at_most(rates[:, j, k], alpha) for j in range(2) for k, alpha in enumerate(ALPHAS))


def discoveries(law, n, repetitions, *, n_new=200, seed=0):
    """Return the share of false discoveries and of foreign rows found, (repetitions, bh or by, 2)."""
    rng = np.random.default_rng(seed)
    out = np.empty((repetitions, 2, 2))
    foreign = np.arange(n_new) < n_new // 10
    for i in range(repetitions):
        ranker = fitted(LAWS[law](rng, n), random_state=i)
        new = LAWS[law](rng, n_new) + 8.0 * foreign[:, None]
        for j, method in enumerate(("bh", "by")):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", CalibrationWarning)  # "by" may need more rows at once than there are
                found = ranker.select(new, 0.1, method=method)
            out[i, j] = (found & ~foreign).sum() / max(found.sum(), 1), found[foreign].mean()
    return out


@pytest.mark.parametrize("law", LAWS)
def test_false_alarms_stay_below_alpha(law):
    assert never_above_alpha(false_alarms(law, 100, 40))


def test_randomised_ties_spend_the_rate_that_counted_ones_leave():
    counted, randomised = false_alarms("discrete", 200, 60)[:, :, 2].T
    assert at_most(randomised, 0.1)
    assert randomised.mean() > 0.08
    assert counted.mean() < 0.06


def test_false_alarms_stay_below_alpha_where_a_column_is_missing():
    rates = false_alarms("three columns", 100, 30, absent=1)
    assert never_above_alpha(rates)
    assert rates[:, 0, 2].mean() > 0.05


def test_a_tenth_of_the_discoveries_is_false_at_most():
    bh, by = np.moveaxis(discoveries("continuous", 1200, 40), 1, 0)
    assert at_most(bh[:, 0], 0.1)
    assert bh[:, 1].mean() > 0.9
    assert by[:, 0].mean() <= bh[:, 0].mean()


@pytest.mark.slow
@pytest.mark.parametrize("n", [100, 200, 1000])
@pytest.mark.parametrize("law", LAWS)
def test_false_alarms_over_2000_repetitions(law, n, record_property):
    rates = false_alarms(law, n, 2000)
    record_property("conservative, then randomised", rates.mean(axis=0).round(5).tolist())
    assert never_above_alpha(rates)


@pytest.mark.slow
@pytest.mark.parametrize("n", [100, 1000])
def test_false_alarms_with_a_missing_column_over_2000_repetitions(n, record_property):
    rates = false_alarms("three columns", n, 2000, absent=1)
    record_property("conservative, then randomised", rates.mean(axis=0).round(5).tolist())
    assert never_above_alpha(rates)


@pytest.mark.slow
@pytest.mark.parametrize("law", ["continuous", "ties", "discrete"])
@pytest.mark.parametrize("n", [600, 1200])
def test_false_discoveries_over_2000_repetitions(law, n, record_property):
    out = discoveries(law, n, 2000)
    record_property("bh, then by: false and found", out.mean(axis=0).round(5).tolist())
    assert at_most(out[:, 0, 0], 0.1)
    assert at_most(out[:, 1, 0], 0.1)
