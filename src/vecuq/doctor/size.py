"""How many rows there are, how many are copies, and which false-alarm rates that allows."""

from __future__ import annotations

import math

import numpy as np

from vecuq.doctor.case import Case
from vecuq.doctor.finding import Finding
from vecuq.ranker import held_back_rows

_USUAL = (0.1, 0.05, 0.01)


def check_size(case: Case) -> list[Finding]:
    """Compare the number of held-back rows with the usual false-alarm rates."""
    n, holdback = len(case.values), case.settings.holdback
    if n < 2:
        return [Finding("size", "serious", f"{n} complete rows: nothing can be fitted.", "Give hundreds of rows.")]
    held = len(held_back_rows(n, case.settings))
    if not held:
        what = f"{n:,} rows, none held back: there are no p-values and no guaranteed rate."
        return [Finding("size", "warning", what, "Fit with holdback=0.5.", {"rows": n, "held": 0})]
    least = 1 / (held + 1)
    refused = [alpha for alpha in _USUAL if alpha < least * (1 - 1e-9)]
    figures = {"rows": n, "held": held, "smallest_alpha": least, "refused": refused}
    what = f"{n:,} rows, {held:,} of them held back: alpha can be {least:.2g} or more."
    if not refused:
        return [Finding("size", "ok", f"{what} {_spread(held)}", "", figures)]
    needed = math.ceil((1 / refused[-1] - 1) / holdback)
    severity = {1: "note", 2: "warning", 3: "serious"}[len(refused)]
    what = f"{what} Too few for alpha {', '.join(f'{alpha:g}' for alpha in refused)}."
    return [Finding("size", severity, what, f"Give at least {needed:,} rows for alpha {refused[-1]:g}.", figures)]


def _spread(held: int) -> str:
    """Return how far the rate of one calibration set may be from the rate on average."""
    off = 2 * math.sqrt(0.05 * 0.95 / (held + 2))
    return f"At alpha 0.05, one such set flags {max(0.05 - off, 0):.1%} to {0.05 + off:.1%} of in-distribution rows."


def check_copies(case: Case) -> list[Finding]:
    """Count rows that are copies of others: they are no further evidence of what is in-distribution."""
    n, distinct = len(case.values), len(np.unique(case.values, axis=0))
    figures = {"rows": n, "distinct": distinct}
    if distinct > n / 2:
        return [Finding("copies", "ok", f"{distinct:,} of {n:,} rows are distinct.", "", figures)]
    what = f"Only {distinct:,} of {n:,} rows are distinct. P-values count copies as independent rows."
    remedy = "Drop copies that come from repeated records; fresh rows may be flagged far more often than alpha."
    return [Finding("copies", "serious" if distinct < 100 else "warning", what, remedy, figures)]


def check_missing(case: Case) -> list[Finding]:
    """Count values that are missing or infinite: a fit refuses them."""
    if not case.missing:
        return [Finding("missing", "ok", "No value is missing or infinite.")]
    what = ", ".join(f"{name}: {count:,}" for name, count in case.missing.items())
    lost = case.n_rows - len(case.values)
    return [
        Finding(
            "missing",
            "serious",
            f"{lost:,} of {case.n_rows:,} rows have missing or infinite values ({what}); a fit refuses them, and the "
            f"other checks leave them out.",
            "Drop these rows, or leave the column out.",
            {"rows": lost, **case.missing},
        )
    ]
