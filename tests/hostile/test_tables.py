"""A hostile table is refused in one line, or its scores are those of the same numbers read without vecuq."""

import io
import struct
import warnings
import zipfile
from datetime import datetime
from decimal import Decimal
from functools import cache

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hostile_files import table_files
from hostile_tables import LIBRARIES, TYPES, as_frame, score_tables
from hunting import hunt
from hypothesis import strategies as st
from manners import check_manners, refuse_long, run_command
from plain_reader import NoNumberError, matrix, values_in
from pyarrow import feather

import vecuq
from vecuq.errors import VecuqError
from vecuq.table import EXTENSIONS

COLUMNS = ("entropy", "knn")


@cache
def model():
    rng = np.random.default_rng(0)
    return vecuq.fit_ranker({name: rng.gamma(1.0 + k, size=120) for k, name in enumerate(COLUMNS)})


def compare(scores, read, missing="nan"):
    """The scores of a table that was accepted are those of its numbers, bit for bit."""
    try:
        values = read()
    except NoNumberError as error:
        pytest.fail(f"a cell that is no number was scored: {error}")
    if values is None:  # read by nobody else
        return
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        np.testing.assert_array_equal(scores, model().uncertainty(values, missing=missing))


def check_frame(table, library):
    """Score a table as another library hands it over; return whether it was accepted."""
    try:
        frame = as_frame(table, library)
    except Exception:  # that library has no place for such a table
        return False
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)
            warnings.simplefilter("error", RuntimeWarning)
            scores = model().uncertainty(frame)
    except VecuqError as error:
        refuse_long(error)
        return False
    if library != "numpy" or table.column_names == list(COLUMNS):
        compare(scores, lambda: matrix([table[name].to_pylist() for name in COLUMNS]))
    return True


def check_file(folder, content, ending, more=()):
    """Score a table file by the command line; return whether it was accepted."""
    for name in folder.iterdir():
        name.unlink() if name.is_file() else None
    model().save(folder / "model.vecuq")
    (folder / f"new{ending}").write_bytes(content)
    words = ("score", "model.vecuq", f"new{ending}", "-o", "ranked.feather", *more)
    done = run_command(words, folder)
    check_manners(done, words)
    if done.code:
        return False
    scores = feather.read_table(folder / "ranked.feather")["uncertainty"].to_numpy()
    compare(scores, lambda: values_in(content, ending, COLUMNS), "marginal" if "marginal" in more else "nan")
    return True


@pytest.mark.parametrize("library", LIBRARIES)
def test_a_frame_is_refused_or_scored_as_the_same_numbers(library):
    tables = score_tables(COLUMNS, tuple(TYPES), others=library != "numpy")
    hunt(tables, lambda table: check_frame(table, library), 25, both=True)


MORE = st.sampled_from(((), (), ("--alpha", "0.1"), ("--explain",), ("--missing", "marginal"), ("--replace",)))


@pytest.mark.parametrize("ending", EXTENSIONS)
def test_a_file_is_refused_or_scored_as_the_same_numbers(ending, tmp_path):
    inputs = st.tuples(table_files(ending, COLUMNS), MORE)
    hunt(inputs, lambda drawn: check_file(tmp_path, drawn[0], ending, drawn[1]), 8, both=not ending.endswith(".gz"))


LATE = pa.array([2**60], pa.timestamp("s"))
FRAMES = {  # library, columns, whether it is taken
    "a time beyond the years of Python": ("pyarrow", {"knn": LATE}, False),
    "the same beside the scores": ("pyarrow", {"when": LATE}, True),
    "a date as a score": ("pandas", {"knn": pa.array([datetime(2024, 1, 31)])}, False),
    "a late time after missing ones": ("polars", {"entropy": pa.array([None], pa.float64()), "knn": LATE}, False),
    "a list of late times": ("polars", {"knn": pa.array([[2**60]], pa.list_(pa.timestamp("s")))}, False),
    "bytes that look like a number": ("numpy", {"knn": pa.array([b"0"])}, False),
    "a decimal to the last bit": ("pyarrow", {"knn": pa.array([Decimal("33.554433")])}, True),
    "whole numbers beyond 2^53": ("pyarrow", {"knn": pa.array([2**53 + 1])}, True),
}


def with_scores(columns):
    return pa.table({"entropy": pa.array([0.5]), "knn": pa.array([0.25]), **columns})


@pytest.mark.parametrize("name", FRAMES)
def test_a_frame_that_once_broke_something_breaks_nothing_now(name):
    library, columns, taken = FRAMES[name]
    assert check_frame(with_scores(columns), library) == taken


def parquet(**columns):
    sink = io.BytesIO()
    pq.write_table(with_scores(columns), sink)
    return sink.getvalue()


def cut_npz():
    header = b"{'descr': '<f8', 'shape': (2,\n"
    with zipfile.ZipFile(sink := io.BytesIO(), "w") as archive:
        for name in COLUMNS:
            archive.writestr(f"{name}.npy", b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header + bytes(16))
    return sink.getvalue()


FILES = {  # ending, content, whether it is taken
    "a decimal to the last bit": (".parquet", parquet(knn=pa.array([Decimal("21.195817")])), True),
    "a late time": (".parquet", parquet(knn=pa.array([2**45], pa.timestamp("s"))), False),
    "a column called selected": (".parquet", parquet(selected=pa.array([0.5])), True),
    "an npy header that ends in the middle": (".npz", cut_npz(), False),
}


@pytest.mark.parametrize("name", FILES)
def test_a_file_that_once_broke_something_breaks_nothing_now(name, tmp_path):
    ending, content, taken = FILES[name]
    assert check_file(tmp_path, content, ending) == taken
