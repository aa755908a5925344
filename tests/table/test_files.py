"""Table files: every kind, one meaning; read in pieces, and left alone where vecuq has no business."""

import json
from types import SimpleNamespace

import numpy as np
import numpy.testing as npt
import pandas as pd
import pyarrow as pa
import pyarrow.csv as pc
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from vecuq import read_table
from vecuq.errors import ColumnError, TableError
from vecuq.table import EXTENSIONS, as_csv, as_jsonl, as_parquet, count_rows, read_batches, write_batches

COLUMNS = {"id": ["007", "008", "009"], "entropy": [0.25, 0.1, 1e-7], "knn": [3.0, -1.5, 2e300], "label": [0, 1, 0]}


def save(path, columns=COLUMNS):
    """Write columns the way other programs do."""
    frame = pd.DataFrame(columns)
    if ".csv" in path.suffixes or ".tsv" in path.suffixes:
        frame.to_csv(path, index=False, sep="\t" if ".tsv" in path.suffixes else ",")
    elif path.suffix == ".parquet":
        frame.to_parquet(path)
    elif path.suffix in (".feather", ".arrow"):
        frame.to_feather(path)
    elif path.suffix == ".arrows":
        table = pa.Table.from_pandas(frame, preserve_index=False)
        with pa.ipc.new_stream(path, table.schema) as writer:
            writer.write_table(table)
    elif ".jsonl" in path.suffixes:
        frame.to_json(path, orient="records", lines=True, double_precision=15)
    else:
        np.savez(path, **{name: np.array(cells) for name, cells in columns.items()})
    return path


def whole(path, **how):
    return pa.Table.from_batches(list(read_batches(path, **how)))


@pytest.fixture(params=EXTENSIONS)
def kind(request):
    return request.param


def test_all_kinds_of_files_give_the_same_scores(tmp_path, kind):
    table = read_table(save(tmp_path / f"scores{kind}"))
    assert table.columns == ("entropy", "knn")
    npt.assert_array_equal(table.values, np.column_stack([COLUMNS["entropy"], COLUMNS["knn"]]))
    assert table.others["id"].to_pylist() == COLUMNS["id"]


def test_named_columns_are_read_in_order_and_flipped_by_name(tmp_path, kind):
    table = read_table(save(tmp_path / f"scores{kind}"), columns=["label", "entropy"], flip=["entropy"])
    npt.assert_array_equal(table.values, np.column_stack([COLUMNS["label"], np.negative(COLUMNS["entropy"])]))
    assert set(table.others.column_names) == {"id", "knn"}


def test_flipping_a_wrong_name_suggests_the_right_one(tmp_path, kind):
    with pytest.raises(ColumnError, match="Did you mean 'entropy'"):
        read_table(save(tmp_path / f"scores{kind}"), flip=["entropie"])


def test_missing_values_in_files_are_counted(tmp_path, kind):
    path = save(tmp_path / f"scores{kind}", {"a": [0.5, np.nan, 0.25], "b": [1.5, 2.5, 3.5]})
    assert read_table(path).missing == {"a": 1}
    assert read_table(path, columns=["a", "b"]).missing == {"a": 1}


def test_the_extension_may_be_in_capitals(tmp_path):
    assert len(read_table(save(tmp_path / "scores.csv").rename(tmp_path / "SCORES.CSV"))) == 3


def test_other_extensions_are_refused(tmp_path):
    (tmp_path / "scores.xlsx").write_bytes(b"PK")
    with pytest.raises(TableError, match=r"must end in one of .csv, .csv.gz, .tsv, .*.parquet, .feather, .*.jsonl"):
        read_table(tmp_path / "scores.xlsx")


# csv ---------------------------------------------------------------------------------------------------------------

CSV_CELLS = {
    "id": ["007", "042", "100"],
    "long": ["12345678901234567890", "1", "2"],
    "date": ["2024-01-31", "2024-02-01T10:00:00Z", ""],
    "truth": ["True", "False", "True"],
    "price": ["1.50", "2.00", "3.10"],
    "spelt": ["NA", "null", "nan"],
    "text": ['said "no", twice', "two\nlines", "  spaces  "],
    "label": ["0", "1", "0"],
    "quality": ["0.5", "1.0", "1e-05"],
    "nothing": ["", "", ""],
}


