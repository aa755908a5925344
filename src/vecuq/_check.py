"""Checks at the edge, and the messages they share."""

from __future__ import annotations

import errno
import inspect
import math
import os
import re
import sys
import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from difflib import get_close_matches
from functools import wraps
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from vecuq.errors import CalibrationError, ColumnError, SettingError, TableError, VecuqWarning

Array = NDArray[np.float64]
_Kind = TypeVar("_Kind")
# What a spreadsheet computes begins like this, unless it is a number.
COMPUTED = r"^[=+\-@\t\r]"
NO_FORMULA = r"^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$|^[+-](inf|infinity|nan)$|^-$"


def one_line(what: object, *, most: int = 200) -> str:
    """Return any text as one printable line of at most ``most`` characters."""
    text = "".join(letter if letter.isprintable() else "?" for letter in " ".join(str(what).split()))
    return text if len(text) <= most else text[: most - 3] + "..."


def without_formula(text: str) -> str:
    """Return a text with an apostrophe in front if a spreadsheet would compute it.

    Examples
    --------
    >>> without_formula("=1+1"), without_formula("-1.5")
    ("'=1+1", '-1.5')
    """
    return f"'{text}" if re.search(COMPUTED, text) and not re.search(NO_FORMULA, text) else text


def one_of(name: str, value: object, choices: Sequence[str]) -> str:
    """Return ``value`` if it is one of ``choices``; otherwise say which are, and which is nearest."""
    if isinstance(value, str) and value in choices:
        return value
    near = get_close_matches(str(value), choices, n=1)
    hint = f" Did you mean {near[0]!r}?" if near else ""
    raise SettingError(f"{name} must be one of {', '.join(map(repr, choices))}; got {value!r}.{hint}")


def number(name: str, value: object) -> float:
    """Return ``value`` as a float if it is one finite real number."""
    if isinstance(value, bool | np.bool_) or not isinstance(value, int | float | np.integer | np.floating):
        raise SettingError(f"{name} must be a number; got {value!r}.")
    if not math.isfinite(value):
        raise SettingError(f"{name} must be finite; got {value!r}.")
    return float(value)


def in_range(name: str, value: object, low: float, high: float = math.inf, *, ends: str = "[)") -> float:
    """Return ``value`` as a float if it lies between ``low`` and ``high``; ``ends`` says which ends belong."""
    checked = number(name, value)
    above = checked >= low if ends[0] == "[" else checked > low
    below = checked <= high if ends[1] == "]" else checked < high
    if not (above and below):
        raise SettingError(f"{name} must lie in {ends[0]}{low:g}, {high:g}{ends[1]}; got {value!r}.")
    return checked


def whole_number(name: str, value: object, low: int) -> int:
    """Return ``value`` as an int if it is whole and at least ``low``."""
    if isinstance(value, bool | np.bool_) or not isinstance(value, int | np.integer):
        raise SettingError(f"{name} must be a whole number; got {value!r}.")
    if value < low:
        raise SettingError(f"{name} must be at least {low}; got {value!r}.")
    return int(value)


def unique_names(names: Iterable[str]) -> tuple[str, ...]:
    """Return the column names as a tuple; one name may come alone; a name that comes twice is an error."""
    listed = (names,) if isinstance(names, str) else tuple(map(str, names))
    if len(set(listed)) < len(listed):
        doubled = [name for name, count in Counter(listed).items() if count > 1]
        raise ColumnError(f"Column names must be unique; these come twice: {doubled}. Rename or drop the copies.")
    return listed


def wanted_columns(
    wanted: Iterable[str], present: Sequence[str], *, purpose: str, where: str = "The table"
) -> tuple[str, ...]:
    """Return the wanted names, once each is known to be present."""
    names = unique_names(wanted)
    absent = [name for name in names if name not in present]
    if absent:
        near = get_close_matches(absent[0], present, n=1)
        hint = f" Did you mean {near[0]!r}?" if near else ""
        raise ColumnError(f"{where} lacks {absent}, {purpose}. It has {list(present)}.{hint}")
    return names


def bad_cell(column: str, row: int, value: object, *, hint: str = "") -> ColumnError:
    """Return the error for a cell that is not a number."""
    shown = one_line(repr(value), most=40)
    return ColumnError(
        f"Score column {column!r} is not numeric: row {row} (counting from 0) holds {shown}. "
        f"{hint}Correct that cell, leave it empty for missing, or name the score columns without {column!r}."
    )


def finite_rows(values: Array) -> NDArray[np.bool_]:
    """Return which rows have every value present and finite."""
    finite = np.isfinite(values)
    # One look at everything is many times faster than one per row, and mostly enough.
    return np.ones(len(values), dtype=bool) if finite.all() else np.asarray(finite.all(axis=1))


def missing_counts(values: Array, columns: Sequence[str]) -> dict[str, int]:
    """Return how many values of each column are missing or infinite; complete columns are left out."""
    counts = (~np.isfinite(values)).sum(axis=0)
    return {name: int(count) for name, count in zip(columns, counts, strict=True) if count}


def refuse_missing(values: Array, columns: Sequence[str], *, first_row: int = 0, hint: str = "") -> None:
    """Calibration rows must be complete: name each column with missing or infinite values, and how many."""
    incomplete = ~finite_rows(values)
    if not incomplete.any():
        return
    counts = missing_counts(values, columns)
    found = ", ".join(f"{name!r} in {count:,}" for name, count in counts.items())
    rows, first = int(incomplete.sum()), first_row + int(incomplete.argmax())
    these = "this row" if rows == 1 else f"these {rows:,} rows"
    empty = [name for name, count in counts.items() if count == len(values)]
    remedy = f"Drop {these}, or leave the column out. {hint}"
    if empty:  # without these rows, none would be left
        remedy = f"Leave {', '.join(map(repr, empty))} out, for no row has a number there."
    raise CalibrationError(
        f"Calibration rows must have no NaN or infinity; found: {found} of {len(values):,} rows. {remedy.rstrip()} "
        f"(First one: row {first:,}, counting from 0.)"
    )


