"""How many rows there are, and which false-alarm rates that allows."""

from __future__ import annotations

import math

from vecuq.doctor.case import Case
from vecuq.doctor.finding import Finding
from vecuq.doctor.rates import Expected, percent

_USUAL = (0.1, 0.05, 0.01)
_SHOWN = 0.05


def check_size(case: Case) -> list[Finding]:
    """Compare the number of held-back rows with the usual false-alarm rates."""
    n, rows = len(case.values), case.independent
    if n < 2:
        return [Finding("size", "serious", f"{n} complete rows: nothing can be fitted.", "Give hundreds of rows.")]
    if len(rows.values) < 2:
        what = f"{n:,} rows in one group: there is no other to hold back, so nothing can be promised."
        return [Finding("size", "serious", what, "Give rows of many groups.", {"rows": n, "groups": 1})]
    expected = rows.expected()
    if not expected.held:
        what = f"{n:,} rows, none held back: there are no p-values and no guaranteed rate."
        return [Finding("size", "warning", what, "Fit with holdback=0.5.", {"rows": n, "held": 0})]
    least = expected.smallest_alpha
    refused = [alpha for alpha in _USUAL if alpha < least * (1 - 1e-9)]
    figures = {"rows": n, "held": expected.held, "smallest_alpha": least, "refused": refused}
    if case.n_groups is not None:
        figures["groups"] = case.n_groups
    held = f"{expected.held:,} of them held back{_fewer(expected)}"
    what = f"{n:,} rows{_in_groups(case)}, {held}: alpha can be {least:.2g} or more."
    if least <= _SHOWN:
        low, high = expected.interval(_SHOWN)
        figures["rate_interval"] = [low, high]
        what = f"{what} {_spread(low, high)}"
    if not refused:
        return [Finding("size", "ok", what, "", figures)]
    needed = math.ceil((1 / refused[-1] - 1) / case.settings.share)
    what_of = "groups of rows" if case.n_groups else f"{'independent ' if _fewer(expected) else ''}rows"
    remedy = f"Give at least {needed:,} {what_of} for alpha {refused[-1]:g}."
    severity = {1: "note", 2: "warning", 3: "serious"}[len(refused)]
    what = f"{what} Too few for alpha {', '.join(f'{alpha:g}' for alpha in refused)}."
    return [Finding("size", severity, what, remedy, figures)]


def _in_groups(case: Case) -> str:
    return "" if case.n_groups is None else f" in {case.n_groups:,} groups"


def _fewer(expected: Expected) -> str:
    """Say as how many the rows count, if some are no further evidence."""
    if expected.effective > 0.9 * expected.held:
        return ""
    return f", which count as about {expected.effective:,.0f}, because rows repeat or resemble each other"


def _spread(low: float, high: float) -> str:
    """Say how far the rate of one calibration set may be from the rate on average."""
    return f"At alpha {_SHOWN:g}, nine in ten such sets flag {percent(low)} to {percent(high)} of in-distribution rows."


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
