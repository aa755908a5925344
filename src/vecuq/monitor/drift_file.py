"""Saved counts of drift: the model, and what is counted against its held-back rows."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from msgspec import Struct

from vecuq._check import Array
from vecuq._files import NOT_NEGATIVE, Count, Numbers, check_arrays, checked_header
from vecuq.monitor.drift_counts import DriftCounts

KIND = "drift"


class DriftHeader(Struct):
    """What the header of counts states."""

    n_rows: Count


def parts_of_drift(counts: DriftCounts) -> tuple[str, dict[str, Any], dict[str, Array]]:
    """Return kind, header and arrays of a file that holds counts."""
    model: Any = np.frombuffer(counts.ranker.to_bytes(), dtype=np.uint8)
    arrays: dict[str, Any] = {"beyond": counts.beyond, "scored": counts.n_scored, "model": model}
    return KIND, {"n_rows": counts.n_rows}, arrays


def drift_of(header: dict[str, Any], arrays: dict[str, Any], load: Callable[[bytes], Any]) -> DriftCounts:
    """Put counts together again; raise if they are not those of the model, or contradict each other."""
    known = checked_header(header, DriftHeader)
    check_arrays(arrays, {"model": Numbers("bytes", dtype="uint8")})
    made = DriftCounts(load(arrays["model"].tobytes()))
    streams, _, levels = made.beyond.shape
    table = {
        "beyond": Numbers(f"{streams} 2 {levels}", NOT_NEGATIVE, dtype="int64"),
        "scored": Numbers(f"{streams}", NOT_NEGATIVE, dtype="int64"),
    }
    check_arrays(arrays, table)
    if len(arrays) != 3:
        raise ValueError("there are other arrays than counts and model")
    _check_counts(made, arrays["beyond"], arrays["scored"], known.n_rows)
    made.beyond, made.n_scored, made.n_rows = arrays["beyond"], arrays["scored"], known.n_rows
    return made


def _check_counts(made: DriftCounts, beyond: Any, scored: Any, n_rows: int) -> None:
    """Raise if more rows lie beyond a score than beyond one that is less far out, or than there are."""
    if (scored > n_rows).any() or (scored[0] > scored[1:]).any():
        raise ValueError("more rows have a score than there are")
    if (beyond[:, :, 1:] > beyond[:, :, :-1]).any() or (beyond.max(axis=(1, 2)) > scored).any():
        raise ValueError("more rows lie further out than less far")
    if (beyond[:, :, 0].sum(axis=1) > scored).any():
        raise ValueError("rows lie beyond both ends")
    for k, ranks in enumerate(made.ranks.values()):
        if beyond[k, :, len(ranks) :].any():
            raise ValueError("rows are counted beyond the ranks")
