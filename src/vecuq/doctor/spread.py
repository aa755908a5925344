"""Outliers: single rows that set the scale of a column, and groups that may be out of distribution."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from vecuq._check import Array
from vecuq.doctor.case import Case
from vecuq.doctor.finding import Finding


def check_scale(case: Case) -> list[Finding]:
    """Look for columns whose range is set by a few rows, so that all others are squeezed together."""
    if case.settings.scaling == "quantile":
        return [Finding("scale", "ok", "Quantile scaling: no row can stretch a column.")]
    if case.is_tiny:
        return []
    found = []
    for k, name in enumerate(case.columns):
        low, *inner, high = np.quantile(case.values[:, k], [0.0, 0.01, 0.25, 0.75, 0.99, 1.0])
        if inner[3] <= inner[0]:
            continue  # constant or nearly so, which has a finding of its own
        most, half = (float(width / (high - low)) for width in (inner[3] - inner[0], inner[2] - inner[1]))
        if 0 < half < 0.005 and most >= 0.1:
            found.append(_squeezed(name, half))
        elif most < 0.25:
            found.append(_stretched(case, k, name, most))
    return found or [Finding("scale", "ok", "No column's range is set by a few rows.")]


def _stretched(case: Case, k: int, name: str, share: float) -> Finding:
    column = case.values[:, k]
    distance = np.abs(column - np.median(column))
    low, high = np.quantile(column, [0.01, 0.99])
    far = np.argsort(distance)[::-1][:3]
    far = far[distance[far] >= min(2.0 * (high - low), distance.max())]
    rows = [int(case.numbers[place]) for place in far]
    severity = "serious" if share < 0.02 else "warning" if share < 0.1 else "note"
    shown = ", ".join(f"row {row:,} ({column[place]:.4g})" for row, place in zip(rows, far, strict=True))
    return Finding(
        "scale",
        severity,
        f"98 % of {name!r} lies in {share:.2%} of its range, which a few rows set: {shown}. Scaled by minimum and "
        f"maximum, the column hardly distinguishes ordinary rows.",
        "Look at these rows and drop what is broken; if they are genuine, take logarithms or use scaling='quantile'.",
        {"column": name, "share": share, "rows": rows},
    )


def _squeezed(name: str, share: float) -> Finding:
    """Report a column that spans so many magnitudes that half of its values fall together when scaled."""
    what = (
        f"Half of {name!r} lies in {share:.2g} of its range. Scaled by minimum and maximum, the column hardly "
        f"distinguishes ordinary rows."
    )
    severity = "serious" if share < 0.0005 else "warning"
    remedy = "Take logarithms, or use scaling='quantile'."
    return Finding("scale", severity, what, remedy, {"column": name, "share": share})


def check_contamination(case: Case) -> list[Finding]:
    """Look for a group of rows far above the rest: out-of-distribution rows in calibration make p-values too large."""
    if case.is_tiny:
        return []
    consensus = _consensus(case.values)
    if consensus is None:
        return [Finding("contamination", "ok", "Too few different values to look for out-of-distribution rows.")]
    cluster, tail = _cluster(consensus), _beyond_fence(consensus)
    share = max(len(cluster), len(tail)) / len(consensus)
    if not len(cluster) and share < 0.002:
        return [Finding("contamination", "ok", "No group of rows stands apart.", "", {"share": share})]
    apart = cluster if len(cluster) else tail
    rows = [int(case.numbers[place]) for place in apart[np.argsort(consensus[apart])[::-1]][:5]]
    share = len(apart) / len(consensus)
    if len(cluster):
        what, severity = "stand apart from all others", "serious" if share >= 0.01 and len(apart) >= 5 else "warning"
    else:
        what, severity = "lie far out in a heavy upper tail", "warning" if share >= 0.02 else "note"
    return [
        Finding(
            "contamination",
            severity,
            f"{len(apart):,} rows ({share:.2%}) {what}, for example {', '.join(f'row {row:,}' for row in rows)}. If "
            f"they are out of distribution, p-values are too large, and rows like them are flagged too seldom.",
            "Look at these rows; drop what is not in-distribution.",
            {"share": share, "count": len(apart), "rows": rows},
        )
    ]


def _consensus(values: Array) -> Array | None:
    """Return each row's mean height above the medians, in units of the upper quartiles; None if there is none."""
    middle, upper = np.quantile(values, [0.5, 0.75], axis=0)
    usable = upper > middle
    if not usable.any():
        return None
    heights = (values[:, usable] - middle[usable]) / (upper - middle)[usable]
    return np.asarray(heights.mean(axis=1))


def _beyond_fence(consensus: Array) -> NDArray[np.intp]:
    """Return the rows beyond the median plus twelve half-spreads: one in 10,000 of exponential scores."""
    middle, upper = np.quantile(consensus, [0.5, 0.75])
    return np.flatnonzero(consensus > middle + 12.0 * (upper - middle))


def _cluster(consensus: Array) -> NDArray[np.intp]:
    """Return the rows above the widest gap in the upper quarter, if it is wide and several rows lie above it."""
    order = np.argsort(consensus)
    ordered = consensus[order]
    middle, high = np.quantile(consensus, [0.5, 0.75])
    fewest = max(3, int(0.002 * len(ordered)))
    start = int(0.75 * len(ordered))
    gaps = np.diff(ordered[start : len(ordered) - fewest + 1])
    first = start + int(gaps.argmax()) + 1 if len(gaps) else len(ordered)
    # In a heavy tail the rows above a gap are as far from each other as from the rest; a group keeps together.
    if not len(gaps) or gaps.max() < max(
        3.0 * (high - middle), 1.5 * np.ptp(np.quantile(ordered[first:], [0.25, 0.75]))
    ):
        return np.empty(0, dtype=np.intp)
    return np.asarray(order[first:])
