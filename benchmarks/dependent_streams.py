"""How often the monitor alarms without drift on rows that depend on each other, with and without `thin` and `groups`.

Run with ``python -m benchmarks.dependent_streams``; the figures of docs/decisions.md and docs/adr/0042-live-gate.md
come from here. 400 runs per line: 1,000 calibration rows of three columns, half of them held back, and a stream of
3,000 rows of the same law; alpha 0.01. Sessions share half of their variance. "Alike" is how often the monitor says
that rows follow each other too closely, of the runs that alarmed. The last lines drift by one standard deviation from
the middle of the stream on.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from vecuq import Monitor, fit_ranker
from vecuq._check import Array

N_RUNS, N_CALIBRATION, N_ROWS = 400, 1_000, 3_000
Groups = Array | None


def series(rng: np.random.Generator, n_rows: int, rho: float) -> tuple[Array, Groups]:
    """Rows whose logarithms are an autoregression of order one."""
    rows = rng.normal(size=(n_rows, 3))
    for t in range(1, n_rows):
        rows[t] = rho * rows[t - 1] + np.sqrt(1 - rho**2) * rows[t]
    return np.exp(rows), None


def sessions(rng: np.random.Generator, n_rows: int, size: int) -> tuple[Array, Groups]:
    """Sessions of rows that share half of the variance of their logarithms."""
    names = np.repeat(np.arange(n_rows // size), size)
    rows = np.sqrt(0.5) * (rng.normal(size=(n_rows // size, 3))[names] + rng.normal(size=(n_rows, 3)))
    return np.exp(rows), names


@dataclass(frozen=True)
class Case:
    """One line of the table."""

    name: str
    rows: Callable[[np.random.Generator], tuple[Array, Groups]]
    thin: int = 1
    grouped: bool = False
    drift: float = 0.0

    def run(self, seed: int) -> tuple[bool, bool]:
        """Return whether the monitor alarmed, and whether it found the rows alike."""
        rows, names = self.rows(np.random.default_rng(seed))
        known, new = rows[:N_CALIBRATION], rows[N_CALIBRATION:].copy()
        new[N_ROWS // 2 :, 1] += self.drift * known[:, 1].std()
        if names is None or not self.grouped:
            watcher = Monitor(fit_ranker(known), thin=self.thin)
            watcher.observe(new)
        else:
            watcher = Monitor(fit_ranker(known[_first(names[:N_CALIBRATION])]))
            watcher.observe(new, groups=names[N_CALIBRATION:])
        return watcher.drifted, watcher.dependent


def _first(names: Array) -> Array:
    return np.unique(names, return_index=True)[1]


def _series(rho: float) -> Callable[[np.random.Generator], tuple[Array, Groups]]:
    return lambda rng: series(rng, N_CALIBRATION + N_ROWS, rho)


def _sessions(size: int) -> Callable[[np.random.Generator], tuple[Array, Groups]]:
    return lambda rng: sessions(rng, N_CALIBRATION + N_ROWS, size)


CASES = (
    Case("independent", _series(0.0)),
    Case("AR(1) 0.3", _series(0.3)),
    Case("AR(1) 0.3, thin 5", _series(0.3), thin=5),
    Case("AR(1) 0.5", _series(0.5)),
    Case("AR(1) 0.5, thin 5", _series(0.5), thin=5),
    Case("AR(1) 0.5, thin 10", _series(0.5), thin=10),
    Case("sessions of 5", _sessions(5)),
    Case("sessions of 5, one row each", _sessions(5), grouped=True),
    Case("independent, drift", _series(0.0), drift=1.0),
    Case("AR(1) 0.5, thin 5, drift", _series(0.5), thin=5, drift=1.0),
    Case("sessions of 5, one row each, drift", _sessions(5), grouped=True, drift=1.0),
)


def main() -> None:
    """Print the table."""
    warnings.simplefilter("ignore")
    print("| stream | alarms | alike, of these |\n|---|---|---|")
    for case in CASES:
        found = np.array([case.run(seed) for seed in range(N_RUNS)])
        alarmed = found[:, 0]
        alike = f"{found[alarmed, 1].mean():.0%}" if alarmed.any() else ""
        print(f"| {case.name} | {alarmed.mean():.1%} | {alike} |", flush=True)


if __name__ == "__main__":
    main()
