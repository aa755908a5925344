"""Which share of the rows to hold back: shifted rows found, and how steady the false-alarm rate of one set is.

Run with ``python -m benchmarks.holdback``; the table of docs/adr/0043 comes from here. Three laws of three columns, new
rows shifted in all columns or in one. ``rule`` holds back the largest number below 80 % of the rows for which alpha
0.01 (from 200 rows on) or 0.05 is a whole number of ranks: 100 j - 1 or 20 j - 1. ``cross`` is holdback="cross".
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable

import numpy as np

from vecuq import Settings, fit_ranker
from vecuq._check import Array
from vecuq.errors import SettingError

Law = Callable[[np.random.Generator, int], Array]

LAWS: dict[str, Law] = {
    "gamma": lambda rng, n: rng.gamma(1.0, size=(n, 3)),
    "correlated": lambda rng, n: (rng.normal(size=(n, 1)) + rng.normal(size=(n, 3))) / np.sqrt(2),
    "heavy": lambda rng, n: np.exp((rng.normal(size=(n, 1)) + rng.normal(size=(n, 3))) / np.sqrt(2)),
}
# So much is added to all columns, or to the first one.
SHIFTS = {"gamma": (1.5, 4.0), "correlated": (1.5, 3.0), "heavy": (3.0, 8.0)}
ROWS = (100, 200, 400, 1_000, 5_000)
SHARES = (0.5, 0.65, 0.8, "rule", "cross")
MOST_FOR_CROSS = 400


def held_by_rule(n: int) -> int:
    """Return how many rows the rule holds back."""
    whole = 100 if n >= 200 else 20
    return int(0.8 * n + 1) // whole * whole - 1


def settings_of(share: float | str, n: int) -> Settings:
    """Return the settings of a column of the table."""
    chosen = (held_by_rule(n) + 0.5) / n if share == "rule" else share
    return Settings(holdback=chosen, n_targets=125, tol=1e-6)


def one_set(rng: np.random.Generator, law: str, n: int, settings: Settings, alpha: float) -> tuple[float, float]:
    """Return the false-alarm rate of one calibration set, and the mean share found over both shifts."""
    ranker = fit_ranker(LAWS[law](rng, n), settings)
    usual, new = LAWS[law](rng, 2_000), LAWS[law](rng, 500)
    everywhere, in_one = SHIFTS[law]
    found = [ranker.flag(new + shift, alpha).mean() for shift in (everywhere, [in_one, 0.0, 0.0])]
    return float(ranker.flag(usual, alpha).mean()), float(np.mean(found))


def cell(n: int, alpha: float, share: float | str, runs: int) -> str:
    """Return power, rate and spread of the rate over the laws; a dash where alpha cannot be had."""
    found = []
    for law in LAWS:
        rng = np.random.default_rng([43, n, sorted(LAWS).index(law)])
        try:
            found += [one_set(rng, law, n, settings_of(share, n), alpha) for _ in range(runs)]
        except SettingError:
            return "-"
    rates, power = np.array(found).T
    return f"{power.mean():.3f} ({rates.mean():.4f}, {np.mean(rates > 1.5 * alpha):.0%})"


def main(runs: int = 300) -> None:
    """Print the table: share found (mean false-alarm rate, share of sets whose rate exceeds 1.5 alpha)."""
    warnings.simplefilter("ignore")
    print("| rows | alpha | " + " | ".join(map(str, SHARES)) + " |")
    print("|---|---|" + "---|" * len(SHARES))
    for n in ROWS:
        for alpha in (0.05, 0.01):
            several = runs if n < 1_000 else max(1, runs // 3)
            cells = [
                "" if share == "cross" and n > MOST_FOR_CROSS else cell(n, alpha, share, several) for share in SHARES
            ]
            print(f"| {n:,} | {alpha} | " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:2]))
