"""Rows that come together count once: which groups of rows a monitor has seen."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vecuq.errors import TableError

# So many groups are remembered, the latest; a state grows by 16 bytes for each.
MOST_GROUPS = 100_000
_DIGEST = 16


@dataclass
class FirstRows:
    """The groups that were seen, by a hash of their names, in the order in which they were last seen."""

    seen: dict[bytes, None] = field(default_factory=dict)

    def of(self, groups: Any, n_rows: int) -> NDArray[np.bool_]:
        """Return which rows are the first of their group, and remember the groups."""
        names = _names(groups, n_rows)
        first = np.zeros(n_rows, dtype=bool)
        for place, digest in enumerate(_digests(names)):
            first[place] = digest not in self.seen
            self.seen.pop(digest, None)
            self.seen[digest] = None
        for oldest in list(islice(self.seen, max(0, len(self.seen) - MOST_GROUPS))):
            del self.seen[oldest]
        return first

    def array(self) -> NDArray[np.uint8]:
        """Return everything as one array, to be saved."""
        return np.frombuffer(b"".join(self.seen), dtype=np.uint8).reshape(-1, _DIGEST)

    @staticmethod
    def from_array(hashes: Any) -> FirstRows:
        """Return what :meth:`array` gave; nothing, as in states of earlier versions, are no groups."""
        if hashes is None:
            return FirstRows()
        if hashes.dtype != np.uint8 or hashes.shape[1:] != (_DIGEST,) or len(hashes) > MOST_GROUPS:
            raise ValueError("the groups that were seen have the wrong shape")
        made = FirstRows(dict.fromkeys(row.tobytes() for row in hashes))
        if len(made.seen) < len(hashes):
            raise ValueError("a group that was seen comes twice")
        return made


def _names(groups: Any, n_rows: int) -> list[str]:
    values = np.asarray(groups, dtype=object)
    if values.shape != (n_rows,):
        raise TableError(f"groups must name the group of every row: {n_rows:,} rows, and shape {values.shape}.")
    missing = sum(value is None or value != value for value in values)  # noqa: PLR0124 - NaN differs from itself
    if missing:
        raise TableError(f"{missing:,} of {n_rows:,} rows have no group; fill it in, or leave these rows out.")
    return [str(value) for value in values]


def _digests(names: Iterable[str]) -> list[bytes]:
    return [hashlib.blake2b(name.encode("utf-8", "surrogatepass"), digest_size=_DIGEST).digest() for name in names]
