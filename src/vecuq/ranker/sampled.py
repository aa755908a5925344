"""Sampled: a random sample of the map's rows, where a sketch of them cannot serve."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from vecuq._check import Array
from vecuq.ranker.hashed_rows import HashedRows
from vecuq.table import Fingerprints

# A share of the rows is then known to 0.3 points, and they take a few megabytes.
MOST_SAMPLED = 100_000


@dataclass(frozen=True, eq=False)
class Sampled:
    """Count, ranges and fingerprints of all rows, and those rows that have the smallest hashes."""

    count: int
    seen_low: Array
    seen_high: Array
    rows: HashedRows
    prints: Fingerprints

    @staticmethod
    def of(rows: HashedRows) -> Sampled:
        """Take the sample of rows, at least one."""
        low, high = rows.values.min(axis=0), rows.values.max(axis=0)
        return Sampled(len(rows), low, high, rows.cut(MOST_SAMPLED)[0], Fingerprints.of(rows.values))

    def __add__(self, other: Sampled) -> Sampled:
        """Return the sample of both sets of rows."""
        return Sampled(
            self.count + other.count,
            np.minimum(self.seen_low, other.seen_low),
            np.maximum(self.seen_high, other.seen_high),
            (self.rows + other.rows).cut(MOST_SAMPLED)[0],
            self.prints + other.prints,
        )
