"""What is handed to the recorder: rows with an id are decided by it, the others are watched."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from vecuq._check import Array
from vecuq.decide import Decided
from vecuq.service.context import Service
from vecuq.service.recorder import Recorded, ScoredRows
from vecuq.service.served import Snapshot


def counted(service: Service, snapshot: Snapshot, scored: Decided) -> None:
    """Count rows for the metrics."""
    missing = int(np.isnan(scored.uncertainty).sum())
    service.counts.rows(
        snapshot.name,
        rows=len(scored.uncertainty),
        missing=missing,
        flagged=None if scored.flagged is None else int(scored.flagged.sum()) - missing,
        accepted=None if scored.accept is None else int(scored.accept.sum()),
    )


async def kept(
    service: Service,
    snapshot: Snapshot,
    values: Array,
    scored: Decided,
    ids: Sequence[str | None],
    *,
    by: Sequence[Any] | None = None,
    texts: Sequence[str | None] | None = None,
) -> Recorded | None:
    """Hand rows to the recorder, if there is one; what it decides about those with an id is on disk then."""
    if service.recorder is None:
        return None
    rows = ScoredRows(
        model=snapshot.name,
        checksum=snapshot.checksum,
        columns=snapshot.columns,
        ids=ids,
        values=values,
        uncertainty=scored.uncertainty,
        p_value=scored.p_value,
        accept=scored.accept,
        p_wrong=scored.p_wrong,
        by=None if by is None else [None if one is None else str(one) for one in by],
        texts=texts,
    )
    named = np.array([one is not None for one in ids], dtype=bool)
    if named.all():
        return await service.recorder.decided(rows)
    if not named.any():
        service.recorder.watched(rows)
        return None
    # First what may be refused: then nothing was watched.
    decided = await service.recorder.decided(some_of(rows, named))
    service.recorder.watched(some_of(rows, ~named))
    return _spread(decided, named, scored.accept)


def some_of(rows: ScoredRows, chosen: NDArray[np.bool_]) -> ScoredRows:
    """Return some of the rows."""

    def part(column: Any) -> Any:
        if column is None or isinstance(column, np.ndarray):
            return None if column is None else column[chosen]
        return [one for one, taken in zip(column, chosen, strict=True) if taken]

    names = ("ids", "values", "uncertainty", "p_value", "accept", "p_wrong", "by", "texts")
    return msgspec.structs.replace(rows, **{name: part(getattr(rows, name)) for name in names})


def _spread(decided: Recorded, named: NDArray[np.bool_], accept: NDArray[np.bool_] | None) -> Recorded:
    """Return decisions about all rows; one without an id is not drawn for an audit."""
    if decided.accept is not None and accept is not None:
        accept = accept.copy()
        accept[named] = decided.accept
    audit = None
    if decided.audit is not None:
        audit = np.zeros(len(named), dtype=bool)
        audit[named] = decided.audit
    return Recorded(accept, audit)
