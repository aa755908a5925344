"""Scored rows on their way: in pieces, with or without their values, and what they add up to."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from vecuq.service.recorder import Recorded, ScoredRows

# So many rows or bytes are decided in one piece, so that nobody waits long for the turn of the next request.
PIECE, PIECE_BYTES = 2_048, 8 * 2**20
# The live view counts p-values up to this one.
ALPHA = 0.05


class Tally(NamedTuple):
    """How many rows there were, and of what kind; None where the model says nothing of it."""

    rows: int = 0
    accepted: int | None = None
    flagged: int | None = None  # p-value at most ALPHA
    missing: int = 0  # without a score

    def plus(self, other: Tally) -> Tally:
        """Return the sum of both."""
        sums: Any = (a if b is None else b if a is None else a + b for a, b in zip(self, other, strict=True))
        return Tally(*sums)


def tally(rows: ScoredRows) -> Tally:
    """Count rows."""
    return Tally(
        len(rows.uncertainty),
        None if rows.accept is None else int(np.count_nonzero(rows.accept)),
        None if rows.p_value is None else int(np.count_nonzero(np.asarray(rows.p_value) <= ALPHA)),
        int(np.count_nonzero(np.isnan(rows.uncertainty))),
    )


def pieces(rows: ScoredRows) -> Iterator[ScoredRows]:
    """Yield rows in pieces of at most ``PIECE`` rows and about ``PIECE_BYTES`` bytes."""
    n_rows = len(rows.ids)
    size = rows.values.nbytes + sum(len(text) for text in rows.texts or () if text is not None)
    most = max(1, min(PIECE, n_rows * PIECE_BYTES // max(size, 1)))
    if n_rows <= most:
        yield rows
        return
    for start in range(0, n_rows, most):
        yield rows.some(slice(start, start + most))


def joined(parts: Sequence[Recorded]) -> Recorded:
    """Return what was decided of all pieces."""
    if len(parts) == 1:
        return parts[0]
    return Recorded(_joined([one.accept for one in parts]), _joined([one.audit for one in parts]))


def _joined(parts: Sequence[NDArray[np.bool_] | None]) -> NDArray[np.bool_] | None:
    known = [one for one in parts if one is not None]
    return np.concatenate(known) if len(known) == len(parts) else None
