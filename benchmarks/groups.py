"""How often rows of new groups are flagged, by rows and by groups, and how many shifted rows are found.

Run with ``python -m benchmarks.groups``; the table of docs/adr/0044 comes from here. Rows of one group share 80 % or
99 % of the variance of each column, in the logarithm. Calibration groups have 10 rows each; new rows are one of each of
500 groups, as they are, and shifted by 1.5 standard deviations.
"""

from __future__ import annotations

import sys
import warnings
from itertools import product

import numpy as np

from vecuq import Settings, fit_ranker
from vecuq._check import Array

CELLS = ((40, 0.05), (400, 0.05), (400, 0.01))
ALIKE = (0.8, 0.99)
SHIFT = 1.5
CHOICES = Settings(n_targets=125, tol=1e-6)


def clustered(rng: np.random.Generator, n_groups: int, size: int, alike: float, m: int = 3) -> Array:
    """Return rows group by group; columns share half of their variance, rows of a group as much as they are alike."""
    shared = (rng.normal(size=(n_groups, 1)) + rng.normal(size=(n_groups, m))) / np.sqrt(2)
    own = (rng.normal(size=(n_groups * size, 1)) + rng.normal(size=(n_groups * size, m))) / np.sqrt(2)
    return np.asarray(np.sqrt(alike) * np.repeat(shared, size, axis=0) + np.sqrt(1 - alike) * own)


def shares(
    rng: np.random.Generator, n_groups: int, alpha: float, *, alike: float, by_group: bool
) -> tuple[float, float]:
    """Return the share of in-distribution rows and of shifted rows that one calibration set flags."""
    rows, new = np.exp(clustered(rng, n_groups, 10, alike)), clustered(rng, 500, 1, alike)
    groups = np.repeat(np.arange(n_groups), 10) if by_group else None
    ranker = fit_ranker(rows, CHOICES, groups=groups)
    flags = ranker.flag(np.exp(new), alpha), ranker.flag(np.exp(new + SHIFT), alpha)
    return float(flags[0].mean()), float(flags[1].mean())


def main(runs: int = 1_000) -> None:
    """Print the table: rate, its standard error, and power."""
    warnings.simplefilter("ignore")
    print("| alike | groups of 10 | alpha | held back | false alarms | standard error | shifted rows found |")
    print("|---|---|---|---|---|---|---|")
    for alike, (n_groups, alpha), by_group in product(ALIKE, CELLS, (False, True)):
        rng = np.random.default_rng([44, n_groups])
        found = np.array([shares(rng, n_groups, alpha, alike=alike, by_group=by_group) for _ in range(runs)])
        rate, error, power = found[:, 0].mean(), found[:, 0].std() / np.sqrt(runs), found[:, 1].mean()
        what = "groups" if by_group else "rows"
        print(f"| {alike} | {n_groups} | {alpha} | {what} | {rate:.4f} | {error:.4f} | {power:.3f} |", flush=True)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:2]))
