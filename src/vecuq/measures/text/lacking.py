"""What an answer lacks: the error of a measure that cannot be computed, and numbers that must be there."""

from __future__ import annotations

from typing import Any

import numpy as np

from vecuq._check import Array
from vecuq.compare import floats
from vecuq.errors import VecuqError


class MissingFeatureError(VecuqError):
    """Something that an answer lacks. Its message is the reason, the same words for all answers that lack it."""


def numbers(values: Any, name: str) -> Array:
    """Return values as an array, if there are any and none is missing."""
    refuse_none(values, name)
    found = floats(values).ravel()
    if not found.size:
        raise MissingFeatureError(f"no {name}")
    if np.isnan(found).any():
        raise MissingFeatureError(f"{name} with missing values")
    return found


def refuse_none(value: Any, name: str) -> None:
    """Raise if something is not there."""
    if value is None:
        raise MissingFeatureError(f"no {name}")