def csv_of_cells(path):
    frame = pd.DataFrame({**CSV_CELLS, "a": [0.5, 0.25, 0.125]})
    frame.to_csv(path, index=False)
    return path


def test_csv_cells_that_are_no_scores_stay_the_very_text_that_they_are(tmp_path):
    table = whole(csv_of_cells(tmp_path / "new.csv"), columns=["a"], typed=False)
    assert {name: table[name].to_pylist() for name in CSV_CELLS} == CSV_CELLS
    write_batches(tmp_path / "out.csv", table.to_batches())
    again = pd.read_csv(tmp_path / "out.csv", dtype=str, keep_default_na=False)
    assert again.drop(columns="a").to_dict("list") == CSV_CELLS


def test_csv_columns_get_types_only_where_that_loses_nothing(tmp_path):
    table = whole(csv_of_cells(tmp_path / "new.csv"), columns=["a"])
    types = {name: str(table[name].type) for name in CSV_CELLS}
    kept = {"label": "int64", "quality": "double", "truth": "bool"}
    assert types == {**dict.fromkeys(CSV_CELLS, "string"), **kept}
    assert table["label"].to_pylist() == [0, 1, 0]
    assert table["quality"].to_pylist() == [0.5, 1.0, 1e-05]
    assert table["truth"].to_pylist() == [True, False, True]
    assert table["id"].to_pylist() == CSV_CELLS["id"]


def test_the_type_of_a_csv_column_is_decided_by_the_whole_file(tmp_path, monkeypatch):
    monkeypatch.setattr(as_csv, "BLOCK_BYTES", 4_096)
    ids = [str(k) for k in range(5_000)] + ["007"]
    save(tmp_path / "new.csv", {"id": ids, "a": np.linspace(0.0, 1.0, len(ids))})
    batches = list(read_batches(tmp_path / "new.csv", columns=["a"]))
    assert len(batches) > 5
    assert pa.Table.from_batches(batches)["id"].to_pylist() == ids


def test_truth_values_with_gaps_longer_than_a_block_are_truth_values(tmp_path, monkeypatch):
    monkeypatch.setattr(as_csv, "BLOCK_BYTES", 1_000)
    cells = ["True", *[""] * 500, "False"]
    save(tmp_path / "new.csv", {"truth": cells, "a": np.arange(502) / 7})
    truth = whole(tmp_path / "new.csv", columns=["a"])["truth"].to_pylist()
    assert truth == [True, *[None] * 500, False]


def test_csv_texts_may_hold_line_breaks_across_blocks(tmp_path, monkeypatch):
    monkeypatch.setattr(as_csv, "BLOCK_BYTES", 1_000)
    texts = [f"answer {k}\nwith, a second line" for k in range(500)]
    save(tmp_path / "new.csv", {"text": texts, "a": np.arange(500) / 7})
    table = whole(tmp_path / "new.csv", columns=["a"])
    assert table["text"].to_pylist() == texts
    npt.assert_array_equal(table["a"], np.arange(500) / 7)


def test_csv_with_a_byte_order_mark_blank_lines_and_spaces_is_read(tmp_path):
    (tmp_path / "s.csv").write_bytes(b"\xef\xbb\xbfa,b\n\n 0.5 , 1.5\n\n+.25,1e-3\n")
    npt.assert_array_equal(read_table(tmp_path / "s.csv").values, [[0.5, 1.5], [0.25, 1e-3]])


def test_a_csv_of_whole_numbers_alone_is_a_table_of_scores_but_ids_are_not(tmp_path):
    (tmp_path / "s.csv").write_text("id,votes\n007,3\n008,4\n")
    assert read_table(tmp_path / "s.csv").columns == ("votes",)


