"""What a file may ask for: every limit on tables, in one place. They bound what is held at once, never the rows."""

from __future__ import annotations

import math
import os
from collections.abc import Iterable

from vecuq.errors import SettingError, TableError

# More columns, or a longer name, than any table of scores has.
MOST_COLUMNS = 10_000
LONGEST_NAME = 1_000
# How deep lists and records inside a cell may go; Python's own functions give up near 1,000.
MOST_LEVELS = 100
# Rows are read in pieces of about this size, fewer at a time when they are large.
BATCH_BYTES = 32 * 2**20
# A line of JSON, or a row of csv.
LINE_BYTES = 16 * 2**20
ROW_BYTES = 4 * 2**20
# What a file may hold in memory at once: so many GiB, or so many times its own size. An honest file of scores is packed
# ten times at best; gzip packs zeros 1,000 times, and other encodings without end.
ROOM_GIB = 0.25
MOST_RATIO = 100
# What it may unpack to in all, as a multiple of that.
MOST_ROOMS = 16
ROOM_VARIABLE = "VECUQ_MAX_UNPACKED"


def room_for(n_bytes: int) -> int:
    """Return how many bytes a file of ``n_bytes`` may hold in memory at once."""
    return max(int(_room_gib() * 2**30), MOST_RATIO * n_bytes)


def _room_gib() -> float:
    given = os.environ.get(ROOM_VARIABLE, "")
    try:
        room = float(given or ROOM_GIB)
    except ValueError:
        room = math.nan
    if not 0 < room < 2**20:
        raise SettingError(f"The environment variable {ROOM_VARIABLE} must be a number of GiB above 0; got {given!r}.")
    return room


def refuse_bomb(place: object, needed: float, n_bytes: int) -> None:
    """Raise if a file of ``n_bytes`` asks for more memory at once than it may hold."""
    _refuse(place, needed, n_bytes, 1, "needs up to", "of memory at once")


def refuse_flood(place: object, so_far: float, n_bytes: int) -> None:
    """Raise if a file of ``n_bytes`` has unpacked to more than it may in all."""
    _refuse(place, so_far, n_bytes, MOST_ROOMS, "unpacks to more than", "in all")


def may_flood(needed: float, n_bytes: int) -> bool:
    """Whether so much is more than a file of ``n_bytes`` may unpack to in all."""
    return needed > MOST_ROOMS * room_for(n_bytes)


def _refuse(place: object, needed: float, n_bytes: int, rooms: int, needs: str, how: str) -> None:
    most = rooms * room_for(n_bytes)
    if needed > most:
        raise TableError(
            f"{place} has {_size(n_bytes)} and {needs} {_size(needed)} {how}; the limit for it is {_size(most)}. If "
            f"you trust it, set the environment variable {ROOM_VARIABLE} to {_enough(needed / rooms)} (GiB) or more."
        )


def _enough(n_bytes: float) -> int:
    return math.ceil(n_bytes / 2**30 * 1.001)


def _size(n_bytes: float) -> str:
    """Return a number of bytes as people write it."""
    units = ("bytes", "KiB", "MiB", "GiB", "TiB", "PiB")
    power = min(int(math.log2(max(n_bytes, 1)) // 10), len(units) - 1)
    value = n_bytes / 2 ** (10 * power)
    return f"{value:,.0f} {units[power]}" if not power or value >= 10 else f"{value:.1f} {units[power]}"


def refuse_width(place: object, n_columns: int) -> None:
    """Raise if a table has more columns than are read."""
    if n_columns > MOST_COLUMNS:
        raise TableError(
            f"{place} has {n_columns:,} columns; at most {MOST_COLUMNS:,} are read. Save the scores and the columns "
            f"beside them that you need."
        )


def refuse_names(place: object, names: Iterable[str]) -> None:
    """Raise for too many column names, or one that is too long to be a name."""
    listed = list(names)
    refuse_width(place, len(listed))
    for k, name in enumerate(listed):
        if len(name) > LONGEST_NAME:
            raise TableError(
                f"{place}: the name of column {k} (counting from 0), {name[:20]!r}..., has {len(name):,} characters; "
                f"at most {LONGEST_NAME:,} are read. Rename it."
            )
