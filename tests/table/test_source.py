"""What a path means: a file, several, a folder of parts, a pattern, standard input; and what the parts share."""

import gc
import io
import json
import sys
from types import SimpleNamespace

import numpy as np
import numpy.testing as npt
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from vecuq import read_table
from vecuq.errors import ColumnError, TableError
from vecuq.table import TableReader, TableSource, count_rows, is_stdio, kind_of, read_batches, write_batches

ROWS = pa.table({"id": [f"{k:02d}" for k in range(6)], "a": np.arange(6) / 7, "b": np.arange(6) / 3})


def whole(where, **how):
    return pa.Table.from_batches(list(read_batches(where, **how)))


@pytest.fixture
def folder(tmp_path):
    """Six rows in three part files, beside what parallel writers leave behind."""
    parts = tmp_path / "parts"
    parts.mkdir()
    for k in (2, 0, 1):
        write_batches(parts / f"part-{k}.parquet", ROWS.slice(2 * k, 2).to_batches())
    (parts / "_SUCCESS").touch()
    (parts / ".part-0.parquet.crc").write_bytes(b"crc")
    (parts / "part-9.csv").touch()
    return parts


@pytest.fixture
def stdin(monkeypatch):
    """What puts bytes on standard input."""

    def put(content):
        monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(content)))

    return put


def test_a_folder_is_its_part_files_by_name_without_markers(folder):
    assert whole(folder).equals(ROWS)
    assert read_table(folder).columns == ("a", "b")
    assert count_rows(folder) == 6


def test_a_pattern_and_a_list_of_files_are_the_same_table(folder):
    assert whole(folder / "*.parquet").equals(ROWS)
    assert whole(str(folder.parent / "p*s" / "part-?.parquet")).equals(ROWS)
    assert whole(folder.parent / "par*").equals(ROWS)
    assert whole([folder / f"part-{k}.parquet" for k in range(3)]).equals(ROWS)


def test_a_file_whose_name_looks_like_a_pattern_is_a_file(tmp_path):
    write_batches(tmp_path / "scores[1].csv", ROWS.to_batches())
    assert len(read_table(tmp_path / "scores[1].csv")) == 6


NOTHING = {
    "no match": ("*.xyz", "No file matches .*xyz"),
    "no file": ("absent.csv", "There is no file .*absent.csv"),
    "an empty folder": ("empty", "is a folder without table files"),
    "folders inside": ("deep", "has folders inside, such as inner; name the files"),
    "another kind": ("other", "readme.txt must end in one of"),
}


@pytest.mark.parametrize(("name", "reason"), NOTHING.values(), ids=NOTHING)
def test_a_path_that_means_no_table_is_refused_by_name(tmp_path, name, reason):
    (tmp_path / "empty").mkdir()
    (tmp_path / "deep" / "inner").mkdir(parents=True)
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "readme.txt").write_text("hello")
    with pytest.raises(TableError, match=reason):
        read_table(tmp_path / name)


def test_standard_input_comes_alone():
    for where in ([], ["-", "a.csv"]):
        with pytest.raises(TableError, match="one or more files, or - alone"):
            TableSource.of(where)


def test_the_longest_ending_says_what_a_file_is():
    assert [kind_of(name) for name in ("a.CSV", "a.b.csv.gz", "a.jsonl.gz", "x.arrows")] == [
        ".csv",
        ".csv.gz",
        ".jsonl.gz",
        ".arrows",
    ]
    assert is_stdio("-")
    assert not is_stdio("./-")


# What parts share ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["csv", "tsv.gz", "parquet", "feather", "npz", "jsonl", "jsonl.gz"])
def test_columns_may_come_in_another_order_in_another_part(tmp_path, kind):
    write_batches(tmp_path / f"1.{kind}", ROWS.slice(0, 3).to_batches())
    write_batches(tmp_path / f"2.{kind}", ROWS.slice(3).select(["b", "a", "id"]).to_batches())
    assert whole(tmp_path / f"*.{kind}", columns=["a"]).equals(ROWS)


