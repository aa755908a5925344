"""Logits in blocks of rows: what the classifier measures share."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vecuq._check import shape_of
from vecuq.errors import TableError
from vecuq.outputs import LEAST_LOG, as_numbers, rows_per_block

Array = NDArray[np.float64]


def members_first(outputs: Any) -> NDArray[Any]:
    """Return outputs as (members, rows, classes): a list is stacked, one model becomes an ensemble of one."""
    is_list = isinstance(outputs, list | tuple)
    array = np.asarray([as_numbers(part) for part in outputs]) if is_list else as_numbers(outputs)
    if array.ndim == 2:
        array = array[None]
    if array.ndim != 3 or 0 in (array.shape[0], array.shape[2]):
        raise TableError(f"Logits must have shape (members, rows, classes) or (rows, classes); got {shape_of(array)}.")
    return array


def in_row_blocks(function: Callable[[Array], Any], outputs: NDArray[Any]) -> Array:
    """Apply a row-wise function to (members, rows, classes) block by block, in double precision; returns (rows,)."""
    members, rows, classes = outputs.shape
    size = rows_per_block(members, classes)
    starts = range(0, max(rows, 1), size)
    # A logit that is NaN or +inf makes its own row NaN, and needs no further words.
    with np.errstate(invalid="ignore"):
        return np.concatenate([function(outputs[:, start : start + size].astype(float)) for start in starts])


def probabilities(logits: Array) -> tuple[Array, Array]:
    """Return log-probabilities and probabilities; an impossible class (a logit of -inf) gets the least there is."""
    shifted = logits - logits.max(axis=-1, keepdims=True)
    weights = np.exp(shifted)
    total = weights.sum(axis=-1, keepdims=True)
    log_p = shifted - np.log(total)
    return np.where(np.isinf(log_p), LEAST_LOG, log_p), weights / total


def one_hot(index: NDArray[np.intp], n_classes: int) -> Array:
    """Return 1 at the index of the last axis and 0 elsewhere."""
    return np.asarray(index[..., None] == np.arange(n_classes), dtype=float)


def vecdot(a: Array, b: Array) -> Array:
    """Return the sums of products over the last axis."""
    if hasattr(np, "vecdot"):
        return np.asarray(np.vecdot(a, b))
    return np.asarray((a[..., None, :] @ b[..., None])[..., 0, 0])  # NumPy 1.26
