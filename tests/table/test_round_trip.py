"""Any table goes through any file and comes back: scores to the bit, everything else as it was."""

import string

import numpy as np
import numpy.testing as npt
import pyarrow as pa
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from vecuq.table import read_batches, write_batches

scores = st.one_of(st.none(), st.floats(allow_nan=False, width=64))
names = st.text(string.ascii_letters + string.digits + " _-üß,;'\"|", min_size=1, max_size=8).filter(str.strip)
# What a csv cannot say: a control character is no text to Arrow's reader, and an empty cell is an empty text.
texts = st.text(st.characters(codec="utf-8", exclude_categories=["Cc", "Cs"], include_characters="\n\t"), max_size=12)
digits = st.from_regex(r"-?[0-9]{1,25}(\.[0-9]{0,4})?", fullmatch=True)
others = st.one_of(texts, digits, st.sampled_from(["007", "NA", "True", "1e5", "2024-01-31", "1.50", "null", "nan"]))


@st.composite
def tables(draw):
    n_rows = draw(st.integers(1, 8))
    score, other, label = draw(st.lists(names, min_size=3, max_size=3, unique=True))
    column = st.lists(scores, min_size=n_rows, max_size=n_rows)
    return score, pa.table(
        {
            score: pa.array(draw(column), type=pa.float64()),
            other: pa.array(draw(st.lists(others, min_size=n_rows, max_size=n_rows)), type=pa.string()),
            label: pa.array(draw(st.lists(st.integers(-(2**63), 2**63 - 1), min_size=n_rows, max_size=n_rows))),
        }
    )


def through(path, table, **how):
    write_batches(path, table.to_batches())
    return pa.Table.from_batches(list(read_batches(path, **how)))


def floats(column):
    return np.array(column, dtype=float)


many = settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


@many
@given(table=tables())
def test_a_table_comes_back_from_csv(tmp_path, table):
    score, table = table
    back = through(tmp_path / "t.csv", table, columns=[score], typed=False)
    assert back.column_names == table.column_names
    npt.assert_array_equal(floats(back[score]), floats(table[score]))
    npt.assert_array_equal(np.signbit(floats(back[score])), np.signbit(floats(table[score])))
    for name in table.column_names[1:]:
        assert back[name].to_pylist() == [str(cell) for cell in table[name].to_pylist()]


@many
@given(table=tables())
def test_a_table_comes_back_from_tsv_and_packed_csv(tmp_path, table):
    score, table = table
    for kind in ("tsv", "csv.gz", "tsv.gz"):
        back = through(tmp_path / f"t.{kind}", table, columns=[score], typed=False)
        npt.assert_array_equal(floats(back[score]), floats(table[score]))
        for name in table.column_names[1:]:
            assert back[name].to_pylist() == [str(cell) for cell in table[name].to_pylist()]


@many
@given(table=tables())
def test_types_that_are_given_to_csv_columns_lose_nothing(tmp_path, table):
    score, table = table
    back = through(tmp_path / "t.csv", table, columns=[score])
    again = through(tmp_path / "again.csv", back, columns=[score], typed=False)
    other, label = table.column_names[1:]
    assert back[label].to_pylist() == table[label].to_pylist()
    for now, then in zip(again[other].to_pylist(), table[other].to_pylist(), strict=True):
        # Python's 1.0 and True may have become Arrow's 1 and true; nan an empty cell.
        assert now == then or now == then.lower() or (now, then) == ("", "nan") or repr(float(now)) == then


@many
@given(table=tables())
def test_a_table_comes_back_from_every_other_kind_of_file(tmp_path, table):
    score, table = table
    for kind in ("parquet", "jsonl", "jsonl.gz", "npz", "feather", "arrows"):
        back = through(tmp_path / f"t.{kind}", table, columns=[score])
        assert back.column_names == table.column_names
        # JSON knows no infinity; it becomes null.
        finite = np.isfinite(floats(table[score])) | ("jsonl" not in kind)
        npt.assert_array_equal(floats(back[score])[finite], floats(table[score])[finite])
        for name in table.column_names[1:]:
            assert back[name].to_pylist() == table[name].to_pylist()