@pytest.mark.parametrize("kind", ["csv", "parquet", "feather", "npz", "jsonl"])
def test_a_score_that_one_part_lacks_is_an_error_that_names_the_file(tmp_path, kind):
    write_batches(tmp_path / f"1.{kind}", ROWS.slice(0, 3).to_batches())
    write_batches(tmp_path / f"2.{kind}", ROWS.slice(3).drop_columns(["b"]).to_batches())
    with pytest.raises(ColumnError, match=rf"2.{kind} lacks \['b'\], which .*1.{kind} has"):
        whole(tmp_path / f"*.{kind}", columns=["a", "b"])
    with pytest.raises(ColumnError, match=rf"2.{kind} lacks \['b'\], which .*1.{kind} has"):
        whole([tmp_path / f"2.{kind}", tmp_path / f"1.{kind}"], columns=["a", "b"])
    assert len(whole(tmp_path / f"*.{kind}", columns=["a"], alone=True)) == 6


def test_lines_of_json_may_leave_out_other_columns_in_whole_files(tmp_path):
    (tmp_path / "1.jsonl").write_text('{"a": 0.5, "note": "x"}\n')
    (tmp_path / "2.jsonl").write_text('{"a": 1.5}\n')
    assert whole(tmp_path / "*.jsonl", columns=["a"])["note"].to_pylist() == ["x", None]


def test_types_of_text_files_are_decided_by_all_parts(tmp_path):
    (tmp_path / "1.csv").write_text("a,id,n,gap\n0.5,12,1,\n")
    (tmp_path / "2.csv").write_text("a,id,n,gap\n1.5,007,2.5,7\n")
    table = whole(tmp_path / "*.csv", columns=["a"])
    assert table["id"].to_pylist() == ["12", "007"]
    assert table["n"].to_pylist() == [1.0, 2.5]
    (tmp_path / "1.jsonl").write_text(f'{{"a": 0.5, "m": {2**60 + 1}}}\n')
    (tmp_path / "2.jsonl").write_text('{"a": 1.5, "m": 0.5}\n')
    write_batches(tmp_path / "out.jsonl", read_batches([tmp_path / "1.jsonl", tmp_path / "2.jsonl"], columns=["a"]))
    rows = [json.loads(line) for line in (tmp_path / "out.jsonl").read_text().splitlines()]
    assert [row["m"] for row in rows] == [2**60 + 1, 0.5]


def test_numbers_and_texts_of_several_widths_become_one_type(tmp_path):
    pq.write_table(pa.table({"a": pa.array([0.5], pa.float32()), "t": ["x"]}), tmp_path / "1.parquet")
    wide = {"a": pa.array([1], pa.int64()), "t": pa.array(["y"], pa.large_string())}
    pq.write_table(pa.table(wide), tmp_path / "2.parquet")
    pq.write_table(pa.table({"a": pa.nulls(1), "t": pa.nulls(1)}), tmp_path / "3.parquet")
    table = whole(tmp_path / "*.parquet", columns=["a"])
    assert table["a"].to_pylist() == [0.5, 1.0, None]
    assert table["t"].to_pylist() == ["x", "y", None]


def test_types_that_do_not_go_together_are_an_error_that_names_both_files(tmp_path):
    pq.write_table(pa.table({"a": [0.5], "x": [1]}), tmp_path / "1.parquet")
    pq.write_table(pa.table({"a": [0.5], "x": ["one"]}), tmp_path / "2.parquet")
    with pytest.raises(ColumnError, match=r"'x' holds int64 in .*1.parquet and string in .*2.parquet; save"):
        whole(tmp_path / "*.parquet")


def test_parts_may_be_of_several_kinds(tmp_path):
    write_batches(tmp_path / "1.csv", ROWS.slice(0, 3).to_batches())
    write_batches(tmp_path / "2.feather", ROWS.slice(3).to_batches())
    assert whole([tmp_path / "1.csv", tmp_path / "2.feather"], columns=["a", "b"]).equals(ROWS)


@pytest.mark.parametrize("kind", ["csv", "parquet", "jsonl"])
def test_a_bad_cell_is_named_with_its_file_and_its_row_there(tmp_path, kind):
    write_batches(tmp_path / f"1.{kind}", pa.table({"a": ["0.5", "1.5"]}).to_batches())
    write_batches(tmp_path / f"2.{kind}", pa.table({"a": ["0.5", "oops"]}).to_batches())
    with pytest.raises(ColumnError, match=rf"2.{kind}: Score column 'a' is not numeric: row 1 .* holds 'oops'"):
        whole(tmp_path / f"*.{kind}", columns=["a"])
    with pytest.raises(ColumnError, match=rf"2.{kind}: None of the columns"):
        read_table(tmp_path / f"2.{kind}")


