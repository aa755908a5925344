"""Names of rows: the same row has the same name in every file, and a draw of its own."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vecuq._check import one_line
from vecuq.errors import TableError

LONGEST = 200
# Bytes of a hash that stand for an id.
DIGEST = 16


def row_ids(ids: Any, n_rows: int | None = None) -> list[str]:
    """Return ids as texts, for 7, 7.0 and ``"7"`` are one id: csv files know no types; a row without one is an error.

    Examples
    --------
    >>> row_ids([7, 8.0, "q9"])
    ['7', '8', 'q9']
    """
    listed = [ids] if isinstance(ids, str | int) else list(ids)
    if n_rows is not None and len(listed) != n_rows:
        raise TableError(f"ids must name every row: {n_rows:,} rows, and {len(listed):,} ids.")
    return [_as_text(one, place) for place, one in enumerate(listed)]


def _as_text(one: Any, place: int) -> str:
    value = one.item() if isinstance(one, np.generic) else one
    if isinstance(value, float) and value.is_integer() and abs(value) < 2**53:
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, str | int) or value == "":
        shown = one_line(repr(one), most=40)
        raise TableError(f"An id is a text or a whole number; row {place} (counting from 0) has {shown}.")
    text = str(value)
    if len(text) > LONGEST or not text.isprintable():
        raise TableError(
            f"An id has at most {LONGEST} characters, all printable; row {place} (counting from 0) has "
            f"{one_line(repr(text), most=40)}."
        )
    return text


def hashes(ids: Iterable[str], seed: int) -> list[bytes]:
    """Return what stands for each id: 16 bytes, others for another seed."""
    key = seed.to_bytes((seed.bit_length() + 7) // 8 or 1, "little")[:64]
    return [hashlib.blake2b(name.encode(), key=key, digest_size=DIGEST).digest() for name in ids]


def drawn(digests: list[bytes], share: float) -> NDArray[np.bool_]:
    """Return which rows are drawn: each with probability ``share``, whatever else there is, and always the same."""
    if not digests:
        return np.zeros(0, dtype=bool)
    numbers = np.frombuffer(b"".join(digests), dtype="<u8").reshape(len(digests), 2)[:, 0]
    return np.asarray(numbers / 2.0**64 < share)
