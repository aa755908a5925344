"""Rows of the calibration table that may be out of distribution: a group that stands apart, above all others."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from vecuq._check import Array
from vecuq.doctor.case import Case
from vecuq.doctor.finding import Finding
from vecuq.doctor.rates import USUAL, percent
from vecuq.ranker import Ranker


def check_contamination(case: Case) -> list[Finding]:
    """Look for a group of rows far above the rest, and say what it does to the rates if it is out of distribution."""
    if case.is_tiny or case.ranker is None or not case.ranker.diagnostics.n_held:
        return []
    apart = case.apart
    if not len(apart):
        return [Finding("contamination", "ok", "No group of rows stands apart above the others.")]
    flags = _flagged(case.ranker, case.values, apart)
    rows = [int(case.numbers[place]) for place in apart[:5]]
    share = len(apart) / len(case.values)
    return [
        Finding(
            "contamination",
            _severity(flags),
            f"{len(apart):,} rows ({percent(share)}) stand apart above all others, for example "
            f"{', '.join(f'row {row:,}' for row in rows)}. If they are out of distribution, rows like them are flagged "
            f"too seldom: {_told(flags)}. If they belong there, nothing is wrong.",
            "Look at these rows; drop what is not in-distribution.",
            {"share": share, "count": len(apart), "rows": rows, "flagged": flags},
        )
    ]


def _flagged(ranker: Ranker, values: Array, apart: NDArray[np.intp]) -> dict[str, dict[str, float]]:
    """Return the share of the group, and of all other rows, that is flagged at each rate that can be had."""
    inside = np.zeros(len(values), dtype=bool)
    inside[apart] = True
    scores = ranker.rank_complete(values)[1]
    found = {}
    for alpha in USUAL:
        if alpha * (ranker.diagnostics.n_held + 1) >= 1:
            above = scores > ranker.threshold(alpha)
            found[f"{alpha:g}"] = {"group": float(above[inside].mean()), "others": float(above[~inside].mean())}
    return found


def _told(flags: dict[str, dict[str, float]]) -> str:
    parts = [
        f"{percent(shares['group'])} of them at alpha {alpha}, beside {percent(shares['others'])} of the other rows"
        for alpha, shares in flags.items()
    ]
    return "; ".join(parts)


def _severity(flags: dict[str, dict[str, float]]) -> str:
    """Rows like the group are missed: at the larger rate that is serious, at the smaller one a warning."""
    missed = [float(alpha) for alpha, shares in flags.items() if shares["group"] < 0.5]
    return "note" if not missed else "serious" if max(missed) == max(USUAL) else "warning"