BAD_CSV = {
    "empty": (b"", "is empty; a header line with column names and rows below it were expected"),
    "blank": (b"\n\n", "is empty"),
    "header without rows": (b"a,b\n", "has no rows"),
    "a row too long": (b"a,b\n1,2\n1,2,3\n", r"row 1 \(counting from 0\) has 3 cells, the header 2"),
    "a row too short": (b"a,b\n1,2\n1\n", r"row 1 \(counting from 0\) has 1 cell, the header 2"),
    "decimal commas": (b"a;b\n0,5;1\n1,5;1\n", "row 0 .* holds '0,5'. Write numbers with a decimal point"),
    "thousands": (b'a,b\n"1,234.5",1.5\n7.5,1\n', "row 0 .* holds '1,234.5'. Write numbers with a decimal point"),
    "percentages": (b"a,b\n5%,1.5\n7.5 %,1\n", "row 0 .* holds '5%'. Write numbers with a decimal point"),
    "latin-1": ("name,a\nJosé,0.5\n".encode("latin-1"), "is not text in UTF-8"),
    "latin-1 header": ("é,a\n1,0.5\n".encode("latin-1"), "is not text in UTF-8"),
    "utf-16": ("a,b\n1,2\n".encode("utf-16"), "is not text in UTF-8"),
    "doubled names": (b"a,b,a\n1,2,3\n", r"these come twice: \['a'\]"),
    "a stray cell": (b"a,b\n0.5,1\noops,2\n0.1,3\n", "'a' is not numeric: row 1 .* holds 'oops'"),
    "only texts": (b"a,b\nx,y\n", "None of the columns"),
}


@pytest.mark.parametrize(("content", "told"), BAD_CSV.values(), ids=BAD_CSV)
def test_a_bad_csv_is_refused_with_the_reason(tmp_path, content, told):
    (tmp_path / "s.csv").write_bytes(content)
    with pytest.raises(TableError, match=told):
        read_table(tmp_path / "s.csv")


def test_a_quote_that_never_closes_is_named_as_a_likely_cause(tmp_path, monkeypatch):
    monkeypatch.setattr(as_csv, "BLOCK_BYTES", 2**20)
    (tmp_path / "s.csv").write_text('a,b\n"0.5,1\n' + "0.5,1\n" * 500_000)
    with pytest.raises(TableError, match="is there a quote never closed"):
        read_table(tmp_path / "s.csv")


@pytest.mark.parametrize("named", [True, False], ids=["named", "not named"])
def test_a_stray_cell_in_a_later_block_is_named_with_its_row_in_the_file(tmp_path, named):
    n_rows, row = 600_000, 599_123
    cells = np.full(n_rows, "0.123456", dtype=object)
    cells[row] = "oops"
    path = tmp_path / "s.csv"
    path.write_text("a,b\n" + "\n".join(f"{cell},0.5" for cell in cells))
    assert path.stat().st_size > as_csv.BLOCK_BYTES
    with pytest.raises(ColumnError, match=f"'a' is not numeric: row {row} .* holds 'oops'"):
        read_table(path, columns=["a", "b"] if named else None)


# parquet -----------------------------------------------------------------------------------------------------------


def test_parquet_keeps_types_and_metadata_of_other_columns(tmp_path):
    frame = pd.DataFrame(
        {"when": pd.to_datetime(["2024-01-31", None]), "kind": pd.Categorical(["x", "y"]), "a": [0.5, 0.25]},
        index=pd.Index(["r1", "r2"], name="row"),
    )
    frame.to_parquet(tmp_path / "new.parquet")
    write_batches(tmp_path / "out.parquet", read_batches(tmp_path / "new.parquet", columns=["a"]))
    pd.testing.assert_frame_equal(pd.read_parquet(tmp_path / "out.parquet"), frame)