def count_missing(values: Array, columns: Sequence[str]) -> str:
    """Return each column that has missing or infinite values, and how many, as one text."""
    return ", ".join(f"{name!r}: {count:,}" for name, count in missing_counts(values, columns).items())


def refuse_incomplete(values: Array, columns: Sequence[str]) -> None:
    """Raise if any row is incomplete, and say what else can be done with such rows."""
    incomplete = int((~finite_rows(values)).sum())
    if incomplete:
        raise TableError(
            f"missing='error' refuses rows with missing or infinite scores; {incomplete:,} of {len(values):,} have "
            f"some ({count_missing(values, columns)}). Correct or drop them, or use missing='nan' or 'marginal'."
        )


def binary_labels(name: str, labels: Any, n_rows: int) -> NDArray[np.bool_]:
    """Return one label per row, 0 or 1, as False and True; anything else, unknown included, is an error."""
    masked = np.ma.isMaskedArray(labels)
    try:
        found = np.asarray(labels.astype(float).filled(np.nan) if masked else labels)
    except ValueError:
        raise TableError(f"{name} must be one label per row, 0 or 1; got lists of several lengths.") from None
    if found.ndim != 1 or len(found) != n_rows:
        raise TableError(f"{name} must be one label for each of {n_rows:,} rows; got {shape_of(found)}.")
    if found.dtype.kind not in "biufO" or any(isinstance(one, str | bytes) for one in found.tolist()):
        raise TableError(f"{name} must be 0 or 1, or false or true; got {one_line(repr(found.tolist()[0]), most=40)}.")
    known = _as_numbers(found)
    if np.isnan(known).any():
        raise TableError(f"{int(np.isnan(known).sum()):,} of {n_rows:,} rows have no {name}; leave them out first.")
    other = known[(known != 0.0) & (known != 1.0)]
    if len(other):
        raise TableError(f"{name} must be 0 or 1, or false or true; got {other[0]:g}.")
    return np.asarray(known == 1.0)


def _as_numbers(labels: NDArray[Any]) -> Array:
    """Return labels as numbers; what is none, None included, is NaN."""
    if labels.dtype.kind != "O":
        return np.asarray(labels, dtype=float)
    plain = (one if isinstance(one, bool | int | float | np.number | np.bool_) else math.nan for one in labels)
    return np.fromiter(plain, dtype=float, count=len(labels))


def existing_file(path: str | os.PathLike[str]) -> Path:
    """Return the path if it is a readable file; a folder or nothing at all is an error."""
    found = Path(path)
    if found.is_dir():
        raise TableError(f"{found} is a folder; a file was expected.")
    if not found.exists():
        raise TableError(f"There is no file {found}.")
    if not found.is_file():
        raise TableError(f"{found} is not a regular file; a pipe, for example, cannot be read twice.")
    if not os.access(found, os.R_OK):
        raise TableError(f"{found} cannot be read: permission denied.")
    return found


def real_path(path: str | os.PathLike[str]) -> Path:
    """Return the path behind all links, which need not be there; links that lead in a circle are an error."""
    try:
        found = Path(path).resolve()
        circle = False
        os.stat(found)  # Python 3.13 resolves a circle to itself
    except RuntimeError:
        circle = True
    except OSError as error:
        circle = error.errno == errno.ELOOP
    if circle:
        raise TableError(f"{path} is a link that leads back to itself; give the name of a file.")
    return found


def keywords_only(init: Callable[..., None]) -> Callable[..., None]:
    """Let a constructor whose arguments are keyword-only take them by position for one more release, with a warning."""
    names = [name for name in inspect.signature(init).parameters if name != "self"]

    @wraps(init)
    def checked(self: Any, *args: Any, **given: Any) -> None:
        by_place = dict(zip(names, args, strict=False))
        if len(args) > len(names) or by_place.keys() & given.keys():
            raise TypeError(f"{type(self).__name__} takes every argument once and by name, for example {names[0]}=...")
        if args:
            shown = ", ".join(f"{name}=..." for name in by_place)
            warn_user(
                f"Give arguments by name: {type(self).__name__}({shown}). vecuq 0.3 will refuse them by position.",
                FutureWarning,
            )
        init(self, **by_place, **given)

    return checked


def warn_user(message: object, category: type[Warning]) -> None:
    """Warn at the line outside vecuq and scikit-learn that led here: that is where the reader can do something."""
    level, frame = 2, sys._getframe(1)
    while frame.f_back is not None and frame.f_globals.get("__name__", "").startswith(("vecuq.", "sklearn.")):
        level, frame = level + 1, frame.f_back
    warnings.warn(str(message), category, stacklevel=level)


def shape_of(data: Any) -> str:
    """Describe an array for an error message."""
    return f"shape {getattr(data, 'shape', None)} and dtype {getattr(data, 'dtype', None)}"


def from_packages(group: str, kind: type[_Kind], refused: Callable[[_Kind], bool]) -> Iterator[_Kind]:
    """Yield what installed packages add through the entry points of ``group``; warn of all that is no use."""
    for point in entry_points(group=group):
        try:
            added = point.load()
        except Exception as error:  # a broken package must not take ours down
            warn_user(f"The entry point {point.name!r} of {group} failed: {error}", VecuqWarning)
            continue
        if isinstance(added, kind) and not refused(added):
            yield added
        else:
            what = f"The entry point {point.name!r} of {group} is no {kind.__name__} of a new name."
            warn_user(what, VecuqWarning)
