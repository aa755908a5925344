"""Rows of the calibration table that may be out of distribution: a group that stands apart, above all others."""

from __future__ import annotations

import numpy as np

from vecuq.doctor.case import Case
from vecuq.doctor.finding import Finding
from vecuq.doctor.rates import USUAL, percent
from vecuq.ranker import Ranker, held_back_rows


def check_contamination(case: Case) -> list[Finding]:
    """Look for a group of rows far above the rest, and say what it does to the rates if it is out of distribution."""
    if case.is_tiny or case.ranker is None or not case.ranker.diagnostics.n_held:
        return []
    apart = case.apart
    if not len(apart):
        what = "No group of rows stands apart above the others; out-of-distribution rows among these cannot be seen."
        return [Finding("contamination", "ok", what)]
    flags = _flagged(case.ranker, case)
    rows = [int(case.numbers[place]) for place in apart[:5]]
    share = len(apart) / len(case.values)
    return [
        Finding(
            "contamination",
            _severity(flags),
            f"{len(apart):,} rows ({percent(share)}) stand apart above all others, for example "
            f"{', '.join(f'row {row:,}' for row in rows)}. If they are out of distribution, rows like them are flagged "
            f"too seldom: {_rates_in_words(flags)}. If they belong there, nothing is wrong.",
            "Look at these rows; drop what is not in-distribution.",
            {"share": share, "count": len(apart), "rows": rows, "flagged": flags},
        )
    ]


def _flagged(ranker: Ranker, case: Case) -> dict[str, dict[str, float]]:
    """Return the share of new rows to be flagged, like the group and like the others, at each rate that can be had."""
    inside = np.isin(case.sampled, case.apart)[held_back_rows(len(case.sample), case.settings)]
    scores = ranker.rank_complete(case.sample[held_back_rows(len(case.sample), case.settings)])[1]
    found = {}
    for alpha in USUAL:
        if alpha * (len(scores) + 1) >= 1:
            above = scores > ranker.threshold(alpha)
            full = bool(above[inside].all())
            group = 1.0 if full else (above[inside].sum() + 1) / (inside.sum() + 1)
            others = (above[~inside].sum() + full) / ((~inside).sum() + 1)
            found[f"{alpha:g}"] = {"group": float(group), "others": float(others)}
    return found


def _rates_in_words(flags: dict[str, dict[str, float]]) -> str:
    parts = [
        f"{percent(shares['group'])} of them at alpha {alpha}, beside {percent(shares['others'])} of the other rows"
        for alpha, shares in flags.items()
    ]
    return "; ".join(parts)


def _severity(flags: dict[str, dict[str, float]]) -> str:
    """Rows like the group are missed: at the larger rate that is serious, at the smaller one a warning."""
    missed = [float(alpha) for alpha, shares in flags.items() if shares["group"] < 0.5]
    return "note" if not missed else "serious" if max(missed) == max(USUAL) else "warning"
