"""Which false-alarm rate to expect of rows that are not independent, and how much it differs between sets of rows."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from vecuq._check import Array
from vecuq.doctor.statistics import rank_correlations

# The rates that findings speak of.
USUAL = (0.05, 0.01)
# How many times alpha: from there on a finding is a note, a warning, serious.
_STEPS = {"serious": 3.0, "warning": 1.5, "note": 1.1}
# Held-back rows that resemble rows of the map fit it too well, the more so the more columns there are. The share of a
# row that each further column costs was measured (benchmarks/doctor_words.py).
_PER_COLUMN = 0.5


@dataclass(frozen=True)
class Dependence:
    """How far rows are from independent draws.

    ``design_effect`` is the number of rows that count as one, at least 1. ``likeness`` says how much rows that belong
    together resemble each other, from 0 to 1 for exact copies.
    """

    design_effect: float = 1.0
    likeness: float = 0.0


@dataclass(frozen=True)
class Expected:
    """The false-alarm rates that held-back rows lead to, for new rows that belong to none of them.

    ``held`` of ``rows`` calibration rows are held back; ``columns`` counts the columns, those that go together less.

    Examples
    --------
    >>> Expected(200, 400, 1.0).rate(0.05)
    0.04975124378109453
    >>> copies = Expected(300, 600, 3.0, Dependence(60.0, 1.0))
    >>> round(copies.effective), round(copies.rate(0.05), 2)
    (10, 0.18)
    """

    held: int
    rows: int
    columns: float
    dependence: Dependence = Dependence()

    @property
    def effective(self) -> float:
        """As many independent held-back rows would say as much."""
        # Of rows that belong together only a part is held back.
        return self.held / (1.0 + self.held / self.rows * (self.dependence.design_effect - 1.0))

    @property
    def smallest_alpha(self) -> float:
        """Below this, the threshold is the largest held-back score at best, so that no smaller rate is kept."""
        return 1.0 / (self.effective + 1.0)

    def rate(self, alpha: float) -> float:
        """Return the share of new in-distribution rows that is flagged, on average over calibration sets."""
        exact = math.floor(alpha * (self.held + 1) * (1 + 1e-12)) / (self.held + 1)
        count, tied = self.effective, 1.0 - 1.0 / self.dependence.design_effect
        if exact == 0.0 or tied <= 0.0:
            return exact
        # Of whole groups above the threshold, half a group more than alpha allows on average, and one at least.
        above = max(1.0, alpha * count + 0.5) + _PER_COLUMN * (self.columns - 1.0) * self.dependence.likeness
        return min(1.0, exact + tied * max(0.0, above / (count + 1.0) - alpha))

    def interval(self, alpha: float) -> tuple[float, float]:
        """Return between which rates nine of ten calibration sets lie: quantiles of the Beta law of the rate."""
        from scipy.stats import beta

        rate, count = self.rate(alpha), self.effective + 1.0
        low, high = beta.ppf([0.05, 0.95], rate * count, (1.0 - rate) * count)
        return float(low), float(high)

    @property
    def severity(self) -> str:
        """How bad the rates are, by how many times they exceed alpha."""
        return severity_of({alpha: self.rate(alpha) for alpha in USUAL})

    @property
    def figures(self) -> dict[str, object]:
        """The rates as plain values."""
        return {
            "design_effect": self.dependence.design_effect,
            "effective_held": self.effective,
            "smallest_alpha": self.smallest_alpha,
            "expected_rates": {f"{alpha:g}": self.rate(alpha) for alpha in USUAL},
            "rate_interval": list(self.interval(USUAL[0])) if self.rate(USUAL[0]) else None,
        }

    def __str__(self) -> str:
        """Say what to expect at the usual rates, as far as the held-back rows allow them."""
        return " and ".join(f"{percent(self.rate(alpha))} at alpha {alpha:g}" for alpha in USUAL if self.rate(alpha))


def severity_of(rates: dict[float, float]) -> str:
    """Return how bad the false-alarm rates at some alphas are, by how many times the worst exceeds its alpha.

    Examples
    --------
    >>> severity_of({0.05: 0.06, 0.01: 0.02}), severity_of({0.05: 0.18}), severity_of({})
    ('warning', 'serious', 'ok')
    """
    times = max((rate / alpha for alpha, rate in rates.items()), default=0.0)
    return next((name for name, step in _STEPS.items() if times >= step), "ok")


def percent(share: float) -> str:
    """Return a share in per cent, with two digits that count below ten per cent.

    Examples
    --------
    >>> percent(0.174), percent(0.0561), percent(0.0), percent(0.00012)
    ('17 %', '5.6 %', '0 %', '0.012 %')
    """
    if share >= 0.0995:
        return f"{share:.0%}".replace("%", " %")
    return f"{100 * share:.2g} %"


def columns_that_count(values: Array) -> float:
    """Return how many independent columns vary as much: columns that go together count less.

    It is the exponential of the entropy of the eigenvalues of the rank correlations.

    Examples
    --------
    >>> round(columns_that_count(np.repeat(np.arange(9.0)[:, None], 3, axis=1)), 6)
    1.0
    """
    varying = values[:, np.ptp(values, axis=0) > 0]
    if varying.shape[1] < 2:
        return 1.0
    share = np.clip(np.linalg.eigvalsh(rank_correlations(varying)), 1e-12, None) / varying.shape[1]
    return float(np.exp(-(share * np.log(share)).sum()))