def test_parquet_batches_are_bounded_in_rows_and_in_bytes(tmp_path, monkeypatch):
    monkeypatch.setattr(as_parquet, "BATCH_ROWS", 1_000)
    monkeypatch.setattr(as_parquet, "BATCH_BYTES", 100_000)
    narrow, wide = tmp_path / "narrow.parquet", tmp_path / "wide.parquet"
    pq.write_table(pa.table({"a": np.arange(3_500) / 7}), narrow)
    texts = [str(k) * 300 for k in range(1_000, 1_500)]
    pq.write_table(pa.table({"a": np.arange(500) / 7, "text": texts}), wide)
    assert [len(batch) for batch in read_batches(narrow)] == [1_000, 1_000, 1_000, 500]
    assert max(batch.nbytes for batch in read_batches(wide)) <= 110_000
    assert whole(wide)["text"].to_pylist() == texts


def test_reading_parquet_holds_on_to_little_memory_however_long_the_file_is(tmp_path):
    path = tmp_path / "long.parquet"
    piece = pa.table({name: np.random.default_rng(0).random(300_000) for name in "abcd"})
    with pq.ParquetWriter(path, piece.schema) as writer:
        for _ in range(5):
            writer.write_table(piece)
    before = pa.total_allocated_bytes()
    held = [pa.total_allocated_bytes() - before for _ in read_batches(path, columns=["a"])]
    assert len(held) >= 20
    assert max(held) < path.stat().st_size / 2


def test_doubled_names_in_parquet_are_refused(tmp_path):
    pq.write_table(pa.table([pa.array([1.0]), pa.array([2.0])], names=["a", "a"]), tmp_path / "s.parquet")
    with pytest.raises(ColumnError, match="come twice"):
        read_table(tmp_path / "s.parquet")


@pytest.mark.parametrize("kind_of_cell", ["text", "date"])
def test_a_bad_cell_in_a_later_batch_of_parquet_is_named_with_its_row_in_the_file(tmp_path, kind_of_cell):
    cells = ["0.5"] * 70_000 if kind_of_cell == "text" else pa.nulls(70_000, pa.date32()).to_pylist()
    cells += ["oops"] if kind_of_cell == "text" else pa.array([1], pa.date32()).to_pylist()
    pq.write_table(pa.table({"a": cells}), tmp_path / "s.parquet")
    with pytest.raises(ColumnError, match="'a' is not numeric: row 70000"):
        list(read_batches(tmp_path / "s.parquet", columns=["a"]))


def test_only_parquet_knows_its_rows_beforehand(tmp_path):
    assert count_rows(save(tmp_path / "s.parquet")) == 3
    assert count_rows(save(tmp_path / "s.csv")) is None
    (tmp_path / "bad.parquet").write_bytes(b"no parquet")
    with pytest.raises(TableError, match="cannot be read as parquet"):
        count_rows(tmp_path / "bad.parquet")


# npz ---------------------------------------------------------------------------------------------------------------


def test_npz_may_hold_a_matrix_with_names_for_its_columns(tmp_path):
    matrix = np.array([[0.5, 1.5], [0.25, 2.5]])
    np.savez(tmp_path / "s.npz", scores=matrix, columns=["entropy", "knn"], id=["007", "008"])
    table = read_table(tmp_path / "s.npz")
    assert table.columns == ("entropy", "knn")
    npt.assert_array_equal(table.values, matrix)
    np.savez(tmp_path / "plain.npz", scores=matrix)
    assert read_table(tmp_path / "plain.npz").columns == ("x0", "x1")


def test_npz_arrays_of_any_byte_order_and_width_are_read(tmp_path):
    np.savez(tmp_path / "s.npz", a=np.array([0.5, 0.25], dtype=">f8"), b=np.array([1.5, 2.5], dtype="f4"))
    npt.assert_array_equal(read_table(tmp_path / "s.npz").values, [[0.5, 1.5], [0.25, 2.5]])


