"""Columns without a say: scaled to their range, they hardly move the order of ordinary rows."""

from __future__ import annotations

import numpy as np

from vecuq._check import Array
from vecuq.doctor.case import MOST_REFITTED, Case, drawn
from vecuq.doctor.finding import Finding
from vecuq.ranker import Ranker

# Of what the column with the largest say does.
_NO_SAY, _LITTLE_SAY = 0.1, 0.2
# The share of its range in which the middle of a column lies, if the range is why it has no say.
_NARROW = 0.1
_OUTER = 3  # rows that may set a range by themselves
_SHRINKS = 5.0  # how many times smaller the range must be without them


def check_scale(case: Case) -> list[Finding]:
    """Measure what each column does to the score as it goes through its usual values, beside the other columns."""
    if case.ranker is None or case.is_tiny:
        return []
    says = _says(case.ranker, drawn(case.sample, MOST_REFITTED), case.values)
    if len(says) < 2:
        return [Finding("scale", "ok", "One column alone sets the order.")]
    figures = {case.columns[k]: say for k, say in says.items()}
    narrow = {k: _narrowness(case.values[:, k]) for k in says}
    found = [
        _quiet(case, k, narrow[k], figures) for k, say in says.items() if say < _LITTLE_SAY and narrow[k] < _NARROW
    ]
    return found or [Finding("scale", "ok", "Every column has a say.", "", {"say": figures})]


def _says(ranker: Ranker, rows: Array, values: Array) -> dict[int, float]:
    """Return the mean change of the score over the middle 80 % of each column, the largest being 1.

    Columns that are constant there have a finding of their own.
    """
    low, middle, high = np.quantile(values, [0.1, 0.5, 0.9], axis=0)
    moved = {}
    for k in map(int, np.flatnonzero(low < high)):
        scores = [ranker.rank_complete(_with(rows, k, level[k]))[1] for level in (low, middle, high)]
        moved[k] = max(float(np.abs(scores[1] - side).mean()) for side in (scores[0], scores[2]))
    largest = max(moved.values(), default=0.0)
    return {k: change / largest for k, change in moved.items()} if largest > 0 else {}


def _with(rows: Array, k: int, value: float) -> Array:
    changed = rows.copy()
    changed[:, k] = value
    return changed


def _narrowness(column: Array) -> float:
    """Return the share of the range that the middle 80 % of a column take."""
    low, high = np.quantile(column, [0.1, 0.9])
    return float((high - low) / np.ptp(column))


def _quiet(case: Case, k: int, share: float, figures: dict[str, float]) -> Finding:
    name, column = case.columns[k], case.values[:, k]
    say = figures[name]
    rows = _setting_the_range(column)
    shown = ", ".join(f"row {case.numbers[place]:,} ({column[place]:.4g})" for place in rows)
    what = (
        f"{name!r} has {'no' if say < _NO_SAY else 'little'} say: over its middle 80 % it changes the score by "
        f"{say:.1%} of what the strongest column does, because these lie in {share:.2g} of its range"
        f"{f', which a few rows set: {shown}' if shown else ''}. The false-alarm rate is not affected."
    )
    remedy = "Take logarithms, or use scaling='quantile'."
    if shown:
        remedy = f"Look at these rows and drop what is broken. If they are genuine: {remedy[0].lower()}{remedy[1:]}"
    numbers = [int(case.numbers[place]) for place in rows]
    told = {"column": name, "say": figures, "share": share, "rows": numbers}
    return Finding("scale", "warning" if say < _NO_SAY else "note", what, remedy, told)


def _setting_the_range(column: Array) -> list[int]:
    """Return the few rows without which the range would be much smaller; none in a tail that is heavy throughout."""
    far = np.argsort(np.abs(column - np.median(column)))[::-1]
    for count in range(1, _OUTER + 1):
        if np.ptp(column[far[count:]]) * _SHRINKS < np.ptp(column[far[count - 1 :]]):
            return [int(place) for place in far[:count]]
    return []
