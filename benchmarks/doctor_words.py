"""What the doctor says beside what happens: copies, clusters, time series, drift, out-of-distribution rows.

Every case is drawn many times. Each calibration table is examined, fitted with default settings, and scores fresh rows
of the same law: rows of other records, groups and times. Run with ``python -m benchmarks.doctor_words``; docs/doctor.md
shows the results. It takes about ten minutes.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from vecuq import Ranker
from vecuq.doctor import Case, Finding
from vecuq.doctor.contamination import check_contamination
from vecuq.doctor.independence import check_clusters, check_copies, check_order, check_time

ALPHAS = (0.05, 0.01)
DRAWS, FRESH = 200, 4_000
Rows = np.ndarray
Maker = Callable[[np.random.Generator], Rows]


def normal(rng: np.random.Generator, n: int, m: int) -> Rows:
    """Columns of variance 1 that share half of it."""
    return (rng.normal(size=(n, 1)) + rng.normal(size=(n, m))) / np.sqrt(2)


def scores(latent: Rows) -> Rows:
    """Skewed scores; the larger, the more uncertain."""
    return np.exp(latent / 2)


def grouped(rng: np.random.Generator, groups: int, size: int, alike: float, m: int) -> Rows:
    """Return groups of rows that share a part of their variance, one group after the other."""
    common = np.repeat(normal(rng, groups, m), size, axis=0)
    return np.sqrt(alike) * common + np.sqrt(1 - alike) * normal(rng, groups * size, m)


def series(rng: np.random.Generator, n: int, rho: float, m: int) -> Rows:
    """Return a stationary AR(1) series."""
    steps, rows = normal(rng, n, m), np.empty((n, m))
    rows[0] = steps[0]
    for i in range(1, n):
        rows[i] = rho * rows[i - 1] + np.sqrt(1 - rho**2) * steps[i]
    return rows


@dataclass(frozen=True)
class Draw:
    """One calibration table: what was said of it, and the shares of fresh rows that were flagged."""

    finding: Finding
    flagged: tuple[dict[float, float], ...]


def flagged(ranker: Ranker, rows: Rows) -> dict[float, float]:
    """Return the share of rows that is flagged at each rate."""
    found = ranker.rank_complete(rows)[1]
    return {alpha: float((found > ranker.threshold(alpha)).mean()) for alpha in ALPHAS}


def draws(make: Maker, fresh: tuple[Maker, ...], checks: tuple[Callable[[Case], list[Finding]], ...]) -> Iterator[Draw]:
    """Examine and fit one table after another; the worst finding of the checks counts."""
    for seed in range(DRAWS):
        rng = np.random.default_rng([14, seed])
        case = Case.of(make(rng))
        found = [finding for check in checks for finding in check(case)]
        worst = max(found, key=lambda one: ("ok", "note", "warning", "serious").index(one.severity))
        assert isinstance(case.fitted, Ranker)
        yield Draw(worst, tuple(flagged(case.fitted, one(rng)) for one in fresh))


def severities(found: list[Draw]) -> str:
    """Return how often each severity was found, the worst first."""
    shares = {name: np.mean([one.finding.severity == name for one in found]) for name in ("serious", "warning", "note")}
    return ", ".join(f"{share:.0%} {name}" for name, share in shares.items() if share) or "nothing"


def said(found: list[Draw], read: Callable[[dict[str, Any]], Any]) -> str:
    """Return the mean of a figure over the tables in which something was found."""
    figures = [read(one.finding.figures) for one in found if one.finding.severity != "ok"]
    known = len(figures) >= DRAWS / 20 and not np.isnan(figures).any()
    return f"{np.mean(figures):.1%}" if known else "-"


def happened(found: list[Draw], alpha: float, rows: int = 0) -> str:
    """Return the mean share of fresh rows that was flagged."""
    return f"{np.mean([one.flagged[rows][alpha] for one in found]):.1%}"


def show(*cells: str) -> None:
    """Print one row of a table."""
    print(f"| {' | '.join(cells)} |", flush=True)


def head(title: str, *cells: str) -> None:
    """Print a title and the head of a table."""
    print(f"\n## {title}\n")
    show(*cells)
    show(*["---"] * len(cells))


DEPENDENT: dict[str, Callable[[int], Maker]] = {
    "400 independent rows": lambda m: lambda rng: normal(rng, 400, m),
    "10 rows, 60 times each": lambda m: lambda rng: np.tile(normal(rng, 10, m), (60, 1)),
    "40 rows, 10 times each": lambda m: lambda rng: np.tile(normal(rng, 40, m), (10, 1)),
    "100 rows, 4 times each": lambda m: lambda rng: np.tile(normal(rng, 100, m), (4, 1)),
    "200 rows, twice each": lambda m: lambda rng: np.tile(normal(rng, 200, m), (2, 1)),
    "40 groups of 10, variance shared 99.9 %, shuffled": lambda m: (
        lambda rng: rng.permutation(grouped(rng, 40, 10, 0.999, m))
    ),
    "40 groups of 10, 99.9 %, in order": lambda m: lambda rng: grouped(rng, 40, 10, 0.999, m),
    "40 groups of 10, 90 %": lambda m: lambda rng: grouped(rng, 40, 10, 0.9, m),
    "40 groups of 10, 50 %": lambda m: lambda rng: grouped(rng, 40, 10, 0.5, m),
    "40 groups of 10, 50 %, shuffled": lambda m: lambda rng: rng.permutation(grouped(rng, 40, 10, 0.5, m)),
    "AR(1) 0.5, 400 rows": lambda m: lambda rng: series(rng, 400, 0.5, m),
    "AR(1) 0.9, 400 rows": lambda m: lambda rng: series(rng, 400, 0.9, m),
    "AR(1) 0.97, 400 rows": lambda m: lambda rng: series(rng, 400, 0.97, m),
    "AR(1) 0.97, 2,000 rows": lambda m: lambda rng: series(rng, 2_000, 0.97, m),
}


def dependence() -> None:
    """Print what is said and what happens where rows depend on each other."""
    cells = [f"{who} at {alpha:g}" for alpha in ALPHAS for who in ("said", "flagged")]
    head(
        "Rows that depend on each other", "calibration rows", "columns", "found", *cells, "one set in 20, said", "seen"
    )
    for name, make in DEPENDENT.items():
        for m in (1, 3, 6):
            rows = make(m)
            found = list(
                draws(
                    lambda rng, rows=rows: scores(rows(rng)),
                    (lambda rng, m=m: scores(normal(rng, FRESH, m)),),
                    (check_copies, check_clusters, check_order),
                )
            )
            rates = [
                text
                for alpha in ALPHAS
                for text in (said(found, lambda f, a=alpha: f["expected_rates"][f"{a:g}"]), happened(found, alpha))
            ]
            high = f"{np.quantile([one.flagged[0][0.05] for one in found], 0.95):.1%}"
            show(name, str(m), severities(found), *rates, said(found, lambda f: f["rate_interval"][1]), high)


def contamination() -> None:
    """Print what is said and what happens where calibration holds out-of-distribution rows."""
    cells = [
        f"{kind}, {who} at {alpha:g}" for alpha in ALPHAS for kind in ("OOD", "others") for who in ("said", "seen")
    ]
    head("Out-of-distribution rows among 400, three columns", "share", "distance", "found", *cells)
    for share in (0.05, 0.1, 0.2):
        for far in (2.0, 4.0, 8.0):

            def make(rng: np.random.Generator, share: float = share, far: float = far) -> Rows:
                rows = normal(rng, 400, 3)
                rows[rng.choice(400, int(share * 400), replace=False)] += far
                return scores(rows)

            fresh = (
                lambda rng, far=far: scores(normal(rng, FRESH, 3) + far),
                lambda rng: scores(normal(rng, FRESH, 3)),
            )
            found = list(draws(make, fresh, (check_contamination,)))
            rates = [
                text
                for alpha in ALPHAS
                for place, kind in enumerate(("group", "others"))
                for text in (
                    said(found, lambda f, a=alpha, k=kind: f["flagged"][f"{a:g}"][k]),
                    happened(found, alpha, place),
                )
            ]
            show(f"{share:.0%}", f"{far:g} sd", severities(found), *rates)


def drift() -> None:
    """Print what is said and what happens to later rows where scores rise over the table."""
    cells = [f"{who} at {alpha:g}" for alpha in ALPHAS for who in ("said", "later rows flagged")]
    head("Scores that rise over the table, three columns", "rows", "rise", "found", *cells)
    for n in (400, 2_000):
        for rise in (0.0, 0.5, 1.0, 2.0, 4.0):
            found = list(
                draws(
                    lambda rng, n=n, rise=rise: scores(normal(rng, n, 3) + rise * np.linspace(0, 1, n)[:, None]),
                    (lambda rng, rise=rise: scores(normal(rng, FRESH, 3) + rise * _after(FRESH)),),
                    (check_time,),
                )
            )
            rates = [
                text
                for alpha in ALPHAS
                for text in (
                    said(found, lambda f, a=alpha: f["flagged_later"].get(f"{a:g}", np.nan)),
                    happened(found, alpha),
                )
            ]
            show(f"{n:,}", f"{rise:g} sd", severities(found), *rates)


def _after(n: int) -> Rows:
    """Return the times of rows that follow the table for a quarter of its length."""
    return np.linspace(1, 1.25, n)[:, None]


def main() -> None:
    """Print the three tables."""
    warnings.simplefilter("ignore")
    dependence()
    contamination()
    drift()


if __name__ == "__main__":
    main()