BAD_NPZ = {
    "pickled objects": ({"a": np.array([0.5, {}], dtype=object)}, "pickled objects are refused"),
    "two lengths": ({"a": np.ones(2), "b": np.ones(3)}, "one-dimensional arrays of one length"),
    "matrices": ({"logits": np.ones((2, 3))}, "a matrix named scores with names in an array named columns"),
    "outputs of a classifier": ({"probs": np.ones((5, 2, 3))}, "become scores by `vecuq measure`"),
    "a single number": ({"a": np.float64(1)}, "one-dimensional"),
    "too few names": ({"scores": np.ones((2, 3)), "columns": ["a"]}, "names 1 columns, scores has 3"),
    "a name without a list": ({"scores": np.ones((2, 3)), "columns": np.array("a")}, "names 1 columns, scores has 3"),
    "doubled names": ({"scores": np.ones((2, 2)), "columns": ["a", "a"]}, "come twice"),
    "a name taken": ({"scores": np.ones((2, 1)), "columns": ["a"], "a": np.ones(2)}, "come twice"),
    "complex numbers": ({"a": np.ones(2, dtype=complex)}, "cannot be read as npz"),
    "no arrays": ({}, "one-dimensional arrays"),
}


@pytest.mark.parametrize(("arrays", "told"), BAD_NPZ.values(), ids=BAD_NPZ)
def test_a_bad_npz_is_refused_with_the_reason(tmp_path, arrays, told):
    np.savez(tmp_path / "s.npz", **arrays)
    with pytest.raises(TableError, match=told):
        read_table(tmp_path / "s.npz")


def test_a_single_npy_array_called_npz_is_refused(tmp_path):
    with (tmp_path / "s.npz").open("wb") as file:
        np.save(file, np.ones(3))
    with pytest.raises(TableError, match=r"save named columns with np.savez"):
        read_table(tmp_path / "s.npz")


def test_npz_is_written_without_pickle_and_read_back(tmp_path):
    table = pa.table(
        {
            "file": ["a", "b"],
            "uncertainty": pa.array([0.5, None]),
            "when": pa.array([0, 1], pa.timestamp("s")),
            "flagged": [True, False],
        }
    )
    write_batches(tmp_path / "out.npz", table.to_batches())
    with np.load(tmp_path / "out.npz", allow_pickle=False) as arrays:
        assert arrays["file"].tolist() == ["a", "b"]
        npt.assert_array_equal(arrays["uncertainty"], [0.5, np.nan])
        assert arrays["when"].dtype.kind == "M"
    assert whole(tmp_path / "out.npz")["flagged"].to_pylist() == [True, False]


def test_npz_refuses_columns_that_would_need_pickle(tmp_path):
    table = pa.table({"id": ["x", None], "a": [0.5, 0.25]})
    with pytest.raises(TableError, match=r"npz cannot hold the columns \['id'\] without pickle; write parquet"):
        write_batches(tmp_path / "out.npz", table.to_batches())
    assert list(tmp_path.iterdir()) == []


# jsonl -------------------------------------------------------------------------------------------------------------

JSON_ROWS = [
    {"id": "007", "n": 1, "mixed": 1, "nested": {"x": [1, None]}, "late": None, "long": 2**60 + 1, "a": 1},
    {"id": "ü", "n": 2, "mixed": "two", "nested": {"y": {}}, "late": None, "long": 2**70, "a": 0.25},
    {"id": "", "n": None, "mixed": [3], "nested": None, "late": True, "long": -1, "a": None, "new": 5},
]


def write_rows(path, rows):
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


@pytest.mark.parametrize("batch_rows", [1, 2, 65_536])
def test_jsonl_cells_that_are_no_scores_come_out_as_they_went_in(tmp_path, monkeypatch, batch_rows):
    monkeypatch.setattr(as_jsonl, "BATCH_ROWS", batch_rows)
    batches = read_batches(write_rows(tmp_path / "new.jsonl", JSON_ROWS), columns=["a"])
    write_batches(tmp_path / "out.jsonl", batches)
    out = [json.loads(line) for line in (tmp_path / "out.jsonl").read_text(encoding="utf-8").splitlines()]
    names = list(JSON_ROWS[2])
    assert out == [{name: row.get(name) for name in names} for row in JSON_ROWS]


