"""How often the doctor warns although nothing is wrong: independent rows of many laws, new rows of the same law.

Run with ``python -m benchmarks.doctor_false_findings``. Findings on the number of rows are left out (few rows are few),
and so are those of the fitted map. A column of a heavy-tailed law may truly have no say beside another one.
"""

from __future__ import annotations

import warnings
from collections import Counter

import numpy as np

from benchmarks.doctor_words import Rows, normal, show
from vecuq.doctor import CHECKS, Case

LEFT_OUT = ("size", "fit", "anchors", "resemblance", "epsilon", "grid", "monotone", "missing", "new_missing")
SHOWN = ("copies", "clusters", "order", "time", "contamination", "scale", "direction", "kind", "overlap", "noise")
SHOWN += ("files", "drift", "flagged")
TABLES = {60: 60, 400: 60, 2_000: 20}  # how many of so many rows

LAWS = {
    "normal": normal,
    "normal, independent columns": lambda rng, n, m: rng.normal(size=(n, m)),
    "gamma": lambda rng, n, m: rng.gamma(2.0, size=(n, 1)) + rng.gamma(2.0, size=(n, m)),
    "uniform": lambda rng, n, m: rng.random((n, m)),
    "beta(1/2, 1/2)": lambda rng, n, m: rng.beta(0.5, 0.5, size=(n, m)),
    "three modes": lambda rng, n, m: normal(rng, n, m) + 4 * rng.integers(0, 3, size=(n, 1)),
    "lognormal": lambda rng, n, m: np.exp(normal(rng, n, m)),
    "lognormal, sigma 2": lambda rng, n, m: np.exp(2 * normal(rng, n, m)),
    "Student 3": lambda rng, n, m: rng.standard_t(3, size=(n, m)),
    "Cauchy": lambda rng, n, m: rng.standard_t(1, size=(n, m)),
    "Pareto 1.5": lambda rng, n, m: rng.pareto(1.5, size=(n, m)),
    "24 magnitudes": lambda rng, n, m: 10.0 ** rng.uniform(-12, 12, size=(n, m)),
    "rounded to 0.1": lambda rng, n, m: normal(rng, n, m).round(1),
    "sixths": lambda rng, n, m: rng.integers(0, 7, size=(n, m)) / 6,
    "40 % zeros": lambda rng, n, m: np.where(rng.random((n, 1)) < 0.4, 0.0, rng.gamma(2.0, size=(n, m))),
    "ten sampled answers": lambda rng, n, m: answers(rng, n)[:, :m],
}


def answers(rng: np.random.Generator, n: int) -> Rows:
    """Scores of ten sampled answers in up to six meanings: entropy, share of the rest, variance, meanings, noise."""
    shares = np.array([rng.multinomial(10, rng.dirichlet(np.full(6, 0.3))) for _ in range(n)]) / 10
    entropy = -(shares * np.log(np.maximum(shares, 1e-9))).sum(axis=1)
    others = (1 - shares.max(axis=1), 1 - (shares**2).sum(axis=1), (shares > 0).sum(axis=1), rng.gamma(2.0, size=n))
    return np.column_stack([entropy, *others])


def main() -> None:
    """Print the share of tables with a warning or worse, by check."""
    warnings.simplefilter("ignore")
    checks = [check for check in CHECKS if check.__name__.removeprefix("check_") not in LEFT_OUT]
    show("law", "tables", *SHOWN)
    show(*["---"] * (len(SHOWN) + 2))
    for name, law in LAWS.items():
        found: Counter[str] = Counter()
        tables = 0
        for m in (1, 3, 5):
            for n, count in TABLES.items():
                for seed in range(count):
                    rng = np.random.default_rng([15, m, n, seed])
                    case = Case.of(law(rng, n, m), law(rng, n // 2, m))
                    told = [finding for check in checks for finding in check(case)]
                    found.update({one.check for one in told if one.severity in ("warning", "serious")})
                    tables += 1
        show(name, f"{tables:,}", *(f"{found[check] / tables:.1%}" if found[check] else "0" for check in SHOWN))


if __name__ == "__main__":
    main()
