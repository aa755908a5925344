"""What a saved partial fit must be: its rows lie inside what it states of them."""

from __future__ import annotations

from typing import Any

from msgspec import Struct

from vecuq._check import Array, one_of, unique_names
from vecuq._files import SORTED, Count, Numbers, check_arrays, refuse
from vecuq.conformal import MOST_HELD
from vecuq.ranker.model_sense import WeightsHeader
from vecuq.ranker.partial import FEW, PARTIAL_MISSING
from vecuq.ranker.sampled import MOST_SAMPLED
from vecuq.ranker.settings import Settings
from vecuq.ranker.sketch_sense import PRINTS, SketchHeader, check_prints, check_sketch
from vecuq.ranker.stream_nodes import stream_nodes

RESTS = ("sketch", "sample")


class PartialHeader(Struct):
    """What the header of a partial fit states, and what its fields say of each other."""

    columns: tuple[str, ...] | None
    flipped: tuple[str, ...] | None
    flip: tuple[str, ...] | None
    settings: dict[str, Any]
    missing: str
    part: Count
    n_seen: Count
    n_dropped: Count
    held_by: str | None
    cut: str
    few: bool
    sample_only: bool
    rest: str | None
    rest_count: Count
    ranges: dict[str, tuple[float, float]] | None = None
    weights: WeightsHeader | None = None

    def __post_init__(self) -> None:
        unique_names(self.columns or ())
        one_of("missing", self.missing, PARTIAL_MISSING)
        if self.held_by is not None:
            one_of("held_by", self.held_by, ("place", "id"))
        if self.rest is not None:
            one_of("rest", self.rest, RESTS)
        if not set(self.flipped or ()) <= set(self.columns or ()):
            raise ValueError("the flipped columns are not among the columns")
        if (self.rest is None) != (self.rest_count == 0) or (self.few and self.rest is not None):
            raise ValueError(f"it states {self.rest_count:,} rows in {self.rest or 'neither sketch nor sample'}")
        if not 0 <= int(self.cut, 16) <= 2**64:
            raise ValueError("its cut is not that of a hash")


def check_partial(known: PartialHeader, settings: Settings, arrays: dict[str, Array]) -> None:
    """Raise ValueError if an array of a partial fit is not what it must be, by itself or beside the others."""
    if isinstance(settings.holdback, str):
        raise ValueError("holdback must be a share")
    most = FEW if known.few else MOST_HELD
    n_rows = _check_rows("rows", known, arrays, most) if "rows.hashes" in arrays else 0
    if known.columns is None and (n_rows or known.rest):
        raise ValueError("there are rows, and no columns")
    if not known.few and n_rows and int(arrays["rows.hashes"][-1]) >= int(known.cut, 16):
        raise ValueError("a row is held back whose hash is too large")
    if known.rest == "sketch":
        header = SketchHeader(known.columns or (), known.flipped or (), known.rest_count)
        check_sketch(header, arrays)
        nodes = None if known.sample_only else stream_nodes(settings, len(header.columns))
        if nodes is None or arrays["moments"].shape[0] != nodes + 2 * (known.ranges is not None):
            raise ValueError(f"'moments' has {arrays['moments'].shape[0]} nodes, which these settings do not take")
    elif known.rest == "sample":
        if not known.sample_only and stream_nodes(settings, len(known.columns or ())) is not None:
            raise ValueError("there is a sample where a sketch would do")
        _check_sample(known, arrays)


def _check_rows(name: str, known: PartialHeader, arrays: dict[str, Array], most: int) -> int:
    table = {f"{name}.hashes": Numbers("rows", SORTED, dtype="uint64"), f"{name}.values": Numbers("rows columns")}
    n_rows = check_arrays(arrays, table, columns=len(known.columns or ()))["rows"]
    if n_rows > most:
        raise ValueError(f"{name!r} holds {n_rows:,} rows; {most:,} is the most")
    return n_rows


def _check_sample(known: PartialHeader, arrays: dict[str, Array]) -> None:
    n_rows = _check_rows("sample", known, arrays, MOST_SAMPLED)
    if n_rows != min(known.rest_count, MOST_SAMPLED):
        raise ValueError(f"'sample' holds {n_rows:,} of {known.rest_count:,} rows")
    check_arrays(
        arrays, {"seen_low": Numbers("columns"), "seen_high": Numbers("columns")}, columns=len(known.columns or ())
    )
    values = arrays["sample.values"]
    outside = (values < arrays["seen_low"]) | (values > arrays["seen_high"])
    refuse("sample.values", "inside the range of all rows", outside, values.size)
    if PRINTS not in arrays:
        raise ValueError(f"{PRINTS!r} is absent")
    check_prints(PRINTS, arrays, known.rest_count)
