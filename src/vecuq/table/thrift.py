"""Structs of Thrift's compact protocol, in which parquet writes its footer and the headers of its pages.

Bytes that are no such struct raise IndexError or TypeError.
"""

from __future__ import annotations

from typing import Any

_MOST_DEPTH = 16


class Long(int):
    """A number of 64 bits. Arrow skips a field of another width than it expects, so the two must not be confused."""


def read_struct(data: memoryview, at: int = 0, depth: int = 0) -> tuple[dict[int, Any], int]:
    """Return the fields of a struct by number, and where it ends.

    Numbers of 32 bits come as int, those of 64 as :class:`Long`, structs as dicts, lists as lists; anything else is
    skipped, and comes as None.

    Examples
    --------
    >>> read_struct(memoryview(bytes([0x15, 6, 0x16, 8, 0])))
    ({1: 3, 2: 4}, 5)
    """
    if depth > _MOST_DEPTH:
        raise TypeError("no struct of parquet is as deep")
    fields: dict[int, Any] = {}
    number = 0
    while head := data[at]:
        at += 1
        if head >> 4:
            number += head >> 4
        else:
            number, at = _whole(data, at)
        if head & 15 in (1, 2):  # true and false take no byte of their own
            fields[number] = None
        else:
            fields[number], at = _value(data, at, head & 15, depth)
    return fields, at + 1


def _value(data: memoryview, at: int, kind: int, depth: int) -> tuple[Any, int]:
    if kind in (5, 6):
        number, at = _whole(data, at)
        return number if kind == 5 else Long(number), at
    if kind == 12:
        return read_struct(data, at, depth + 1)
    if kind in (9, 10):  # list, set
        return _list(data, at, depth + 1)
    return None, _end(data, at, kind)


def _end(data: memoryview, at: int, kind: int) -> int:
    """Return where a value ends that nobody needs."""
    if kind == 4:  # 16 bits
        return _varint(data, at)[1]
    if kind == 8:  # bytes
        length, at = _varint(data, at)
        return at + length
    if kind in (1, 2, 3, 7):  # truths in a list, a byte, a double
        return at + (8 if kind == 7 else 1)
    raise TypeError("parquet writes no maps")


def _list(data: memoryview, at: int, depth: int) -> tuple[list[Any], int]:
    size, kind, at = data[at] >> 4, data[at] & 15, at + 1
    if size == 15:
        size, at = _varint(data, at)
    found = []
    for _ in range(size):
        one, at = _value(data, at, kind, depth)
        if at > len(data):
            raise IndexError("the list is cut short")
        found.append(one)
    return found, at


def _whole(data: memoryview, at: int) -> tuple[int, int]:
    number, at = _varint(data, at)
    return (number >> 1) ^ -(number & 1), at


def _varint(data: memoryview, at: int) -> tuple[int, int]:
    number = shift = 0
    while True:
        byte = data[at]
        number |= (byte & 127) << shift
        at, shift = at + 1, shift + 7
        if byte < 128:
            return number, at
        if shift > 63:
            raise TypeError("a number of more than 64 bits")