def test_a_reader_reads_as_often_as_need_be_and_knows_its_columns_first(folder):
    reader = TableReader(folder, columns=["a"])
    assert reader.schema.names == ["id", "a", "b"]
    for _ in range(2):
        assert pa.Table.from_batches(list(reader.batches())).equals(ROWS)


def test_a_source_knows_its_files(folder, tmp_path):
    source = TableSource.of(folder)
    (tmp_path / "link").symlink_to(folder / "part-1.parquet")
    assert source.holds(tmp_path / "link")
    assert not source.holds(tmp_path / "absent.csv")
    assert source.kind == ".parquet"
    assert source.n_bytes == sum((folder / f"part-{k}.parquet").stat().st_size for k in range(3))
    assert str(TableSource.of([folder / "part-0.parquet", folder / "part-1.parquet"])).endswith(
        ".parquet and 1 more file"
    )


# Separators ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("mark", [",", ";", "\t", "|"])
def test_what_separates_cells_is_seen_in_the_header(tmp_path, mark):
    frame = pd.DataFrame({"id, or key": ["x", f"y{mark}z"], "a": [0.5, 0.25], "b": [1.5, 2.5]})
    frame.to_csv(tmp_path / "s.csv", sep=mark, index=False)
    table = read_table(tmp_path / "s.csv")
    assert table.columns == ("a", "b")
    assert table.others["id, or key"].to_pylist() == ["x", f"y{mark}z"]


def test_one_column_needs_no_separator(tmp_path):
    (tmp_path / "s.csv").write_text("a\n0.5\n0.25\n")
    npt.assert_array_equal(read_table(tmp_path / "s.csv").values, [[0.5], [0.25]])


# Standard input and output -----------------------------------------------------------------------------------------


def stream_of(table, new=pa.ipc.new_stream):
    sink = io.BytesIO()
    with new(sink, table.schema) as writer:
        writer.write_table(table)
    return sink.getvalue()


def test_standard_input_is_jsonl_or_arrow_by_its_first_bytes(stdin):
    lines = "".join(json.dumps(row) + "\n" for row in ROWS.to_pylist()).encode()
    for content in (lines, stream_of(ROWS), stream_of(ROWS, pa.ipc.new_file)):
        stdin(content)
        assert whole("-").equals(ROWS)
    stdin(b"")
    with pytest.raises(TableError, match="standard input has no rows"):
        read_table("-")
    stdin(b"a,b\n1,2\n")
    with pytest.raises(TableError, match="standard input, line 1: not valid JSON"):
        read_table("-")
    assert count_rows("-") is None


def test_what_was_kept_of_standard_input_goes_with_its_source(stdin):
    stdin(stream_of(ROWS))
    reader = TableReader("-")
    kept = reader.source.parts[0].path
    for _ in range(2):
        assert pa.Table.from_batches(list(reader.batches())).equals(ROWS)
    assert kept.exists()
    del reader
    gc.collect()
    assert not kept.exists()


@pytest.mark.parametrize("name", ["jsonl", "arrow"])
def test_standard_output_can_be_read_as_standard_input(monkeypatch, stdin, name):
    out = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", SimpleNamespace(buffer=out))
    write_batches("-", ROWS.to_batches(max_chunksize=2), stdout_format=name)
    assert not out.closed
    stdin(out.getvalue())
    assert whole("-").equals(ROWS)


def test_the_same_rows_packed_twice_are_the_same_bytes(tmp_path):
    for name in ("1.csv.gz", "2.csv.gz"):
        write_batches(tmp_path / name, ROWS.to_batches())
    assert (tmp_path / "1.csv.gz").read_bytes() == (tmp_path / "2.csv.gz").read_bytes()


# Arrow --------------------------------------------------------------------------------------------------------------


def test_a_long_batch_of_arrow_is_read_in_pieces(tmp_path):
    table = pa.table({"a": np.arange(200_000) / 7})
    write_batches(tmp_path / "s.arrow", table.to_batches())
    batches = list(read_batches(tmp_path / "s.arrow"))
    assert max(map(len, batches)) == 65_536
    assert pa.Table.from_batches(batches).equals(table)


def test_feather_of_version_1_is_refused_by_name(tmp_path):
    (tmp_path / "s.feather").write_bytes(b"FEA1" + bytes(100))
    with pytest.raises(TableError, match="Feather file of version 1"):
        read_table(tmp_path / "s.feather")
