"""Labels as they come: right or wrong, or a quality between 0 and 1; and what is doubtful about them."""

from __future__ import annotations

import operator
import re
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vecuq._check import Array, one_line, warn_user
from vecuq.errors import CalibrationError, CalibrationWarning, SettingError, TableError

_RULE = re.compile(r"^(?P<column>.+?)\s*(?P<sign>>=|<=|>|<|==)\s*(?P<bound>[-+]?[0-9.]+(?:[eE][-+]?[0-9]+)?)\s*$")
# Fewer right or wrong rows than this say nothing about the direction of labels.
_FEWEST = 10
_SIGNS = {">=": operator.ge, "<=": operator.le, ">": operator.gt, "<": operator.lt, "==": operator.eq}


def losses_of(correct: Any, n_rows: int, *, graded: bool = False) -> Array:
    """Return the loss of every labelled row: 1 where it is wrong, 0 where it is right; 1 - quality where ``graded``.

    Examples
    --------
    >>> losses_of([True, False, True], 3)
    array([0., 1., 0.])
    """
    name = "quality" if graded else "correct"
    values = _numbers(correct, name)
    if values.shape != (n_rows,):
        raise TableError(f"{name} must have one label per row: {n_rows:,} rows, and labels of shape {values.shape}.")
    if not n_rows:
        raise CalibrationError("There are no labelled rows; a gate needs some hundreds of them.")
    missing = int(np.isnan(values).sum())
    if missing:
        raise CalibrationError(f"{missing:,} of {n_rows:,} labels are missing; label these rows, or leave them out.")
    if graded and ((values < 0) | (values > 1)).any():
        raise CalibrationError(f"quality must lie in [0, 1]; it has values from {values.min():g} to {values.max():g}.")
    if not graded and not np.isin(values, (0.0, 1.0)).all():
        odd = values[~np.isin(values, (0.0, 1.0))][0]
        raise CalibrationError(
            f"correct must be 0 or 1, or true or false; it holds {odd:g}. Turn a graded quality into labels by a rule, "
            f"such as quality >= 0.7, or certify its mean with quality=0.8."
        )
    return 1.0 - values


def _numbers(correct: Any, name: str) -> Array:
    """Return labels as floats; text is an error that shows what came."""
    values = np.asarray(correct)
    if values.dtype.kind in "biuf":
        return values.astype(float)
    try:
        listed = [np.nan if value is None else value for value in values.ravel().tolist()]
        if any(isinstance(value, str) for value in listed):
            raise ValueError
        return np.array(listed, dtype=float).reshape(values.shape)
    except (TypeError, ValueError):
        shown = one_line(repr(values.ravel()[:1].tolist()), most=40)
        raise TableError(
            f"{name} must be numbers or truth values, and begins with {shown}. Give 1 for a right answer and 0 for a "
            f"wrong one."
        ) from None


def doubts_about(scores: Array, losses: Array) -> None:
    """Warn of labels that work, but deserve a second look: all alike, or upside down."""
    wrong = losses > 0.5
    scored = ~np.isnan(scores)
    _, cells = np.unique(scores[scored], return_inverse=True)
    counts = [np.bincount(cells[wrong[scored] == kind], minlength=cells.max(initial=-1) + 1) for kind in (False, True)]
    _warn_of(int((~wrong).sum()), int(wrong.sum()), np.stack(counts, axis=1))


def _warn_of(n_right: int, n_wrong: int, scored: NDArray[np.int64]) -> None:
    if not (n_right and n_wrong):
        all_are = "wrong" if n_wrong else "right"
        warn_user(
            f"All {n_right + n_wrong:,} labelled rows are {all_are}. Is this the label column, and is it correct= or "
            f"wrong=?",
            CalibrationWarning,
        )
        return
    found = _auc(scored.astype(float))
    if found is not None and found[0] + 3.0 * found[1] < 0.5:
        warn_user(
            f"Wrong rows are less uncertain than right ones (ROC-AUC {found[0]:.2f}). Are the labels inverted? "
            f"`correct` is 1 for a right answer.",
            CalibrationWarning,
        )


def _auc(counts: Array) -> tuple[float, float] | None:
    """Return the ROC-AUC of the wrong rows and its largest standard error; None with few rows of either kind."""
    negative, positive = counts.sum(axis=0)
    if min(positive, negative) < _FEWEST:
        return None
    right, wrong = counts.T
    area = float(wrong @ (np.cumsum(right) - 0.5 * right) / (positive * negative))
    return area, float(np.sqrt(area * (1 - area) / min(positive, negative)))


def label_rule(text: str) -> tuple[str, str | None, float]:
    """Return column, comparison and bound of a rule such as ``quality>=0.7``; no comparison for a plain column.

    Examples
    --------
    >>> label_rule("quality>=0.7"), label_rule("is_correct")
    (('quality', '>=', 0.7), ('is_correct', None, 0.0))
    """
    found = _RULE.match(text)
    return (found["column"], found["sign"], _bound(found["bound"])) if found else (text, None, 0.0)


def _bound(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise SettingError(f"A rule compares with a number, as in quality>=0.7; got {text!r}.") from None


def apply_rule(values: Array, sign: str | None, bound: float) -> Array:
    """Return 1 where a value satisfies the rule and 0 where it does not; NaN stays, and so do values without a rule."""
    if sign is None:
        return values
    return np.where(np.isnan(values), np.nan, _SIGNS[sign](values, bound).astype(float))
