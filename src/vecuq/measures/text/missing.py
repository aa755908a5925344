"""A part that an answer lacks, and the reason, which is counted and told."""

from __future__ import annotations

from typing import Any

import numpy as np

from vecuq._check import Array
from vecuq.errors import VecuqError
from vecuq.measures.text.checked import floats


class MissingPartError(VecuqError):
    """A part that an answer lacks. Its message is the reason, the same words for all answers that lack it."""


def numbers(values: Any, name: str) -> Array:
    """Return values as an array, if there are any and all are numbers."""
    refuse_none(values, name)
    found = floats(values).ravel()
    if not found.size:
        raise MissingPartError(f"no {name}")
    if np.isnan(found).any():
        raise MissingPartError(f"{name} with gaps")
    return found


def refuse_none(value: Any, name: str) -> None:
    """Raise for a part that is not there."""
    if value is None:
        raise MissingPartError(f"no {name}")
