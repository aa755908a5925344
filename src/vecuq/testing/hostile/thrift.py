"""Thrift's compact protocol, as much as parquet's headers and footers use: read into a tree, lied about, written."""

from __future__ import annotations

import struct as packing
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

_TRUE, _FALSE, _BYTE, _DOUBLE, _BINARY, _LIST, _SET, _STRUCT = 1, 2, 3, 7, 8, 9, 10, 12
_INTEGERS = (4, 5, 6)


@dataclass
class Value:
    """One value and its type; the value of a struct is its fields by number, that of a list its elements."""

    kind: int
    content: Any
    fields: dict[int, Value] = field(default_factory=dict)


class _Reader:
    def __init__(self, data: bytes, start: int) -> None:
        self.data, self.place = data, start

    def byte(self) -> int:
        self.place += 1
        return self.data[self.place - 1]

    def varint(self) -> int:
        found = shift = 0
        while True:
            byte = self.byte()
            found |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return found

    def zigzag(self) -> int:
        found = self.varint()
        return (found >> 1) ^ -(found & 1)

    def value(self, kind: int) -> Value:
        if kind in (_TRUE, _FALSE):
            return Value(kind, kind == _TRUE)
        if kind in (_LIST, _SET):
            return self._list(kind)
        if kind == _STRUCT:
            return Value(kind, None, self.struct())
        if kind == _BINARY:
            length = self.varint()
            self.place += length
            return Value(kind, self.data[self.place - length : self.place])
        if kind == _DOUBLE:
            self.place += 8
            return Value(kind, self.data[self.place - 8 : self.place])
        return Value(kind, self.byte() if kind == _BYTE else self.zigzag())

    def _list(self, kind: int) -> Value:
        head = self.byte()
        size = head >> 4 if head >> 4 < 15 else self.varint()
        of_kind = head & 15
        bools = of_kind in (_TRUE, _FALSE)
        return Value(kind, [self.value(self.byte() if bools else of_kind) for _ in range(size)])

    def struct(self) -> dict[int, Value]:
        fields: dict[int, Value] = {}
        number = 0
        while head := self.byte():
            number = number + (head >> 4) if head >> 4 else self.zigzag()
            fields[number] = self.value(head & 15)
        return fields


def parse(data: bytes, start: int = 0) -> tuple[Value, int]:
    """Return the struct that begins at a place, and the place behind it."""
    reader = _Reader(data, start)
    return Value(_STRUCT, None, reader.struct()), reader.place


def _varint(number: int) -> bytes:
    number &= (1 << 64) - 1
    out = bytearray()
    while number > 127:
        out.append(number & 127 | 128)
        number >>= 7
    return bytes([*out, number])


def _zigzag(number: int) -> bytes:
    return _varint((number << 1) ^ (number >> 63))


def spell(value: Value) -> bytes:
    """Return a value as bytes; :func:`parse` reads those of a struct."""
    if value.kind in (_TRUE, _FALSE):
        return bytes([_TRUE if value.content else _FALSE])
    if value.kind in (_LIST, _SET):
        kinds = {one.kind for one in value.content} or {_STRUCT}
        size = len(value.content)
        head = bytes([size << 4 | min(kinds)]) if size < 15 else bytes([240 | min(kinds)]) + _varint(size)
        return head + b"".join(map(spell, value.content))
    if value.kind == _STRUCT:
        return b"".join(_field(number, one) for number, one in value.fields.items()) + b"\0"
    if value.kind == _BINARY:
        return _varint(len(value.content)) + bytes(value.content)
    if value.kind == _DOUBLE:
        return bytes(value.content)
    return packing.pack("B", value.content & 255) if value.kind == _BYTE else _zigzag(value.content)


def _field(number: int, value: Value) -> bytes:
    if value.kind in (_TRUE, _FALSE):
        return bytes([_TRUE if value.content else _FALSE]) + _zigzag(number)
    return bytes([value.kind]) + _zigzag(number) + spell(value)


def leaves(value: Value, name: str = "") -> Iterator[tuple[str, Value]]:
    """Yield every number, text and list inside a value, by its path of field numbers."""
    if value.kind in _INTEGERS or value.kind in (_BINARY, _BYTE):
        yield name, value
    if value.kind in (_LIST, _SET):
        yield name, value
        for k, one in enumerate(value.content):
            yield from leaves(one, f"{name}[{k}]")
    for number, one in value.fields.items():
        yield from leaves(one, f"{name}.{number}")


def is_number(value: Value) -> bool:
    """Whether a value is a whole number."""
    return value.kind in _INTEGERS


def is_list(value: Value) -> bool:
    """Whether a value is a list."""
    return value.kind in (_LIST, _SET)
