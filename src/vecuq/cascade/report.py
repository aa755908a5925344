"""What a cascade says of one row, and what it saves on many."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from vecuq._check import Array
from vecuq.cascade.order import Step


@dataclass(frozen=True)
class Decision:
    """What a cascade says of one row, from which columns, at what cost."""

    flagged: bool
    computed: tuple[str, ...]  # in the order in which they were asked for
    cost: float
    lower: float  # the score of the full row lies between these two; NaN if a value is missing
    upper: float


@dataclass(frozen=True, eq=False)
class Savings:
    """What a cascade would have saved on recorded rows."""

    flagged: NDArray[np.bool_]  # (rows,)
    cost: Array  # (rows,)
    n_computed: NDArray[np.int64]  # (rows,), columns
    order: tuple[Step, ...]
    share_saved: float  # of the cost of every column that matters, in every row
    n_different: int  # rows that `Ranker.flag` decides otherwise: 0 of the complete ones where the bounds hold
    n_cleared_incomplete: int  # of these, rows cleared before a value that is missing was asked for
