"""Columns without a say: scaled as the map scales them, they hardly vary beside the others."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from vecuq._check import Array
from vecuq.doctor.case import Case
from vecuq.doctor.finding import Finding

# Of what the column with the largest say varies by.
_NO_SAY, _LITTLE_SAY = 0.1, 0.2
# A column whose middle takes less than this share of its range is squeezed by its own outer rows.
_NARROW = 0.1
_OUTER = 3  # rows that may set a range by themselves
_SHRINKS = 5.0  # how many times smaller the range must be without them


def check_scale(case: Case) -> list[Finding]:
    """Compare how much the middle 80 % of each column vary, once they are scaled: that is the say of a column."""
    if case.settings.scaling == "quantile":
        return [Finding("scale", "ok", "Quantile scaling: every column has the same say.")]
    if case.is_tiny:
        return []
    low, high = np.quantile(case.values, [0.1, 0.9], axis=0)
    # Columns that are constant there have a finding of their own.
    varying = np.flatnonzero(low < high)
    if len(varying) < 2:
        return [Finding("scale", "ok", "One column alone sets the order.")]
    own = case.settings.scaling == "featurewise"
    with np.errstate(over="ignore"):  # a range beyond all numbers leaves no say
        middle = (high - low)[varying] / (np.ptp(case.values[:, varying], axis=0) if own else 1.0)
    says = middle / middle.max()
    figures = {case.columns[k]: float(say) for k, say in zip(varying, says, strict=True)}
    quiet = (says < _LITTLE_SAY) & ((middle < _NARROW) | (not own))
    found = [
        _squeezed(case, int(k), float(width), figures) if own else _small(case, int(k), figures)
        for k, width in zip(varying[quiet], middle[quiet], strict=True)
    ]
    return found or [Finding("scale", "ok", "Every column has a say.", "", {"say": figures})]


def _squeezed(case: Case, k: int, width: float, figures: dict[str, float]) -> Finding:
    """Report a column whose range is far wider than its middle."""
    name, column = case.columns[k], case.values[:, k]
    places = _setting_the_range(column)
    shown = ", ".join(f"row {case.numbers[place]:,} ({column[place]:.4g})" for place in places)
    what = (
        f"{_lead(name, figures)}, because the middle 80 % of its values lie in {width:.2g} of its range"
        f"{f', which a few rows set: {shown}' if shown else ''}. The false-alarm rate is not affected."
    )
    remedy = "Take logarithms, or use scaling='quantile'."
    if shown:
        remedy = f"Look at these rows and drop what is broken. If they are genuine: {remedy}"
    rows = [int(case.numbers[place]) for place in places]
    return Finding("scale", _severity(figures[name]), what, remedy, {"column": name, "rows": rows, "say": figures})


def _small(case: Case, k: int, figures: dict[str, float]) -> Finding:
    """Report a column that is small beside the others where columns keep their sizes."""
    name = case.columns[k]
    what = f"{_lead(name, figures)}, because scaling={case.settings.scaling!r} keeps the sizes of the columns."
    remedy = "Use scaling='featurewise' or 'quantile'."
    return Finding("scale", _severity(figures[name]), what, remedy, {"column": name, "rows": [], "say": figures})


def _lead(name: str, figures: dict[str, float]) -> str:
    how_much = "no" if figures[name] < _NO_SAY else "little"
    return (
        f"{name!r} has {how_much} say ({figures[name]:.2g} of that of {max(figures, key=lambda key: figures[key])!r})"
    )


def _severity(say: float) -> str:
    return "warning" if say < _NO_SAY else "note"


def _setting_the_range(column: Array) -> NDArray[np.intp]:
    """Return the few rows without which the range would be much smaller; none in a tail that is heavy throughout."""
    far = np.argsort(np.abs(column - np.median(column)))[::-1]
    for count in range(1, _OUTER + 1):
        if np.ptp(column[far[count:]]) * _SHRINKS < np.ptp(column[far[count - 1 :]]):
            return np.asarray(far[:count])
    return np.asarray(far[:0])
