"""A saved file is refused in one line, or it says what it said before it was changed."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from vecuq._load import load
from vecuq.errors import VecuqError
from vecuq.testing.attack import BrokenPromiseError
from vecuq.testing.checks.commands import last_lines
from vecuq.testing.hostile.saved import answers_of


def check_saved_file(kind: str, content: bytes, expected: dict[str, Any], *, may_differ: bool = False) -> bool:
    """Load the bytes of a saved file and compare what it says with what it should; return whether it was loaded.

    Parameters
    ----------
    kind
        What the file should hold, such as ``"model"``.
    content
        The bytes of the file.
    expected
        What ``vecuq.testing.answers_of`` said of the file before it was changed.
    may_differ
        Whether the change is one that nobody can detect, so that other numbers are no broken promise.
    """
    try:
        loaded = load(content)
    except VecuqError as error:
        _refuse_long(str(error))
        return False
    except Exception as error:
        raise BrokenPromiseError("traceback", last_lines(error)) from error
    found = _said(kind, loaded)
    if found is not None and not may_differ:
        _refuse_difference(found, expected)
    return True


def _refuse_long(message: str) -> None:
    if "\n" in message or not message:
        raise BrokenPromiseError("message", f"an error is one line; got {message[:200]!r}")


def _said(kind: str, loaded: Any) -> dict[str, Any] | None:
    """Return what was loaded has to say; None where it refuses in words."""
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        try:
            repr(loaded)
            loaded.describe()
            return answers_of(kind, loaded)
        except VecuqError:
            return None
        except Exception as error:
            raise BrokenPromiseError("loaded, then traceback", last_lines(error)) from error


def _refuse_difference(found: dict[str, Any], expected: dict[str, Any]) -> None:
    for name, values in expected.items():
        if not np.array_equal(found[name], values, equal_nan=True):
            apart = f"{np.ravel(found[name])[:3]} in place of {np.ravel(values)[:3]}"
            raise BrokenPromiseError("wrong score", f"{name} of a changed file: {apart}")
