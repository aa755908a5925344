"""Which rows were decided before, and how, by a hash of their ids: so that a retry does not count twice."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import islice

# What is known of a row, as bits.
ACCEPTED, AUDITED, LABELLED, EARLIER = 1, 2, 4, 8
# So many rows are remembered, the latest; a state grows by 17 bytes for each.
MOST_ROWS = 100_000


@dataclass
class Memory:
    """What is known of the latest rows, by the hash of their ids, in the order in which they came."""

    codes: dict[bytes, int] = field(default_factory=dict)

    def add(self, rows: dict[bytes, int]) -> None:
        """Remember rows, and forget the earliest beyond ``MOST_ROWS``."""
        for digest, code in rows.items():
            self.codes.pop(digest, None)
            self.codes[digest] = code
        for oldest in list(islice(self.codes, max(0, len(self.codes) - MOST_ROWS))):
            del self.codes[oldest]

    def mark(self, digests: list[bytes], bit: int) -> None:
        """Note something further of rows that are remembered."""
        for digest in digests:
            self.codes[digest] |= bit