def test_jsonl_records_survive_a_stay_in_parquet(tmp_path):
    write_batches(tmp_path / "x.parquet", read_batches(write_rows(tmp_path / "s.jsonl", JSON_ROWS), columns=["a"]))
    write_batches(tmp_path / "x.jsonl", read_batches(tmp_path / "x.parquet", columns=["a"]))
    out = [json.loads(line) for line in (tmp_path / "x.jsonl").read_text(encoding="utf-8").splitlines()]
    assert [row["nested"] for row in out] == [row["nested"] for row in JSON_ROWS]


def test_jsonl_batches_are_bounded_in_bytes(tmp_path, monkeypatch):
    monkeypatch.setattr(as_jsonl, "BLOCK_BYTES", 10_000)
    write_rows(tmp_path / "s.jsonl", [{"a": 0.5, "text": "x" * 900}] * 50)
    assert max(len(batch) for batch in read_batches(tmp_path / "s.jsonl", columns=["a"])) <= 12


def test_jsonl_writes_null_for_nan_at_any_depth(tmp_path):
    table = pa.table({"a": [0.5, float("nan")], "deep": [[{"x": float("inf")}], [{"x": 1.0}]]})
    write_batches(tmp_path / "out.jsonl", table.to_batches())
    lines = (tmp_path / "out.jsonl").read_text().splitlines()
    rows = [json.loads(line, parse_constant=pytest.fail) for line in lines]
    assert rows == [{"a": 0.5, "deep": [{"x": None}]}, {"a": None, "deep": [{"x": 1.0}]}]


BAD_JSONL = {
    "a broken line": (b'{"a": 0.5}\n{"a": 0.\n', "line 2: not valid JSON"),
    "not an object": (b'{"a": 0.5}\n\n[0.5]\n', "line 3: a JSON object"),
    "latin-1": ('{"a": 0.5, "b": "é"}'.encode("latin-1"), "line 1: not valid JSON"),
    "a doubled name": (b'{"a": 0.5, "a": 1}\n', "line 1: Column names must be unique"),
    "too deep": (b'{"a": ' + b"[" * 100_000, "line 1: lists and records go at most 100 levels deep"),
    "empty": (b"", "has no rows"),
    "mixed scores": (b'{"a": 0.5}\n{"a": "oops"}\n{"a": 0.25}\n', "'a' is not numeric: row 1"),
}


@pytest.mark.parametrize("columns", [["a"], None], ids=["named", "not named"])
@pytest.mark.parametrize(("content", "told"), BAD_JSONL.values(), ids=BAD_JSONL)
def test_a_bad_jsonl_is_refused_with_the_line_or_the_row(tmp_path, content, told, columns):
    (tmp_path / "s.jsonl").write_bytes(content)
    with pytest.raises(TableError, match=told):
        read_table(tmp_path / "s.jsonl", columns=columns)


def test_lines_that_the_fast_parser_leaves_are_read_all_the_same(tmp_path):
    lines = ['{"a": 0.5, "t": "x: \\"y\\": z"}', '{"a": NaN, "t": "http://x"}', "", ' {"a" : 1e400} \r', '{"a": -0.0}']
    (tmp_path / "s.jsonl").write_bytes(b"\xef\xbb\xbf" + "\n".join(lines).encode())
    table = read_table(tmp_path / "s.jsonl", columns=["a"])
    npt.assert_array_equal(table.values[:, 0], [0.5, np.nan, np.inf, -0.0])
    assert np.signbit(table.values[3, 0])
    assert table.others["t"].to_pylist() == ['x: "y": z', "http://x", None, None]


@pytest.mark.parametrize(
    ("content", "line"),
    [('{"a": 1}{"a": 2}\n', 1), ('{"a": 1,\n"b": 2}\n', 1), ('{"a": 1}\n{"a": 2, "b": {"c": 1, "c": 2}}\n', 2)],
    ids=["two on a line", "one on two lines", "doubled inside"],
)
def test_what_is_not_one_object_a_line_is_refused_however_fast_it_is_read(tmp_path, content, line):
    (tmp_path / "s.jsonl").write_text(content)
    with pytest.raises(TableError, match=f"line {line}: "):
        read_table(tmp_path / "s.jsonl", columns=["a"])


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=6),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=6,
)


@settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(rows=st.lists(st.dictionaries(st.text(max_size=4), json_values, max_size=4), min_size=1, max_size=5))
def test_the_fast_parser_reads_what_pythons_reads(tmp_path, rows):
    part = SimpleNamespace(path=write_rows(tmp_path / "s.jsonl", rows), is_packed=False)
    (block, first_line), *_ = as_jsonl._blocks(part)
    slowly = list(as_jsonl._one_by_one(block, part, first_line))
    assert repr(list(map(list, as_jsonl._batches(part)))) == repr([slowly])


def test_the_usual_rows_are_read_by_the_fast_parser_alone(tmp_path, monkeypatch):
    monkeypatch.setattr(as_jsonl, "_one_by_one", pytest.fail)
    rows = [{"id": f"row: {k}", "a": k / 7, "where": {"x": [k, {"y": "z"}]}} for k in range(100)]
    assert len(read_table(write_rows(tmp_path / "s.jsonl", rows), columns=["a"])) == 100


def test_a_line_of_json_that_never_ends_is_refused_without_reading_it_all(tmp_path, monkeypatch):
    monkeypatch.setattr(as_jsonl, "LINE_BYTES", 2**20)
    (tmp_path / "s.jsonl").write_bytes(b'{"a": "' + b"x" * 2**21)
    with pytest.raises(TableError, match="line 1: longer than 1 MiB"):
        read_table(tmp_path / "s.jsonl")


# all kinds ---------------------------------------------------------------------------------------------------------


def test_a_file_cut_anywhere_or_with_altered_bytes_never_crashes_the_reader(tmp_path, kind):
    path = save(tmp_path / f"s{kind}", {"a": np.random.default_rng(0).random(50), "b": np.arange(50) / 3})
    content = path.read_bytes()
    rng = np.random.default_rng(1)
    for _ in range(60):
        spoilt = bytearray(content[: rng.integers(1, len(content) + 1)])
        spoilt[rng.integers(len(spoilt))] = rng.integers(256)
        path.write_bytes(spoilt)
        try:
            read_table(path, columns=["a", "b"])
        except TableError as error:
            assert str(error).isprintable()  # noqa: PT017 - most cuts are errors, some are not


def test_garbage_is_refused_by_every_reader(tmp_path, kind):
    (tmp_path / f"s{kind}").write_bytes(np.random.default_rng(0).bytes(20_000))
    with pytest.raises(TableError) as caught:
        read_table(tmp_path / f"s{kind}")
    assert str(caught.value).isprintable()


def test_a_table_without_rows_is_one_empty_batch_with_its_columns(tmp_path):
    for suffix in (".csv", ".tsv.gz", ".parquet", ".feather", ".arrows", ".npz"):
        path = save(tmp_path / f"s{suffix}", {"a": np.array([]), "b": np.array([])})
        batches = list(read_batches(path, columns=["a"]))
        assert [len(batch) for batch in batches] == [0]
        assert batches[0].schema.names == ["a", "b"]
        with pytest.raises(TableError, match="has no rows"):
            read_table(path)


def test_csv_cannot_hold_lists_and_says_so(tmp_path):
    with pytest.raises(TableError, match=r"csv cannot hold the lists or records in \['x'\]"):
        write_batches(tmp_path / "out.csv", pa.table({"x": [[1]], "a": [0.5]}).to_batches())
    assert list(tmp_path.iterdir()) == []


def test_what_arrow_writes_as_csv_reads_back_to_the_last_bit(tmp_path):
    rng = np.random.default_rng(0)
    values = rng.random(2_000) * 10.0 ** rng.integers(-300, 300, size=2_000)
    write_batches(tmp_path / "out.csv", pa.table({"a": values, "b": -values}).to_batches())
    npt.assert_array_equal(read_table(tmp_path / "out.csv").values, np.column_stack([values, -values]))
    assert pc.read_csv(tmp_path / "out.csv")["a"].to_pylist() == values.tolist()


