"""learn_weights: from labelled rows to weights, with every check of the labels."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vecuq._check import Array, binary_labels, count_missing, finite_rows, warn_user
from vecuq.errors import CalibrationError, CalibrationWarning, TableError
from vecuq.ranker.label_fit import weights_from_labels
from vecuq.ranker.weights import Weights
from vecuq.table import Fingerprints, ScoreTable

# With fewer rows of either kind the weights stay equal.
FEWEST = 20
# Digits of a weight: more than labels can show, and fewer than the solver rounds.
_DIGITS = 6


def learn_weights(
    rows: Any, wrong: Any, *, columns: Sequence[str] | None = None, flip: Iterable[str] | None = None
) -> Weights:
    """Learn from labelled rows how much each score column should count; equal weights without clear evidence.

    The weights are at least 0, so that a higher score never lowers the uncertainty. Use them as
    ``VecUQ(weights=...)``. Labels gain far more where they set a threshold; use other rows for that, since a promise
    made on the rows that chose the weights does not hold.

    Parameters
    ----------
    rows
        Labelled rows: anything a :class:`vecuq.ScoreTable` can be made of, no missing values.
    wrong
        One label per row: 1 or True where the answer was wrong.
    columns, flip
        As in :class:`vecuq.VecUQ`; the model that takes the weights needs the same columns and directions.

    Returns
    -------
    Weights
        By column name, the largest 1, with fingerprints of the labelled rows. Fewer than 20 rows of either kind leave
        them equal, with a warning.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> rows = {"good": rng.random(400), "noise": rng.random(400)}
    >>> wrong = rng.random(400) < rows["good"] ** 2
    >>> learn_weights(rows, wrong, columns=["good", "noise"])
    Weights(good 1, noise 0.125; learned from 400 labels, 145 wrong)
    """
    table = ScoreTable.of(rows, columns=columns, flip=flip)
    labels = binary_labels("wrong", wrong, len(table))
    values = _complete(table)
    _refuse_one_kind(labels)
    numbers = _numbers(values, labels)
    known = table.flipped, len(labels), int(labels.sum()), Fingerprints.of(values)
    return Weights(table.columns, tuple(np.round(numbers / numbers.max(), _DIGITS).tolist()), *known)


def _complete(table: ScoreTable) -> Array:
    """Return the values of the rows, once each is known to be a finite number."""
    incomplete = int((~finite_rows(table.values)).sum())
    if incomplete:
        raise CalibrationError(
            f"Labelled rows must have no NaN or infinity; {incomplete:,} of {len(table):,} have some "
            f"({count_missing(table.values, table.columns)}). Drop these rows and their labels."
        )
    return np.asarray(table.values, dtype=float)


def _refuse_one_kind(labels: NDArray[np.bool_]) -> None:
    if not len(labels) or labels.all() or not labels.any():
        what = "no rows" if not len(labels) else f"{len(labels):,} rows, all {'wrong' if labels[0] else 'right'}"
        raise TableError(f"Weights are learned from right and wrong answers; got {what}.")


def _numbers(values: Array, labels: NDArray[np.bool_]) -> Array:
    """Return weights that are not all 0; equal ones, with a warning, where the labels cannot decide."""
    equal = np.ones(values.shape[1])
    fewest = int(min(labels.sum(), (~labels).sum()))
    if fewest < FEWEST:
        warn_user(
            f"{len(labels):,} labels, {int(labels.sum()):,} of them wrong, are too few to learn weights, which stay "
            f"equal. At least {FEWEST} right and {FEWEST} wrong rows are needed.",
            CalibrationWarning,
        )
        return equal
    if not (values.min(axis=0) < values.max(axis=0)).any():
        raise CalibrationError("All labelled rows have the same scores, so there is nothing to learn from them.")
    found = weights_from_labels(values, labels).weights
    if found.max() > 0:
        return found
    warn_user(
        "No score column is higher where answers were wrong; the weights stay equal. Are the labels inverted (1 is "
        "wrong), or is a column a confidence that should be flipped?",
        CalibrationWarning,
    )
    return equal
