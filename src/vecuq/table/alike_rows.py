"""Rows of JSON that all have the same keys: objects with fixed fields, twice as fast as dictionaries."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from operator import attrgetter
from typing import Any

import msgspec

from vecuq._files import MOST_COLUMNS

_MOST_TYPES = 16  # that are remembered: one of ten thousand keys takes megabytes


class AlikeRows:
    """Rows with the same keys, each once; as a sequence, a list of dictionaries."""

    def __init__(self, names: tuple[str, ...], rows: list[Any]) -> None:
        self.names, self._rows = names, rows

    def __len__(self) -> int:
        return len(self._rows)

    def __getitem__(self, some: slice) -> AlikeRows:
        return AlikeRows(self.names, self._rows[some])

    def __iter__(self) -> Iterator[dict[str, Any]]:
        for row in self._rows:
            yield dict(zip(self.names, msgspec.structs.astuple(row), strict=True))

    def cells(self, name: str) -> list[Any]:
        """Return the cells of one column."""
        return list(map(attrgetter(_field(self.names.index(name))), self._rows))


def alike_rows(block: bytes, n_lines: int, n_colons: int) -> AlikeRows | None:
    """Return the rows of a block of lines; None if they have different keys, or one of them a doubled one."""
    try:
        first = msgspec.json.decode(block[: block.find(b"\n") + 1] or block)
        # A row with a colon in a text, or a record in a cell, has more colons than keys, as one with a doubled key has.
        if type(first) is not dict or len(first) > MOST_COLUMNS or n_lines * len(first) != n_colons:
            return None
        kind = row_type(tuple(first))
        rows = None if kind is None else _decoder(kind).decode_lines(block)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return None
    return None if rows is None or len(rows) != n_lines else AlikeRows(tuple(first), rows)


@lru_cache(maxsize=_MOST_TYPES)
def row_type(names: Sequence[str]) -> type[msgspec.Struct] | None:
    """Return what rows with these keys, and no others, are read into and written from; None if there can be no such.

    Examples
    --------
    >>> msgspec.json.encode(row_type(("a b", "p"))(1.5, None))
    b'{"a b":1.5,"p":null}'
    """
    if not names:
        return None
    keys = {_field(k): name for k, name in enumerate(names)}
    try:
        # No row holds itself, so the garbage collector need not look at them.
        return msgspec.defstruct("Row", [(one, Any) for one in keys], rename=keys, forbid_unknown_fields=True, gc=False)
    except ValueError:  # a key with a quote, a backslash or a line break
        return None


@lru_cache(maxsize=_MOST_TYPES)
def _decoder(kind: type[msgspec.Struct]) -> msgspec.json.Decoder[Any]:
    return msgspec.json.Decoder(kind)


def _field(k: int) -> str:
    return f"field_{k}"
