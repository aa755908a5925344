"""How many rows there are, and what that many can promise."""

from __future__ import annotations

import math

from vecuq.doctor.case import Case
from vecuq.doctor.finding import Finding
from vecuq.ranker import held_back_rows

_USUAL = (0.1, 0.05, 0.01)


def check_size(case: Case) -> list[Finding]:
    """Compare the number of held-back rows with the false-alarm rates that people ask for."""
    n, holdback = len(case.values), case.settings.holdback
    if n < 2:
        return [Finding("size", "serious", f"{n} complete rows: nothing can be fitted.", "Give hundreds of rows.")]
    held = len(held_back_rows(n, case.settings))
    if not held:
        told = f"{n:,} rows, none held back: there are no p-values and no guaranteed rate."
        return [Finding("size", "warning", told, "Fit with holdback=0.5.", {"rows": n, "held": 0})]
    least = 1 / (held + 1)
    refused = [alpha for alpha in _USUAL if alpha < least * (1 - 1e-9)]
    figures = {"rows": n, "held": held, "smallest_alpha": least, "refused": refused}
    what = f"{n:,} rows, {held:,} of them held back: alpha can be {least:.2g} or more."
    if not refused:
        return [Finding("size", "ok", f"{what} {_spread(held)}", "", figures)]
    needed = math.ceil((1 / refused[-1] - 1) / holdback)
    severity = {1: "note", 2: "warning", 3: "serious"}[len(refused)]
    told = f"{what} Too few for alpha {', '.join(f'{alpha:g}' for alpha in refused)}."
    return [Finding("size", severity, told, f"Give at least {needed:,} rows for alpha {refused[-1]:g}.", figures)]


def _spread(held: int) -> str:
    """Say how far the rate of one calibration set strays from the rate on average."""
    off = 2 * math.sqrt(0.05 * 0.95 / (held + 2))
    return f"At alpha 0.05, this very set flags {max(0.05 - off, 0):.1%} to {0.05 + off:.1%} of in-distribution rows."


def check_missing(case: Case) -> list[Finding]:
    """Count values that are missing or infinite: a fit refuses them."""
    if not case.missing:
        return [Finding("missing", "ok", "No value is missing or infinite.")]
    told = ", ".join(f"{name}: {count:,}" for name, count in case.missing.items())
    lost = case.n_rows - len(case.values)
    return [
        Finding(
            "missing",
            "serious",
            f"{lost:,} of {case.n_rows:,} rows have missing or infinite values ({told}); `vecuq fit` refuses them, and "
            f"the checks below leave them out.",
            "Drop these rows, or leave the column out.",
            {"rows": lost, **case.missing},
        )
    ]
