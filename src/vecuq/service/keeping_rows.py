"""What is handed to the recorder: rows with an id are decided by it, the others are watched."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from vecuq._check import Array
from vecuq.decide import Decided
from vecuq.service.answers_out import Flags
from vecuq.service.context import Service
from vecuq.service.recorder import ScoredRows
from vecuq.service.served import Snapshot

# What holds for rows once they are recorded (one that came before keeps its decision), and which were drawn for the
# audit; None where none is drawn.
Held = tuple[Decided, Flags | None]


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
) -> Held:
    """Hand rows to the recorder, if there is one; what it decides about those with an id is on disk then."""
    if service.recorder is None:
        return scored, None
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
    if not named.any():
        service.recorder.watched(rows)
        return scored, None
    # First what may be refused: then nothing was watched.
    done = await service.recorder.decided(rows if named.all() else rows.some(named))
    if not named.all():
        service.recorder.watched(rows.some(~named))
    accept = _among(scored.accept, done.accept, named)
    return scored.accepting(accept), _among(np.zeros(len(named), dtype=bool), done.audit, named)


def _among(all_rows: Flags | None, some: Flags | None, which: Flags) -> Flags | None:
    """Return what holds for all rows, with what was said of some of them; None where nothing was."""
    if all_rows is None or some is None:
        return None
    found = all_rows.copy()
    found[which] = some
    return found
