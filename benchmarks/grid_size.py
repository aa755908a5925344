"""How many reference points change nothing that matters: order and AUC against a very fine grid.

Run with ``python -m benchmarks.grid_size``; the table of docs/adr/0004 comes from here.
"""

from __future__ import annotations

import warnings

import numpy as np
from scipy.stats import spearmanr
from sklearn.metrics import roc_auc_score

from vecuq import Settings, fit_ranker

FINE = {1: 2048, 2: 64, 3: 24, 4: 14, 5: 9, 6: 7, 7: 6, 8: 5}
TRIED = {
    1: (16, 64, 256, 512),
    2: (4, 8, 16, 32),
    3: (4, 6, 8, 12, 16),
    4: (3, 4, 6, 8, 10),
    5: (3, 4, 5, 6, 7),
    6: (2, 3, 4, 5),
    7: (2, 3, 4),
    8: (2, 3),
}


def scores(m: int, kind: str, rng: np.random.Generator, n: int, *, shift: float) -> np.ndarray:
    """In-distribution score vectors (shift 0), or ones whose first columns are raised."""
    own, shared = rng.gamma(1.0, size=(n, m)), rng.gamma(1.0, size=(n, 1))
    rows = {"independent": own, "correlated": shared + 0.5 * own, "collinear": shared + 0.01 * own}[kind]
    if kind == "heavy":
        rows = own**3
    rows[:, : (m + 1) // 2] *= 1.0 + shift
    return rows


def measure(m: int, g: int) -> tuple[float, float]:
    """Return the worst 1 - Spearman and the worst AUC difference from the fine grid."""
    worst_order = worst_auc = 0.0
    for kind in ("independent", "correlated", "collinear"):
        rng = np.random.default_rng(7)
        calibration = scores(m, kind, rng, 1000, shift=0.0)
        rows = np.concatenate([scores(m, kind, rng, 2000, shift=0.0), scores(m, kind, rng, 2000, shift=0.7)])
        label = np.repeat([0, 1], 2000)
        coarse, fine = (
            fit_ranker(calibration, Settings(n_targets=points**m)).uncertainty(rows) for points in (g, FINE[m])
        )
        worst_order = max(worst_order, 1.0 - float(spearmanr(coarse, fine).statistic))
        worst_auc = max(worst_auc, abs(roc_auc_score(label, coarse) - roc_auc_score(label, fine)))
    return worst_order, worst_auc


def main() -> None:
    """Print the table."""
    warnings.simplefilter("ignore")
    print("| columns | points per axis | points | 1 - Spearman | AUC difference |")
    print("|---|---|---|---|---|")
    for m, tried in TRIED.items():
        for g in tried:
            order, auc = measure(m, g)
            print(f"| {m} | {g} | {g**m:,} | {order:.1e} | {auc:.1e} |", flush=True)


if __name__ == "__main__":
    main()
