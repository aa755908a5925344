"""What the arrays of a saved file must be, declared as data, and one line for the first that is not.

A kind declares its header as a Struct (:mod:`vecuq._files.header`) and its arrays as a table. That is all it takes::

    class GateHeader(Struct):
        columns: Names
        alpha: Rate

    GATE = {"bounds": Numbers("columns", POSITIVE), "scores": Numbers("rows", SORTED)}

    def gate_of(header, arrays):
        known = checked_header(header, GateHeader)
        check_arrays(arrays, GATE, columns=len(known.columns))

What is raised is a ValueError without the name of the file, which :func:`vecuq.load` adds.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vecuq._check import Array


@dataclass(frozen=True)
class Rule:
    """What every number of an array must be, in words, and which ones are not."""

    says: str
    broken: Callable[[Array], NDArray[np.bool_]]


def between(low: float, high: float) -> Rule:
    """Return the rule that numbers lie between two others, both included."""
    return Rule(f"from {low:g} to {high:g}", lambda x: ~((x >= low) & (x <= high)))


FINITE = Rule("finite", lambda x: ~np.isfinite(x))
POSITIVE = Rule("positive", lambda x: ~(x > 0))
NOT_NEGATIVE = Rule("at least 0", lambda x: ~(x >= 0))
WHOLE = Rule("a whole number", lambda x: x != np.rint(x))
# Along the first axis.
SORTED = Rule("at least the one before it", lambda x: ~(x[1:] >= x[:-1]))
RISING = Rule("above the one before it", lambda x: ~(x[1:] > x[:-1]))
NO_NAN = Rule("a number", np.isnan)


class Numbers:
    """What one array must be: the names of its sizes, and rules for its numbers, which are finite unless stated.

    Parameters
    ----------
    shape
        The names of its sizes, separated by blanks, as in ``"targets columns"``; a whole number stands for itself.
        Sizes of one name are equal throughout a table.
    rules
        What every number must be.
    dtype
        The type of the numbers.
    finite
        Whether every number must be finite.
    """

    def __init__(self, shape: str, *rules: Rule, dtype: str = "float64", finite: bool = True) -> None:
        self.shape = tuple(shape.split())
        self.rules = (FINITE, *rules) if finite else (NO_NAN, *rules)
        self.dtype = np.dtype(dtype)


def check_arrays(arrays: Mapping[str, Any], table: Mapping[str, Numbers], **sizes: int) -> dict[str, int]:
    """Raise ValueError at the first array that is not as its table says; return every named size.

    Parameters
    ----------
    arrays
        What the file holds, by name. What the table does not name is left alone.
    table
        What each array must be.
    sizes
        The sizes that are known, for example from the header; the others are those of the first array that has them.

    Examples
    --------
    >>> check_arrays({"scores": np.array([1.0, 3.0, 2.0])}, {"scores": Numbers("rows", SORTED)})
    Traceback (most recent call last):
    ValueError: each number of 'scores' must be at least the one before it, and 1 of 3 is not
    """
    found = dict(sizes)
    for name, needed in table.items():
        if name not in arrays:
            raise ValueError(f"{name!r} is absent")
        _check_type(name, arrays[name], needed)
        _check_shape(name, arrays[name], needed, found)
        for rule in needed.rules:
            refuse(name, rule.says, rule.broken(arrays[name]), arrays[name].size)
    return found


def refuse(name: str, says: str, broken: NDArray[np.bool_], of: int) -> None:
    """Raise ValueError if any number of an array breaks a rule, and say how many do."""
    count = int(np.count_nonzero(broken))
    if count:
        are = "is" if count == 1 else "are"
        raise ValueError(f"each number of {name!r} must be {says}, and {count:,} of {of:,} {are} not")


def _check_type(name: str, array: Array, needed: Numbers) -> None:
    if array.dtype != needed.dtype:
        raise ValueError(f"{name!r} must hold {needed.dtype} numbers, and holds {array.dtype}")


def _check_shape(name: str, array: Array, needed: Numbers, sizes: dict[str, int]) -> None:
    """Raise if an array has another shape; learn the sizes that were not known."""
    fits = array.ndim == len(needed.shape)
    if fits:
        for word, size in zip(needed.shape, array.shape, strict=True):
            fits &= size == (int(word) if word.isdigit() else sizes.setdefault(word, size))
    if not fits:
        wanted = ", ".join(
            word if word.isdigit() else f"{sizes[word]} {word}" if word in sizes else word for word in needed.shape
        )
        raise ValueError(f"{name!r} must have the shape ({wanted}), and has {array.shape}")
