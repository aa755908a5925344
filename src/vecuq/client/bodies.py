"""Rows and replies as JSON: plain numbers, and nothing that JSON would silently change."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import msgspec
import numpy as np

from vecuq.errors import TableError


def is_rows(data: Any) -> bool:
    """Whether data are a list of dicts; a list of anything else is refused."""
    if isinstance(data, Mapping):
        raise TableError("rows must be a list of dicts or a table; got one dict. Put it into a list: [row].")
    if not isinstance(data, Sequence) or isinstance(data, str | bytes):
        return False
    other = next((row for row in data if not isinstance(row, Mapping)), None)
    if other is not None:
        raise TableError(f"rows must be a list of dicts; one of them is a {type(other).__name__}.")
    return True


def encoded_rows(rows: Iterable[Mapping[str, Any]]) -> bytes:
    """Return rows as a body. NaN becomes null, which is missing; JSON has no infinity."""
    listed = [dict(row) for row in rows]
    for number, row in enumerate(listed):
        for name, value in row.items():
            if isinstance(value, float | np.floating) and math.isinf(value):
                raise TableError(
                    f"Row {number:,} has an infinite value in {name!r}, which JSON cannot hold. Send a table of "
                    f"pandas, polars or pyarrow, or leave the value out."
                )
    return encoded({"rows": listed})


def encoded(body: Any) -> bytes:
    """Return anything made of dicts, lists, texts and numbers as JSON."""
    try:
        return msgspec.json.encode(body, enc_hook=_plain)
    except TypeError as error:
        raise TableError(f"This cannot be sent as JSON: {error}") from None


def _plain(value: Any) -> Any:
    """Return a number or an array of NumPy, or an object of an SDK, as JSON holds it."""
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, np.ndarray):
        return value.tolist()
    if isinstance(value, Mapping):
        return dict(value)
    if hasattr(value, "model_dump"):
        return value.model_dump(mode="json")
    raise TypeError(f"{type(value).__name__} is neither a number nor a text")
