"""Frames between a worker and the keeper: a length of four bytes, then msgpack; and scored rows as such."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from vecuq._check import Array
from vecuq.service.recorder import Recorded, ScoredRows
from vecuq.service.refusal import Refusal

MOST_BYTES = 64 * 2**20
_HEAD = 4
_encode, _decode = msgspec.msgpack.Encoder().encode, msgspec.msgpack.Decoder().decode
# What a worker asks for.
DECIDED, WATCHED, FEEDBACK, QUERY = range(4)


def frame(message: Sequence[Any]) -> bytes:
    """Return a message as the bytes of one frame; one that is too long is refused."""
    body = _encode(message)
    if len(body) > MOST_BYTES:
        raise Refusal(413, "too_large", f"A row with its texts has at most {MOST_BYTES // 2**20} MiB to be kept.")
    return len(body).to_bytes(_HEAD, "little") + body


async def read_frame(reader: asyncio.StreamReader) -> list[Any]:
    """Return the next message; the end of the stream, or no frame of ours, is an error of the connection."""
    length = int.from_bytes(await reader.readexactly(_HEAD), "little")
    if length > MOST_BYTES:
        raise ConnectionError(f"a frame of {length:,} bytes is too long")
    try:
        message = _decode(await reader.readexactly(length))
    except msgspec.DecodeError as error:
        raise ConnectionError(f"a frame cannot be read: {error}") from None
    if not isinstance(message, list):
        raise ConnectionError("a frame holds no message")
    return message


def packed_rows(rows: ScoredRows) -> list[Any]:
    """Return scored rows as plain values and bytes."""
    return [
        rows.model,
        rows.checksum,
        rows.columns,
        list(rows.ids),
        packed(rows.values),
        packed(rows.uncertainty),
        packed(rows.p_value),
        packed_bits(rows.accept),
        packed(rows.p_wrong),
        None if rows.by is None else list(rows.by),
        None if rows.texts is None else list(rows.texts),
    ]


def unpacked_rows(parts: Sequence[Any]) -> ScoredRows:
    """Return what :func:`packed_rows` packed."""
    model, checksum, columns, ids, values, uncertainty, p_value, accept, p_wrong, by, texts = parts
    return ScoredRows(
        model,
        checksum,
        tuple(columns),
        ids,
        unpacked(values).reshape(len(ids), len(columns)),
        unpacked(uncertainty),
        None if p_value is None else unpacked(p_value),
        unpacked_bits(accept),
        None if p_wrong is None else unpacked(p_wrong),
        by,
        texts,
    )


def packed_decided(decided: Recorded) -> list[Any]:
    """Return decisions as bytes."""
    return [packed_bits(decided.accept), packed_bits(decided.audit)]


def unpacked_decided(parts: Sequence[Any]) -> Recorded:
    """Return what :func:`packed_decided` packed."""
    return Recorded(unpacked_bits(parts[0]), unpacked_bits(parts[1]))


def packed(values: Array | None) -> bytes | None:
    """Return numbers as bytes, to the bit."""
    return None if values is None else np.ascontiguousarray(values, dtype="<f8").tobytes()


def unpacked(data: bytes) -> Array:
    """Return what :func:`packed` packed."""
    return np.frombuffer(data, dtype="<f8")


def packed_bits(values: NDArray[np.bool_] | None) -> bytes | None:
    """Return truth values as bytes."""
    return None if values is None else np.asarray(values, dtype=bool).tobytes()


def unpacked_bits(data: bytes | None) -> NDArray[np.bool_] | None:
    """Return what :func:`packed_bits` packed."""
    return None if data is None else np.frombuffer(data, dtype=bool)
