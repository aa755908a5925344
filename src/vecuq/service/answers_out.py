"""From columns of numbers to the rows of a JSON answer."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import repeat
from typing import Any

import numpy as np
from msgspec import UNSET
from numpy.typing import NDArray

from vecuq.service.recorder import Decided
from vecuq.service.row_scoring import ScoredColumns
from vecuq.service.wire import RowOut

Flags = NDArray[np.bool_]


def rows_out(
    scored: ScoredColumns, ids: Sequence[str | None], columns: Sequence[str], decided: Decided | None = None
) -> list[RowOut]:
    """Return one row of the answer per row; NaN becomes null when it is written."""
    accept = scored.accept if decided is None or decided.accept is None else decided.accept
    audit = None if decided is None else decided.audit
    return list(
        map(
            RowOut,
            [UNSET if one is None else one for one in ids],
            scored.uncertainty.tolist(),
            _listed(scored.p_value),
            _listed(scored.flagged),
            _listed(accept),
            _listed(scored.p_wrong),
            _listed(audit),
            repeat(UNSET) if scored.why is None else scored.why,
            repeat(UNSET) if scored.contributions is None else _by_name(scored.contributions, columns),
        )
    )


def _listed(column: Any) -> Iterable[Any]:
    return repeat(UNSET) if column is None else column.tolist()


def _by_name(contributions: Any, columns: Sequence[str]) -> list[dict[str, float]]:
    return [dict(zip(columns, row, strict=True)) for row in contributions.tolist()]
