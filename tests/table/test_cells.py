"""Cells on their way out: dates beyond the years of Python, and texts that a spreadsheet would compute."""

import json

import numpy as np
import pyarrow as pa
import pytest

from vecuq.errors import ColumnError
from vecuq.table import python_cells, read_batches, write_batches

LATE = pa.timestamp("s")
OUT_OF_RANGE = "<value out of range: 35184372088832>"


@pytest.mark.parametrize(
    ("column", "cells"),
    [
        (pa.array([2**45, None], LATE), [OUT_OF_RANGE, None]),
        (pa.chunked_array([[2**45]], LATE), [OUT_OF_RANGE]),
        (pa.array([[2**45]], pa.list_(LATE)), [[OUT_OF_RANGE]]),
        (
            pa.array([{"when": 2**45, "n": 1}], pa.struct({"when": LATE, "n": pa.int8()})),
            [{"when": OUT_OF_RANGE, "n": 1}],
        ),
        (pa.array([2**45], LATE).dictionary_encode(), [OUT_OF_RANGE]),
        (pa.array([2**60], pa.duration("s")), ["1152921504606846976"]),
        (pa.array([1, 2]), [1, 2]),
    ],
    ids=["time", "chunks", "list", "record", "dictionary", "duration", "number"],
)
def test_a_time_beyond_the_years_of_python_is_text(column, cells):
    assert python_cells(column) == cells


@pytest.mark.parametrize("ending", ["csv", "jsonl", "npz", "parquet"])
def test_a_time_beyond_the_years_of_python_is_written(tmp_path, ending):
    table = pa.table({"knn": [0.5, 0.25], "when": pa.array([2**45, 2**45 + 1], LATE)})
    write_batches(tmp_path / f"t.{ending}", table.to_batches())
    assert sum(map(len, read_batches(tmp_path / f"t.{ending}"))) == 2


def test_such_a_time_is_readable_in_a_line_of_json(tmp_path):
    table = pa.table({"knn": [0.5], "when": pa.array([2**45], LATE)})
    write_batches(tmp_path / "t.jsonl", table.to_batches())
    assert json.loads((tmp_path / "t.jsonl").read_text()) == {"knn": 0.5, "when": OUT_OF_RANGE}


TEXTS = ["=1+1", "+cmd", "-x", "@sum", "\tx", "\rx", "-1.5", "+3e-4", "-inf", "-", "plain", "", None]
KEPT = ["'=1+1", "'+cmd", "'-x", "'@sum", "'\tx", "'\rx", "-1.5", "+3e-4", "-inf", "-", "plain", "", None]


def written(tmp_path, column, name="text", **how):
    """What a csv file holds, quotes and all."""
    write_batches(
        tmp_path / "t.csv", pa.table({name: column, "n": np.arange(-1.0, len(column) - 1)}).to_batches(), **how
    )
    return (tmp_path / "t.csv").read_bytes().decode()


def as_csv(texts):
    return ["," if text is None else f'"{text}",' for text in texts]


@pytest.mark.parametrize("kind", [pa.string(), pa.large_string(), pa.binary(), pa.dictionary(pa.int8(), pa.string())])
def test_without_formulas_texts_that_a_spreadsheet_would_compute_are_quoted(tmp_path, kind):
    column = pa.array(TEXTS, pa.string()).cast(kind)
    lines = written(tmp_path, column, formulas=False).split("\n")
    assert [line[: line.rindex(",") + 1] for line in lines[1:-1]] == as_csv(KEPT)
    assert lines[1].endswith(",-1")


def test_with_formulas_every_text_stays_as_it_is(tmp_path):
    lines = written(tmp_path, pa.array(TEXTS)).split("\n")
    assert [line[: line.rindex(",") + 1] for line in lines[1:-1]] == as_csv(TEXTS)


def test_without_formulas_names_are_quoted_too_unless_two_become_one(tmp_path):
    assert written(tmp_path, ["a"], name="=x", formulas=False).startswith('"\'=x"')
    table = pa.table({"=x": ["a"], "'=x": ["b"]})
    with pytest.raises(ColumnError, match="two columns would have one name"):
        write_batches(tmp_path / "u.csv", table.to_batches(), formulas=False)


def test_only_text_files_have_formulas(tmp_path):
    write_batches(tmp_path / "t.parquet", pa.table({"=x": ["=1"]}).to_batches(), formulas=False)
    assert next(read_batches(tmp_path / "t.parquet")).to_pydict() == {"=x": ["=1"]}
