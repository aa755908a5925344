"""Recorder: what the process that scores hands to the process that keeps; in one process they are the same.

One process owns the database, the live gates and the monitors; the parent of several workers sums their metrics. The
processes that score reach the owner through this protocol, directly (one worker) or over a local socket (several).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, Protocol

import msgspec
import numpy as np
from numpy.typing import NDArray

from vecuq._check import Array


class ScoredRows(msgspec.Struct, frozen=True):
    """Rows as they were scored, of one model: what is logged, watched for drift and drawn for the audit."""

    model: str
    checksum: str  # of the file that scored them
    columns: tuple[str, ...]
    ids: Sequence[str | None]  # None: the row has no id, is watched for drift and not kept
    values: Array  # (rows, columns), as they came
    uncertainty: Array
    p_value: Array | None
    accept: NDArray[np.bool_] | None
    p_wrong: Array | None
    by: Sequence[str | None] | None = None
    texts: Sequence[str | None] | None = None  # of answers, as JSON: question, answer, samples

    def some(self, which: slice | NDArray[np.bool_]) -> ScoredRows:
        """Return some of the rows."""
        places = np.arange(len(self.ids))[which]

        def part(column: Any) -> Any:
            if column is None or isinstance(column, np.ndarray):
                return None if column is None else column[which]
            return [column[k] for k in places]

        names = ("ids", "values", "uncertainty", "p_value", "accept", "p_wrong", "by", "texts")
        return msgspec.structs.replace(self, **{name: part(getattr(self, name)) for name in names})


class Recorded(msgspec.Struct, frozen=True):
    """The answer to the client about each row: a row that came before keeps its decision."""

    accept: NDArray[np.bool_] | None
    audit: NDArray[np.bool_] | None  # None: this model has no live gate


class Feedback(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What somebody found out about one row."""

    id: str
    kind: Literal["audit", "review"] = "review"
    correct: bool | None = None
    ood: bool | None = None
    comment: str | None = None
    who: str | None = None
    model: str | None = None  # None: the default model


class FeedbackTaken(msgspec.Struct, frozen=True):
    """What became of one feedback, which is on disk.

    ``scored`` is False if no row with this id is in the log: the id may be misspelt, or the row was not kept.
    """

    id: str
    status: Literal["stored", "known", "replaced"]  # known: the same was there already
    scored: bool  # whether a scored row with this id is in the log
    counted: bool  # whether it counts towards the bound of the live gate


class Recorder(Protocol):
    """Keeps what was scored and found out."""

    async def decided(self, rows: ScoredRows) -> Recorded:
        """Take rows that have ids; they are on disk when this returns."""

    def watched(self, rows: ScoredRows) -> None:
        """Take rows for the drift monitor and the live view; never waits, and drops rows rather than grow."""

    async def feedback(self, found: Sequence[Feedback]) -> list[FeedbackTaken]:
        """Take feedback, all or none of it; it is on disk when this returns."""

    async def query(self, what: str, **about: Any) -> Any:
        """Answer a question of the page or of a client: ``queue``, ``live``, ``export``, ``row``."""
