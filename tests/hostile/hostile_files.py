"""Table files of every ending, written by others than vecuq, in odd dialects, with headers that lie or wrong bytes."""

import csv
import gzip
import io
import json
import struct
import zipfile

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from damage import altered, as_json, damaged
from hostile_tables import score_tables
from hypothesis import strategies as st

ODD_CELLS = (
    *("", " ", "NA", "nan", "NULL", "-nan", "inf", "-Infinity", "1e400", "-1e400", "1e-400", "0x1F", "1_000", "1d5"),
    *("1e", "+.5", ".5", "5.", "-0", "00.5", "007", " 1 ", "1,5", "1.234,5", "0.5%", "١٢", "1\x00", "TRUE", "true"),
    *("1-1", "--1", "9" * 400, "0." + "1" * 400, "\ufeff1", "1\u00a0000", "'1", '"1"', "=1+1", "#N/A", "1e5 ", "\t1"),
)


@st.composite
def table_files(draw, ending, columns):
    """The bytes of a table file: good, odd, lying, or damaged by the byte."""
    table = draw(score_tables(columns))
    content = draw(WRITERS[ending.removesuffix(".gz")](table))
    if ending.endswith(".gz"):
        content = draw(packed(content))
    if draw(st.integers(0, 3)):
        return content
    # The footer of parquet and the directory of zip lie at the end.
    return draw(damaged(content, begin=draw(st.sampled_from((0, len(content) // 2)))))


def records_of(table):
    try:
        return table.to_pylist()
    except (ValueError, OverflowError):  # dates beyond the years of Python
        plain = [name for name in table.column_names if not pa.types.is_temporal(table[name].type)]
        return table.select(plain).to_pylist()


@st.composite
def csv_files(draw, table, separators=(",", ",", ";", "\t", "|")):
    """A table as csv: any separator, line end, quoting and encoding, some cells odd, some rows ragged."""
    cells = [["" if cell is None else str(cell) for cell in row.values()] for row in records_of(table)]
    rows = [table.column_names, *cells]
    for _ in range(draw(st.sampled_from((0, 0, 1, 2)))):
        place = draw(st.integers(0, len(rows) - 1))
        odd = draw(st.sampled_from(ODD_CELLS))
        row, way = rows[place], draw(st.sampled_from(("cell", "cell", "more", "less", "blank", "again", "gone")))
        at = draw(st.integers(0, max(len(row) - 1, 0)))
        changed = {"cell": [[*row[:at], odd, *row[at + 1 :]]], "more": [[*row, odd]], "less": [row[:-1]]}
        others = {"blank": [[], row], "again": [row, list(rows[0])], "gone": [] if len(rows) > 1 else [row]}
        rows[place : place + 1] = (changed | others)[way]
    sink = io.StringIO(newline="")
    quoting = draw(st.sampled_from((csv.QUOTE_MINIMAL, csv.QUOTE_MINIMAL, csv.QUOTE_ALL, csv.QUOTE_NONNUMERIC)))
    end, separator = draw(st.sampled_from(("\n", "\r\n", "\r"))), draw(st.sampled_from(separators))
    csv.writer(sink, delimiter=separator, quoting=quoting, lineterminator=end).writerows(rows)
    encoding = draw(st.sampled_from(("utf-8", "utf-8", "utf-8", "utf-8-sig", "latin-1", "utf-16")))
    return sink.getvalue().encode(encoding, "replace")


@st.composite
def json_lines(draw, table):
    records = json.loads(json.dumps(records_of(table), default=str))
    lines = [as_json(record) for record in records] or [b""]
    for _ in range(draw(st.sampled_from((0, 0, 1, 2)))):
        place = draw(st.integers(0, len(lines) - 1))
        wrong = as_json(draw(altered(records[place] if place < len(records) else {})))
        twice = lines[place].removesuffix(b"}") + b', "entropy": 0.25}'
        lines[place] = draw(st.sampled_from((wrong, b"", lines[place] * 2, twice)))
    start = draw(st.sampled_from((b"", b"", b"\xef\xbb\xbf", b"\n")))
    return start + draw(st.sampled_from((b"\n", b"\n", b"\r\n"))).join(lines)


@st.composite
def packed(draw, content):
    whole, half = gzip.compress(content, mtime=0), len(content) // 2
    two = gzip.compress(content[:half], mtime=0) + gzip.compress(content[half:], mtime=0)
    return draw(st.sampled_from((whole, whole, two, whole[:-3], whole + b"rubbish", whole[:-4] + b"\xff" * 4, content)))


@st.composite
def parquet_files(draw, table):
    how = {
        "compression": draw(st.sampled_from(("none", "snappy", "gzip", "zstd"))),
        "use_dictionary": draw(st.booleans()),
        "data_page_version": draw(st.sampled_from(("1.0", "2.0"))),
        "row_group_size": draw(st.sampled_from((1, 3, 1000))),
        "write_page_checksum": draw(st.booleans()),
    }
    sink = io.BytesIO()
    try:
        pq.write_table(table, sink, **how)
    except (pa.ArrowException, OSError):  # a type that parquet cannot hold
        kept = [name for name in table.column_names if pa.types.is_float64(table[name].type)]
        sink = io.BytesIO()
        pq.write_table(table.select(kept), sink, **how)
    return sink.getvalue()


@st.composite
def arrow_files(draw, table, new=pa.ipc.new_file):
    sink = io.BytesIO()
    options = pa.ipc.IpcWriteOptions(compression=draw(st.sampled_from((None, "lz4", "zstd"))))
    with new(sink, table.schema, options=options) as writer:
        writer.write_table(table, max_chunksize=draw(st.sampled_from((2, 1000))))
    return sink.getvalue()


DESCRIPTIONS = ("<f8", ">f8", "<f4", "<i8", "|b1", "<c16", "<U3", "|S2", "|V4", "<M8[s]", "<m8[ns]", "|O", "f8,f8")
SHAPES = ("(2,)", "()", "(0,)", "(4, 1)", "(-1,)", "(1000000000000,)", "(2, 2, 2)", "(True,)", "2", "(2.0,)", "('x',)")


@st.composite
def npz_files(draw, table):
    """Arrays by name or one matrix, packed or not, objects as pickles, headers that lie, a second directory."""
    arrays = {}
    for name in table.column_names:
        text = pa.types.is_string(table[name].type) and len(table) and not table[name].null_count
        # What has no type of its own in NumPy stays an object, which npz keeps as a pickle.
        arrays[name] = np.array(table[name].to_pylist()) if text else table[name].to_numpy()
    if draw(st.integers(0, 9)) == 0:
        shape = draw(st.sampled_from(((2, 2), (0, 2), (2, 0), (2,), (), (1, 2, 2))))
        arrays = {"scores": np.full(shape, 0.5), "columns": np.array(table.column_names)}
    members = {}
    for name, array in arrays.items():
        np.save(sink := io.BytesIO(), array, allow_pickle=True)
        members[name] = sink.getvalue()
    if draw(st.integers(0, 5)) == 0:
        members[draw(st.sampled_from(sorted(members)))] = draw(lying_arrays())
    sink = io.BytesIO()
    with zipfile.ZipFile(sink, "w", draw(st.sampled_from((zipfile.ZIP_DEFLATED, zipfile.ZIP_STORED)))) as archive:
        for name, content in members.items():
            archive.writestr(zipfile.ZipInfo(f"{name}.npy"), content)
    return sink.getvalue() * draw(st.sampled_from((1, 1, 1, 1, 2)))


@st.composite
def lying_arrays(draw):
    kind, shape = draw(st.sampled_from(DESCRIPTIONS)), draw(st.sampled_from(SHAPES))
    order = draw(st.sampled_from(("False", "True", "None", "0")))
    text = f"{{'descr': {kind!r}, 'fortran_order': {order}, 'shape': {shape}, }}"
    text = draw(st.sampled_from((text, text, text, text[:-3], "[" * 500, "{}")))
    version = draw(st.sampled_from(((1, 0), (2, 0), (3, 0), (9, 9))))
    size = struct.pack("<H" if version == (1, 0) else "<I", draw(st.sampled_from((len(text) + 1, 0, 60_000))))
    return b"\x93NUMPY" + bytes(version) + size + text.encode() + b"\n" + draw(st.binary(max_size=40))


WRITERS = {
    ".csv": csv_files,
    ".tsv": lambda table: csv_files(table, ("\t",)),
    ".jsonl": json_lines,
    ".parquet": parquet_files,
    ".feather": arrow_files,
    ".arrow": arrow_files,
    ".arrows": lambda table: arrow_files(table, pa.ipc.new_stream),
    ".npz": npz_files,
}
