"""Files that are small only on disk: a few kilobytes that ask a reader for gigabytes."""

from __future__ import annotations

import gzip
import io
import struct
import zlib
from collections.abc import Callable
from functools import lru_cache

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

_MEBIBYTE = 2**20


@lru_cache
def parquet_of_one_text() -> bytes:
    """Return a parquet file of a hundred thousand rows that share one text of ten million letters."""
    n_rows = 100_000
    note = pa.DictionaryArray.from_arrays(pa.array([0] * n_rows, pa.int32()), pa.array(["x" * 10_000_000]))
    score = pa.array([0.5] * n_rows)
    sink = io.BytesIO()
    # Without the schema of Arrow the text comes back as plain text, copied into every row.
    pq.write_table(
        pa.table({"entropy": score, "knn": score, "note": note}), sink, compression="zstd", store_schema=False
    )
    return sink.getvalue()


@lru_cache
def arrow_of_one_text() -> bytes:
    """Return a feather file with a text column of 1,280 MiB, packed by zstd."""
    ends = np.array([0, 640, 1280]) * _MEBIBYTE
    # Zeros that are only read take no memory.
    parts = [None, pa.py_buffer(ends), pa.py_buffer(bytes(1280 * _MEBIBYTE))]
    text = pa.Array.from_buffers(pa.large_string(), 2, parts)
    sink = io.BytesIO()
    table = pa.table({"entropy": [0.5, 0.5], "knn": [0.5, 0.5], "note": text})
    with pa.ipc.new_file(sink, table.schema, options=pa.ipc.IpcWriteOptions(compression="zstd")) as writer:
        writer.write_table(table)
    return sink.getvalue()


@lru_cache
def npz_of_zeros() -> bytes:
    """Return an npz file of two arrays of a gigabyte of zeros each."""
    n_rows = 140_000_000
    head = io.BytesIO()
    np.lib.format.write_array_header_1_0(head, {"descr": "<f8", "fortran_order": False, "shape": (n_rows,)})
    return _zip_of_zeros({f"{name}.npy": head.getvalue() for name in ("entropy", "knn")}, n_bytes=8 * n_rows)


def _zip_of_zeros(heads: dict[str, bytes], *, n_bytes: int) -> bytes:
    """Return a zip archive whose members are a head and many zeros; the zeros are packed once and repeated."""
    times = n_bytes // _MEBIBYTE
    body, directory = b"", b""
    for name, head in heads.items():
        packer = zlib.compressobj(9, zlib.DEFLATED, -15)
        begun = packer.compress(head) + packer.flush(zlib.Z_FULL_FLUSH)
        block = packer.compress(bytes(_MEBIBYTE)) + packer.flush(zlib.Z_FULL_FLUSH)
        data = begun + block * times + zlib.compressobj(9, zlib.DEFLATED, -15).flush()
        size = len(head) + times * _MEBIBYTE
        # The checksum is wrong, which a reader sees only after it has unpacked everything.
        facts = struct.pack("<HHHHHIIIHH", 20, 0, 8, 0, 33, 1, len(data), size, len(name), 0)
        directory += b"PK\x01\x02\x14\x00" + facts + struct.pack("<HHHII", 0, 0, 0, 0, len(body)) + name.encode()
        body += b"PK\x03\x04" + facts + name.encode() + data
    end = struct.pack("<HHHHIIH", 0, 0, len(heads), len(heads), len(directory), len(body), 0)
    return body + directory + b"PK\x05\x06" + end


@lru_cache
def csv_of_one_line() -> bytes:
    """Return a packed csv file whose first row is a gigabyte long."""
    return gzip.compress(b"entropy,knn\n0.") + gzip.compress(b"5" * _MEBIBYTE) * 1000


@lru_cache
def json_of_one_line() -> bytes:
    """Return packed JSON lines of which the first is a gigabyte long."""
    return gzip.compress(b'{"entropy": 0.5, "knn": 0.') + gzip.compress(b"5" * _MEBIBYTE) * 1000


# By the name of the file that each would be.
BOMBS: dict[str, Callable[[], bytes]] = {
    "bomb.parquet": parquet_of_one_text,
    "bomb.feather": arrow_of_one_text,
    "bomb.npz": npz_of_zeros,
    "bomb.csv.gz": csv_of_one_line,
    "bomb.jsonl.gz": json_of_one_line,
}
