"""From labelled rows to the probability that a row is wrong: monotone in the uncertainty, calibrated, with an interval.

Rows are sorted into cells by uncertainty, between thresholds that do not depend on the labels.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from vecuq._check import Array
from vecuq.conformal.bounds import error_rate_lower, error_rate_upper


@dataclass(frozen=True)
class WrongRates:
    """The probability of being wrong in every cell, and an interval for it; none of them falls from cell to cell."""

    probability: Array  # (cells,)
    lower: Array  # (cells,)
    upper: Array  # (cells,)


def wrong_rates(
    cells: NDArray[np.intp],
    wrong: Array,
    n_cells: int,
    delta: float,
    *,
    independent: NDArray[np.bool_] | None = None,
) -> WrongRates:
    """Return the calibrated probability of being wrong in each cell, with an interval of confidence 1 - delta.

    **Assumption.** Labelled and new rows are exchangeable, and the cells were made without their labels. For the
    interval, the error rate does not fall from cell to cell and the labelled rows are independent, or those that
    ``independent`` names (one at random of each group), which alone make the interval.

    **Promise.** The probability is calibrated: it merges two isotonic fits, one with the new row taken for right and
    one with it taken for wrong, and the one that guesses its label is calibrated exactly. The error rate of any one
    cell lies in its interval with probability 1 - delta; not those of all cells at once.

    **Theorem.** Venn-Abers predictors: Vovk and Petej (2014), theorem 1, merged as in Vovk, Petej and Fedorova (2015).
    The interval: Clopper and Pearson's over windows of cells on either side, which bound the rate of a cell where
    rates do not fall, with delta shared among the windows (as Yang and Barber 2019). For graded losses, a share that
    is e times smaller: Bentkus, *On Hoeffding's inequalities* (2004).

    Examples
    --------
    >>> cells = np.repeat([0, 1], 50)
    >>> found = wrong_rates(cells, cells * np.tile([0, 1], 50), n_cells=2, delta=0.1)
    >>> found.probability.round(2), found.upper.round(2)
    (array([0.02, 0.5 ]), array([0.07, 0.64]))
    """
    wrong = np.asarray(wrong, dtype=float)
    rows = np.asarray(np.bincount(cells, minlength=n_cells), dtype=float)
    errors = np.asarray(np.bincount(cells, weights=wrong, minlength=n_cells), dtype=float)
    taken_right = np.array([_isotonic_at(rows, errors, cell, 0.0) for cell in range(n_cells)])
    taken_wrong = np.array([_isotonic_at(rows, errors, cell, 1.0) for cell in range(n_cells)])
    # Both rise from cell to cell, but for rounding.
    merged = np.maximum.accumulate(taken_wrong / (1.0 - taken_right + taken_wrong))
    chosen = np.ones(len(cells), dtype=bool) if independent is None else independent
    lower, upper = _band(cells[chosen], wrong[chosen], n_cells, delta)
    return WrongRates(np.clip(merged, lower, upper), lower, upper)


def _isotonic_at(rows: Array, errors: Array, cell: int, label: float) -> float:
    """Return the isotonic fit in one cell, after a row with that label joined it."""
    from scipy.optimize import isotonic_regression

    rows, errors = rows.copy(), errors.copy()
    rows[cell] += 1.0
    errors[cell] += label
    filled = np.flatnonzero(rows)
    fitted = isotonic_regression(errors[filled] / rows[filled], weights=rows[filled]).x
    return float(fitted[np.searchsorted(filled, cell)])


def _band(cells: NDArray[np.intp], wrong: Array, n_cells: int, delta: float) -> tuple[Array, Array]:
    """Return bounds on the rate of every cell: from windows that end in it, and from windows that start in it."""
    widths = [2**k for k in range(int(np.log2(n_cells)) + 1)]
    graded = not np.isin(wrong, (0.0, 1.0)).all()
    share = delta / (2 * len(widths)) / (np.e if graded else 1.0)
    counts = (np.bincount(cells, weights=kept, minlength=n_cells) for kept in (None, wrong))
    row_sums, error_sums = (np.concatenate([[0.0], np.cumsum(kept)]) for kept in counts)
    places = np.arange(n_cells)
    lower, upper = np.zeros(n_cells), np.ones(n_cells)
    for width in widths:
        first, end = np.maximum(places + 1 - width, 0), np.minimum(places + width, n_cells)
        before = (error_sums[places + 1] - error_sums[first], row_sums[places + 1] - row_sums[first])
        behind = (error_sums[end] - error_sums[places], row_sums[end] - row_sums[places])
        fewest, most = np.floor(before[0] + 1e-9), np.ceil(behind[0] - 1e-9)
        lower = np.maximum(lower, np.where(before[1] > 0, error_rate_lower(fewest, before[1], share), 0.0))
        upper = np.minimum(upper, np.where(behind[1] > 0, error_rate_upper(most, behind[1], share), 1.0))
    # Bounds are made to rise by loosening them: the tightest of many cells would hold for none.
    lower, upper = np.minimum.accumulate(lower[::-1])[::-1], np.maximum.accumulate(upper)
    # Where rates do fall, the two may cross; then neither says anything, and the interval is what both leave open.
    return np.minimum(lower, upper), upper
