"""A table is refused in one line, or its scores are those of the same numbers read without vecuq."""

from __future__ import annotations

import tempfile
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from pyarrow import feather

from vecuq._check import Array
from vecuq.errors import VecuqError
from vecuq.testing.attack import BrokenPromiseError
from vecuq.testing.checks.commands import last_lines, refuse_bad_manners, run_command
from vecuq.testing.checks.independent import NoNumberError, NoOpinionError, number_in, values_in
from vecuq.testing.hostile.tables import as_frame


def check_table_file(model: Any, content: bytes, ending: str, *, more: Sequence[str] = ()) -> bool:
    """Score a table file by the command line and compare with the same numbers ranked in memory.

    Parameters
    ----------
    model
        A fitted ranker.
    content
        The bytes of the table file.
    ending
        Its kind, such as ``".csv"``.
    more
        Further words of the command line, such as ``["--alpha", "0.1"]``.

    Returns
    -------
    bool
        Whether the file was accepted.
    """
    files = {"model.vecuq": model.to_bytes(), f"new{ending}": content}
    words = ["score", "model.vecuq", f"new{ending}", "-o", "ranked.feather", *more]
    with tempfile.TemporaryDirectory(prefix="vecuq-testing-") as name:
        folder = Path(name)
        for file, text in files.items():
            (folder / file).write_bytes(text)
        outcome = run_command(words, folder)
        refuse_bad_manners(outcome, words)
        if outcome.code != 0:
            return False
        scores = feather.read_table(folder / "ranked.feather")["uncertainty"].to_numpy()
    missing = words[words.index("--missing") + 1] if "--missing" in words else "nan"
    _compare(model, scores, lambda: values_in(content, ending, model.columns), missing=missing)
    return True


def check_table(model: Any, table: pa.Table, library: str) -> bool:
    """Score a table as another library hands it over, and compare with the same numbers as a plain array.

    Returns whether the table was accepted.
    """
    try:
        frame = as_frame(table, library)
    except Exception:  # that library has no place for such a table
        return False
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)
            warnings.simplefilter("error", RuntimeWarning)
            scores = model.uncertainty(frame)
    except VecuqError as error:
        if "\n" in str(error):
            raise BrokenPromiseError("message", f"an error is one line; got {str(error)[:200]!r}") from error
        return False
    except (KeyboardInterrupt, SystemExit):
        raise
    except BaseException as error:  # a panic of polars is no Exception
        raise BrokenPromiseError("traceback", last_lines(error)) from error
    _compare(model, scores, lambda: _values_of(table, table.column_names if library == "numpy" else model.columns))
    return True


def _values_of(table: pa.Table, columns: Sequence[str]) -> Array:
    if not set(columns) <= set(table.column_names):
        raise NoOpinionError("matched by position")
    cells = [[number_in(cell) for cell in table[name].to_pylist()] for name in columns]
    return np.column_stack([np.array(column, dtype=float) for column in cells])


def _compare(model: Any, scores: Array, read: Any, *, missing: str = "nan") -> None:
    """Raise if scores are not those of the values that ``read`` returns."""
    try:
        values = read()
    except NoOpinionError:
        return
    except NoNumberError as error:
        raise BrokenPromiseError("accepted", f"a cell that is no number was scored: {error}") from None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        expected = model.uncertainty(values, missing=missing)
    if not np.array_equal(scores, expected, equal_nan=True):
        raise BrokenPromiseError("wrong score", f"{scores[:3]} for {values[:3].tolist()}; expected {expected[:3]}")
