"""Inputs of text measures, checked and converted to arrays."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from vecuq._check import Array, one_line
from vecuq.errors import TableError

MISSING = math.nan
# Rounding errors of softmaxes and cosines in single precision, and of log-probabilities in half precision.
_SLACK, _LOG_SLACK = 1e-5, 1e-2


def floats(values: Any) -> Array:
    """Return a list of numbers as an array; None counts as NaN."""
    try:
        return np.asarray(values, dtype=float)
    except (TypeError, ValueError):
        raise TableError(
            f"Numbers were expected, in lists of one length; got {one_line(repr(values), most=60)}."
        ) from None


def entropies(values: Any, name: str = "Entropies") -> Array:
    """Return entropies, or other divergences, as an array of one dimension, none below 0."""
    found = floats(values).ravel()
    if found.size and found.min() < -_LOG_SLACK:
        raise TableError(f"{name} must not be below 0; the smallest is {found.min():g}.")
    return np.maximum(found, 0.0)


def logprobs(values: Any) -> Array:
    """Return log-probabilities as an array of one dimension, none above 0."""
    found = floats(values).ravel()
    if found.size and found.max() > _LOG_SLACK:
        raise TableError(
            f"Log-probabilities must not be above 0; the largest is {found.max():g}. "
            f"If these are probabilities, take their natural logarithm."
        )
    return np.minimum(found, 0.0)


def similarities(values: Any) -> Array:
    """Return similarities as an array within [0, 1], the given one if it is one."""
    found = floats(values)
    low, high = (found.min(), found.max()) if found.size else (0.0, 1.0)
    if low >= 0.0 and high <= 1.0:
        return found
    if low < -_SLACK or high > 1.0 + _SLACK:
        raise TableError(
            f"Similarities and probabilities must lie in [0, 1]; these lie in [{low:g}, {high:g}]. "
            f"Clip or rescale them, for example max(0, cosine)."
        )
    return np.clip(found, 0.0, 1.0)


def square(values: Any, size: int | None = None) -> Array:
    """Return similarities as a square matrix, of the given size if there is one."""
    found = similarities(values)
    if found.size == 0 and size in (None, 0):
        return np.zeros((0, 0))
    if found.ndim != 2 or found.shape[0] != found.shape[1] or size not in (None, len(found)):
        wanted = "square" if size is None else f"({size}, {size}), one row and column per sample"
        raise TableError(f"The matrix of similarities must be {wanted}; it has shape {found.shape}.")
    return found


def same_length(name: str, one: Sequence[Any] | Array, other_name: str, other: Sequence[Any] | Array) -> None:
    """Raise unless two lists that belong together are equally long."""
    if len(one) != len(other):
        raise TableError(f"There must be as many {name} as {other_name}; there are {len(one)} and {len(other)}.")
