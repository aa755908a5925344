"""Files that are small only on disk ask a reader for gigabytes: refused in one line, in bounded memory."""

import gzip
import io
import struct
import sys
import zlib

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hunting import bounded
from manners import check_manners, run_command

MEBIBYTE = 2**20


def parquet_of_one_text():
    """A parquet file of a hundred thousand rows that share one text of ten million letters."""
    n_rows = 100_000
    note = pa.DictionaryArray.from_arrays(pa.array([0] * n_rows, pa.int32()), pa.array(["x" * 10_000_000]))
    score = pa.array([0.5] * n_rows)
    sink = io.BytesIO()
    # Without the schema of Arrow the text comes back as plain text, copied into every row.
    table = pa.table({"entropy": score, "knn": score, "note": note})
    pq.write_table(table, sink, compression="zstd", store_schema=False)
    return sink.getvalue()


def arrow_of_one_text():
    """A feather file with a text column of 1,280 MiB, packed by zstd."""
    ends = np.array([0, 640, 1280]) * MEBIBYTE
    text = pa.Array.from_buffers(pa.large_string(), 2, [None, pa.py_buffer(ends), pa.py_buffer(bytes(1280 * MEBIBYTE))])
    sink = io.BytesIO()
    table = pa.table({"entropy": [0.5, 0.5], "knn": [0.5, 0.5], "note": text})
    with pa.ipc.new_file(sink, table.schema, options=pa.ipc.IpcWriteOptions(compression="zstd")) as writer:
        writer.write_table(table)
    return sink.getvalue()


def npz_of_zeros():
    """An npz file of two arrays of a gigabyte of zeros each: packed once, and repeated."""
    times, n_rows = 1_068, 1_068 * MEBIBYTE // 8
    head = io.BytesIO()
    np.lib.format.write_array_header_1_0(head, {"descr": "<f8", "fortran_order": False, "shape": (n_rows,)})
    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    begun = packer.compress(head.getvalue()) + packer.flush(zlib.Z_FULL_FLUSH)
    block = packer.compress(bytes(MEBIBYTE)) + packer.flush(zlib.Z_FULL_FLUSH)
    data = begun + block * times + zlib.compressobj(9, zlib.DEFLATED, -15).flush()
    size = len(head.getvalue()) + times * MEBIBYTE
    body, directory = b"", b""
    for name in (b"entropy.npy", b"knn.npy"):
        facts = struct.pack("<HHHHHIIIHH", 20, 0, 8, 0, 33, 1, len(data), size, len(name), 0)
        directory += b"PK\x01\x02\x14\x00" + facts + struct.pack("<HHHII", 0, 0, 0, 0, len(body)) + name
        body += b"PK\x03\x04" + facts + name + data
    return body + directory + b"PK\x05\x06" + struct.pack("<HHHHIIH", 0, 0, 2, 2, len(directory), len(body), 0)


def one_line(begin):
    """A packed text whose first row is 600 MiB long."""
    return gzip.compress(begin) + gzip.compress(b"5" * MEBIBYTE) * 600


BOMBS = {  # by the name of the file that each would be
    "bomb.parquet": parquet_of_one_text,
    "bomb.feather": arrow_of_one_text,
    "bomb.npz": npz_of_zeros,
    "bomb.csv.gz": lambda: one_line(b"entropy,knn\n0."),
    "bomb.jsonl.gz": lambda: one_line(b'{"entropy": 0.5, "knn": 0.'),
}


@pytest.mark.skipif(sys.platform != "linux", reason="bounding the memory of a process needs Linux")
@pytest.mark.parametrize("name", BOMBS)
def test_a_file_that_is_small_only_on_disk_is_refused_in_bounded_memory(name, tmp_path, ranker):
    ranker.save(tmp_path / "model.vecuq")
    (tmp_path / name).write_bytes(BOMBS[name]())
    words = ("score", "model.vecuq", name, "-o", "out.csv")
    with bounded(mib=512):
        done = run_command(words, tmp_path)
    check_manners(done, words)
    assert done.code == 1
