"""From columns of numbers to the rows of a JSON answer."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import repeat
from typing import Any

import numpy as np
from msgspec import UNSET
from numpy.typing import NDArray

from vecuq.decide import Decided
from vecuq.service.wire import RowOut

Flags = NDArray[np.bool_]


def rows_out(
    found: Decided, ids: Sequence[str | None], columns: Sequence[str], audit: Flags | None = None
) -> list[RowOut]:
    """Return one row of the answer per row; NaN becomes null when it is written."""
    return list(
        map(
            RowOut,
            _given(ids),
            found.uncertainty.tolist(),
            _listed(found.p_value),
            _listed(found.flagged),
            _listed(found.accept),
            _listed(found.p_wrong),
            repeat(UNSET) if (refused := found.refused) is None else _given(refused),
            _listed(audit),
            repeat(UNSET) if found.why is None else found.why,
            repeat(UNSET) if found.contributions is None else _by_name(found.contributions, columns),
        )
    )


def _given(texts: Sequence[str | None]) -> list[Any]:
    return [UNSET if one is None else one for one in texts]


def _listed(column: Any) -> Iterable[Any]:
    return repeat(UNSET) if column is None else column.tolist()


def _by_name(contributions: Any, columns: Sequence[str]) -> list[dict[str, float]]:
    return [dict(zip(columns, row, strict=True)) for row in contributions.tolist()]
