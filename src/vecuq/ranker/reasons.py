"""Why a row got its score, in one short sentence."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from vecuq._check import Array


def leading_columns(contributions: Array) -> list[int]:
    """Return the column that contributes most to each row; the first where no row has a score."""
    return [int(k) for k in np.argmax(np.where(np.isnan(contributions), -np.inf, contributions), axis=1)]


def leading_names(names: Sequence[str], contributions: Array) -> list[str | None]:
    """Return the column that the sentence of each row names first; None where nothing stands out, or has a score."""
    rows = zip(contributions, leading_columns(contributions), strict=True)
    return [names[lead] if _stands_out(row, lead) else None for row, lead in rows]


def _stands_out(contributions: Array, lead: int) -> bool:
    return bool(contributions.sum() > 0 and contributions[lead] > 0)


def sentences(names: Sequence[str], contributions: Array, above: Array, at_median: Array | None) -> list[str]:
    """Return one sentence per row.

    Parameters
    ----------
    names
        Names of the columns.
    contributions
        (rows, columns); NaN in rows that could not be scored.
    above
        Value minus calibration median as the user sees it, (rows, columns); NaN where it is missing or infinite.
    at_median
        The p-value of each row with its leading column at the median; None where there are no p-values.

    Examples
    --------
    >>> sentences(["entropy", "knn"], np.array([[0.1, 0.5]]), np.array([[0.2, 3.0]]), np.array([0.34]))
    ['knn is high (contributes +0.5 of 0.6 above typical); at its median p would be 0.34']
    """
    chances = [None] * len(above) if at_median is None else at_median.tolist()
    leads = leading_columns(contributions)
    return [_sentence(names, *row) for row in zip(contributions, above, leads, chances, strict=True)]


def _sentence(names: Sequence[str], contributions: Array, above: Array, lead: int, chance: float | None) -> str:
    if np.isnan(contributions).any():
        lost = ", ".join(name for name, distance in zip(names, above, strict=True) if np.isnan(distance))
        return f"not scored: missing or infinite in {lost}"
    total, most = float(contributions.sum()), float(contributions[lead])
    if not _stands_out(contributions, lead):
        return f"nothing stands out: {abs(total):.3g} below typical"
    first = f"{names[lead]} is {_level(above[lead])} (contributes {most:+.3g} of {total:.3g} above typical)"
    second = _runner_up(names, contributions, lead)
    that = f"with {names[lead]} at its" if second else "at its"
    return first + second + ("" if chance is None else f"; {that} median p would be {chance:.2g}")


def _level(above: float) -> str:
    return "missing" if np.isnan(above) else "high" if above > 0 else "low"


def _runner_up(names: Sequence[str], contributions: Array, lead: int) -> str:
    """Name a second column if it contributes at least half as much as the first."""
    second = int(np.argmax(np.where(np.arange(len(names)) == lead, -np.inf, contributions)))
    close = second != lead and contributions[second] >= 0.5 * contributions[lead]
    return f", then {names[second]} ({contributions[second]:+.3g})" if close else ""