def parquet_of_texts(path, texts, places):
    """Write rows that take their text from a few, each kept once."""
    note = pa.DictionaryArray.from_arrays(pa.array(places, pa.int32()), pa.array(texts))
    table = pa.table({"a": np.linspace(0.0, 1.0, len(places)), "note": note})
    pq.write_table(table, path, compression="zstd", store_schema=False)
    return path


def test_a_text_that_many_rows_repeat_is_refused_before_the_first_row_is_read(tmp_path, monkeypatch):
    monkeypatch.setenv("VECUQ_MAX_UNPACKED", "0.1")
    bomb = parquet_of_texts(tmp_path / "t.parquet", ["x" * 1_000_000], [0] * 5_000)
    with pytest.raises(TableError, match=r"unpacks to more than 1\.6 GiB in all; the limit for it is 1\.6 GiB"):
        next(iter(read_batches(bomb, columns=["a"])))


def test_a_list_of_many_equal_numbers_in_a_kilobyte_is_refused(tmp_path, monkeypatch):
    monkeypatch.setenv("VECUQ_MAX_UNPACKED", "0.1")
    n = 10_000_000
    lists = pa.ListArray.from_arrays(pa.array([0, n, n], pa.int32()), pa.array(np.full(n, 0.5)))
    pq.write_table(pa.table({"a": [0.5, 1.0], "l": lists}), tmp_path / "t.parquet", compression="zstd")
    assert (tmp_path / "t.parquet").stat().st_size < 2_000
    with pytest.raises(TableError, match="of memory at once"):
        next(iter(read_batches(tmp_path / "t.parquet", columns=["a"])))


def test_a_long_text_in_one_row_of_many_is_read(tmp_path, monkeypatch):
    monkeypatch.setenv("VECUQ_MAX_UNPACKED", "0.1")
    honest = parquet_of_texts(tmp_path / "t.parquet", ["x" * 1_000_000, "y"], [0] + [1] * 4_999)
    assert sum(map(len, read_batches(honest, columns=["a"]))) == 5_000


def test_parquet_lists_the_different_values_of_a_column_only_where_they_repeat(tmp_path):
    rng, n = np.random.default_rng(0), 10_000
    table = pa.table({"score": rng.random(n), "p_value": rng.integers(9, size=n) / 9, "text": ["same"] * n})
    write_batches(tmp_path / "a.parquet", table.to_batches())
    with pq.ParquetFile(tmp_path / "a.parquet") as file:
        group = file.metadata.row_group(0)
        listed = [group.column(k).has_dictionary_page for k in range(3)]
        assert file.read().equals(table)
    assert listed == [False, True, True]


@pytest.mark.parametrize("name", ["plain", "a b", 'a "quoted" one', "back\\slash", "line\nbreak", "größe", ""])
def test_jsonl_takes_any_name_of_a_column(tmp_path, name):
    table = pa.table({name: [0.5, None], "other": ["x", None]})
    write_batches(tmp_path / "a.jsonl", table.to_batches())
    assert [json.loads(line) for line in (tmp_path / "a.jsonl").read_text().splitlines()] == table.to_pylist()
    back = pa.Table.from_batches(list(read_batches(tmp_path / "a.jsonl")))
    assert back.to_pylist() == table.to_pylist()


@pytest.mark.parametrize("line", ['{"a": 1, "a": 2}', '{"a": 1, "b": 2}', "{}", '{"b": 1}', "[1]", '{"a": 1', ""])
def test_a_line_unlike_the_others_is_read_as_it_is_or_refused(tmp_path, line):
    (tmp_path / "a.jsonl").write_text("\n".join(['{"a": 0.5}', line, '{"a": 0.25}']) + "\n")
    part = SimpleNamespace(path=tmp_path / "a.jsonl", is_packed=False)
    (block, first_line), *_ = as_jsonl._blocks(part)
    try:
        slowly = list(as_jsonl._one_by_one(block, part, first_line))
    except (TableError, ColumnError) as error:
        with pytest.raises(type(error)):
            list(as_jsonl._batches(part))
    else:
        assert list(map(list, as_jsonl._batches(part))) == [slowly]
