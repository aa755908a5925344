"""Everything that can be wrong with the input, from the command line and from Python: a clear line, and no trace."""

import gzip
import json
import os

import numpy as np
import numpy.testing as npt
import pandas as pd
import pyarrow as pa
import pytest
from safetensors.numpy import save_file

from vecuq import ScoreTable, Settings, VecUQ, fit_ranker, load
from vecuq.errors import CalibrationError, ColumnError, MissingValueWarning, ModelFileError, TableError
from vecuq.table import write_batches

KINDS = (".csv", ".parquet", ".npz", ".jsonl")


def save(path, columns):
    write_batches(path, pa.table(columns).to_batches())
    return path


@pytest.fixture
def good(tmp_path, make_rows):
    """A good table of new rows on disk."""
    return save(tmp_path / "good.parquet", make_rows(20, 5))


# Calibration -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_missing_or_infinite_calibration_scores_are_counted_by_column(tmp_path, refused, make_rows, kind, bad):
    rows = make_rows(30, 0)
    rows["knn"][[4, 9]] = bad
    told = refused("fit", save(tmp_path / f"c{kind}", rows), "-o", tmp_path / "m.vecuq")
    assert "'knn' in 2 of 30 rows" in told
    assert "Drop these 2 rows, or leave the column out" in told
    assert "row 4" in told


CALIBRATION = {
    "one row": ({"a": [0.5], "b": [0.25]}, "At least two calibration rows are needed"),
    "two identical rows": ({"a": [0.5, 0.5], "b": [0.25, 0.25]}, "identical, so there is no order to learn"),
    "all rows identical": ({"a": [0.5] * 40, "b": [0.25] * 40}, "identical, so there is no order to learn"),
    "doubled names": ("a,b,a\n1.5,2.5,3.5\n2.5,1.5,1.0\n", "these come twice: ['a']"),
    "stray text": ("a,b\n0.5,1.5\n0.25,oops\n0.1,2.5\n", "'b' is not numeric: row 1 (counting from 0) holds 'oops'"),
    "ragged rows": ("a,b\n0.5,1.5\n0.25\n", "row 1 (counting from 0) has 1 cell, the header 2"),
    "no rows": ("a,b\n", "has no rows"),
    "an empty file": ("", "is empty"),
    "only text": ("a,b\nx,y\nz,w\n", "holds numbers"),
    "latin-1": ("né,b\n0.5,1.5\n".encode("latin-1"), "is not text in UTF-8"),
    "garbage": (np.random.default_rng(0).bytes(9_000), "error: "),
}


@pytest.mark.parametrize(("content", "told"), CALIBRATION.values(), ids=CALIBRATION)
def test_calibration_from_which_nothing_can_be_learned_is_refused(tmp_path, refused, content, told):
    path = tmp_path / "c.csv"
    if isinstance(content, dict):
        save(path, content)
    else:
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
    assert told in refused("fit", path, "-o", tmp_path / "m.vecuq")


def test_two_different_rows_are_enough(run, tmp_path):
    path = save(tmp_path / "c.csv", {"a": [0.5, 0.6], "b": [0.25, 0.3]})
    assert run("fit", path, "-o", tmp_path / "m.vecuq").exit_code == 0
    assert np.isfinite(load(tmp_path / "m.vecuq").uncertainty([[0.5, 0.25], [9.0, 9.0]])).all()


def test_more_columns_than_rows_are_no_trouble():
    rows = np.random.default_rng(0).gamma(1.0, size=(4, 6))
    ranker = fit_ranker(rows, Settings(anchor_mass=0.2))
    assert np.isfinite(ranker.uncertainty(rows)).all()


def test_integers_float32_read_only_and_strided_rows_give_the_same_model_and_scores():
    rows = np.random.default_rng(0).integers(0, 50, size=(60, 2))
    frozen = rows.astype(float)
    frozen.flags.writeable = False
    strided = np.repeat(rows.astype(float), 2, axis=0)[::2]
    expected = fit_ranker(rows.astype(float)).uncertainty(rows.astype(float))
    for data in (rows, rows.astype(np.float32), frozen, strided, np.asfortranarray(rows), rows.tolist()):
        npt.assert_array_equal(fit_ranker(data).uncertainty(data), expected)
    npt.assert_array_equal(VecUQ().fit(frozen).uncertainty(strided), expected)


def test_a_column_that_is_constant_is_told_and_has_no_influence(run, tmp_path, make_rows):
    rows = make_rows(60, 0)
    path = save(tmp_path / "c.csv", {**rows, "flat": [0.5] * 60})
    result = run("fit", path, "-o", tmp_path / "m.vecuq")
    assert "flat (no influence)" in result.stdout
    with_flat = load(tmp_path / "m.vecuq").uncertainty(pa.table({**rows, "flat": np.arange(60.0)}))
    npt.assert_array_equal(with_flat, fit_ranker(rows).uncertainty(rows))


# New rows ----------------------------------------------------------------------------------------------------------


def test_missing_new_scores_are_nan_with_one_warning_and_change_no_other_row(ranker, make_rows):
    rows = np.column_stack(list(make_rows(300, 3).values()))
    expected = ranker.uncertainty(rows)
    spoilt = rows.copy()
    spoilt[5, 0], spoilt[6, 1], spoilt[7] = np.nan, np.inf, -np.inf
    with pytest.warns(MissingValueWarning, match="3 of 300 rows") as caught:
        score = ranker.uncertainty(spoilt)
    assert len(caught) == 1
    expected[5:8] = np.nan
    npt.assert_array_equal(score, expected)


def test_the_command_line_notes_rows_without_a_score_once(run, tmp_path, model, make_rows):
    rows = make_rows(20, 3)
    rows["knn"][[2, 4]] = np.nan
    result = run("score", model, save(tmp_path / "n.csv", rows), "-o", tmp_path / "o.csv")
    assert result.exit_code == 0
    assert result.stderr.count("\n") == 1
    assert "note: 2 of 20 rows have missing or infinite scores" in result.stderr
    assert pd.read_csv(tmp_path / "o.csv")["uncertainty"].isna().sum() == 2


def test_no_new_rows_give_no_scores_in_python(ranker):
    assert ranker.uncertainty(np.empty((0, 2))).shape == (0,)


@pytest.mark.parametrize("kind", KINDS)
def test_a_file_without_rows_is_refused(tmp_path, refused, model, kind):
    path = tmp_path / f"n{kind}"
    if kind == ".jsonl":
        path.touch()
    else:
        empty = pa.schema({"entropy": pa.float64(), "knn": pa.float64()})
        write_batches(path, [pa.RecordBatch.from_pylist([], schema=empty)])
    assert "no rows" in refused("score", model, path, "-o", tmp_path / "o.csv")


@pytest.mark.parametrize("kind", KINDS)
def test_wrong_columns_are_named_with_the_nearest(tmp_path, refused, model, kind):
    path = save(tmp_path / f"n{kind}", {"entropi": [0.5], "knn": [0.25]})
    told = refused("score", model, path, "-o", tmp_path / "o.csv")
    assert "lacks ['entropy']" in told
    assert "Did you mean 'entropi'?" in told


def test_new_rows_of_the_wrong_width_are_refused_in_python(ranker):
    with pytest.raises(TableError, match="fitted on 2 columns"):
        ranker.uncertainty(np.ones((3, 5)))


def test_columns_flipped_differently_than_in_calibration_are_refused(ranker, make_rows):
    with pytest.raises(ColumnError, match=r"direction of \['knn'\] differs"):
        ranker.uncertainty(ScoreTable.of(make_rows(5, 0), flip=["knn"]))


NEW_ROWS = {
    "a stray cell": (".csv", b"entropy,knn\n0.5,1.5\n0.25,oops\n", "'knn' is not numeric: row 1 (counting from 0)"),
    "a ragged row": (".csv", b"entropy,knn\n0.5,1.5\n0.25,1,2\n", "row 1 (counting from 0) has 3 cells, the header 2"),
    "doubled names": (".csv", b"entropy,knn,knn\n0.5,1.5,1\n", "these come twice: ['knn']"),
    "an empty csv": (".csv", b"", "is empty"),
    "decimal commas": (".csv", b"entropy;knn\n0,5;1\n", "holds '0,5'. Write numbers with a decimal point"),
    "no Arrow": (".feather", b"ARROW1 not at all", "cannot be read as arrow"),
    "no gzip": (".csv.gz", b"entropy,knn\n0.5,1\n", "cannot be read as csv"),
    "a cut gzip": (".jsonl.gz", gzip.compress(b'{"entropy": 1, "knn": 2}\n' * 99)[:50], "cannot be read as jsonl"),
    "binary csv": (".csv", b"\x00\x01\x02\xff" * 900, "is not text in UTF-8"),
    "no parquet": (".parquet", b"PAR1 not at all", "cannot be read as parquet"),
    "an empty parquet": (".parquet", b"", "cannot be read as parquet"),
    "no npz": (".npz", b"PK\x03\x04 not at all", "cannot be read as npz"),
    "a broken line": (".jsonl", b'{"entropy": 1, "knn": 2}\n{"entropy": ', "line 2: not valid JSON"),
    "a list": (".jsonl", b"[1, 2]\n", "line 1: a JSON object"),
    "text for a number": (".jsonl", b'{"entropy": 1, "knn": 2}\n{"entropy": 1, "knn": "x"}', "row 1 (counting from 0)"),
    "a list for a number": (".jsonl", b'{"entropy": 1, "knn": [2]}\n', "row 0 (counting from 0) holds [2]"),
}


@pytest.mark.parametrize(("kind", "content", "told"), NEW_ROWS.values(), ids=NEW_ROWS)
def test_new_rows_that_cannot_be_read_are_refused(tmp_path, refused, model, kind, content, told):
    (tmp_path / f"n{kind}").write_bytes(content)
    assert told in refused("score", model, tmp_path / f"n{kind}", "-o", tmp_path / "o.csv")


@pytest.mark.parametrize("out", ["o.csv", "o.parquet"])
def test_a_stray_cell_deep_in_a_large_csv_is_found_and_the_old_output_stays(tmp_path, refused, model, out):
    n_rows, row = 400_000, 399_999
    lines = [f"{k:07d},0.123456,1.5" for k in range(n_rows)]
    lines[row] = f"{row},0.5,n.a."
    path = tmp_path / "n.csv"
    path.write_text("id,entropy,knn\n" + "\n".join(lines))
    assert path.stat().st_size > 2 * 4 * 2**20
    (tmp_path / out).write_bytes(b"the table of yesterday")
    told = refused("score", model, path, "-o", tmp_path / out)
    assert f"'knn' is not numeric: row {row} (counting from 0) holds 'n.a.'" in told


@pytest.mark.parametrize("share", [0.5, 0.9, 0.999])
def test_a_parquet_file_cut_short_is_refused(tmp_path, refused, model, make_rows, share):
    path = save(tmp_path / "n.parquet", make_rows(5_000, 1))
    path.write_bytes(path.read_bytes()[: int(share * path.stat().st_size)])
    assert "cannot be read as parquet" in refused("score", model, path, "-o", tmp_path / "o.parquet")


def test_pickled_objects_in_npz_are_refused(tmp_path, refused, model):
    np.savez(tmp_path / "n.npz", entropy=np.array([0.5, {}], dtype=object), knn=np.ones(2))
    assert "pickled objects are refused" in refused("score", model, tmp_path / "n.npz", "-o", tmp_path / "o.csv")


def test_a_table_that_is_ranked_already_is_refused(tmp_path, refused, run, model, good):
    run("score", model, good, "-o", tmp_path / "o.csv")
    told = refused("score", model, tmp_path / "o.csv", "-o", tmp_path / "again.csv")
    assert "has columns ['uncertainty', 'p_value'] already" in told


# Paths -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("command", ["fit", "score", "report"])
def test_a_folder_or_nothing_in_place_of_a_table_is_refused(tmp_path, refused, model, good, command):
    (tmp_path / "folder.csv").mkdir()
    before = {"fit": [], "score": [model], "report": [model]}[command]
    out = tmp_path / {"score": "o.csv", "report": "o.html"}.get(command, "o")
    assert "is a folder without table files" in refused(command, *before, tmp_path / "folder.csv", "-o", out)
    assert "There is no file" in refused(command, *before, tmp_path / "absent.csv", "-o", out)


def test_a_folder_or_nothing_in_place_of_a_model_is_refused(tmp_path, refused, good):
    assert "is a folder" in refused("score", tmp_path, good, "-o", tmp_path / "o.csv")
    assert "There is no file" in refused("score", tmp_path / "absent.vecuq", good, "-o", tmp_path / "o.csv")


def test_a_pipe_in_place_of_a_table_is_refused_and_not_waited_for(tmp_path, run, model):
    os.mkfifo(tmp_path / "n.csv")
    result = run("score", model, tmp_path / "n.csv", "-o", tmp_path / "o.csv")
    assert result.exit_code == 1
    assert "is not a regular file" in result.stderr


@pytest.mark.parametrize(("command", "ending"), [("fit", ""), ("report", ".html"), ("score", ".csv")])
def test_outputs_that_cannot_be_written_are_refused(tmp_path, refused, model, good, command, ending):
    words = {"fit": (good,), "report": (model, good), "score": (model, good)}[command]
    (tmp_path / f"folder{ending}").mkdir()
    (tmp_path / "file").touch()
    assert "there is no folder" in refused(command, *words, "-o", tmp_path / "nowhere" / f"o{ending}")
    assert "not a directory" in refused(command, *words, "-o", tmp_path / "file" / f"o{ending}")
    assert "is a folder" in refused(command, *words, "-o", tmp_path / f"folder{ending}")


def test_folders_that_cannot_be_made_are_refused(tmp_path, refused):
    (tmp_path / "file").touch()
    assert "is a file" in refused("demo", "-o", tmp_path / "file")
    assert "is a file" in refused("demo", "-o", tmp_path / "file" / "inside")


def test_an_output_of_an_unknown_kind_is_refused(tmp_path, refused, model, good):
    assert "must end in one of" in refused("score", model, good, "-o", tmp_path / "o.xlsx")


def test_a_device_is_never_replaced(tmp_path, refused, model, good):
    (tmp_path / "o.html").symlink_to("/dev/null")
    assert "not a regular file" in refused("fit", good, "-o", "/dev/null")
    assert "not a regular file" in refused("report", model, good, "-o", tmp_path / "o.html")


# Models ------------------------------------------------------------------------------------------------------------


def test_a_model_cut_anywhere_is_refused(tmp_path, refused, model, good):
    content = model.read_bytes()
    for length in [0, 1, 7, 8, 9, 100, len(content) // 2, len(content) - 1]:
        model.write_bytes(content[:length])
        told = refused("score", model, good, "-o", tmp_path / "o.csv")
        assert "model.vecuq" in told


def test_a_model_with_one_byte_altered_is_refused_wherever_it_is(model):
    content = model.read_bytes()
    rng = np.random.default_rng(0)
    for place in rng.choice(len(content), size=400, replace=False):
        spoilt = bytearray(content)
        spoilt[place] ^= 1 << rng.integers(8)
        model.write_bytes(spoilt)
        with pytest.raises(ModelFileError):
            load(model)


FOREIGN = {
    "text": b"entropy,knn\n1,2\n",
    "pickle": b"\x80\x04\x95\x00",
    "zip": b"PK\x03\x04" + bytes(100),
    "a huge header": (2**62).to_bytes(8, "little") + b"{}",
    "zeros": bytes(1_000),
    "garbage": np.random.default_rng(0).bytes(5_000),
    "parquet": b"PAR1" + bytes(50) + b"PAR1",
}


@pytest.mark.parametrize("content", FOREIGN.values(), ids=FOREIGN)
def test_foreign_files_are_no_models(tmp_path, refused, model, good, content):
    model.write_bytes(content)
    told = refused("score", model, good, "-o", tmp_path / "o.csv")
    assert "model.vecuq is not a file of vecuq, or is cut or damaged" in told


def test_a_foreign_safetensors_file_is_no_model(tmp_path, refused, good):
    save_file({"weight": np.ones(3)}, tmp_path / "m.vecuq")
    assert "but not a file of vecuq" in refused("score", tmp_path / "m.vecuq", good, "-o", tmp_path / "o.csv")
    save_file({"weight": np.ones(3)}, tmp_path / "m.vecuq", metadata={"vecuq": "[1"})
    assert "header cannot be read" in refused("score", tmp_path / "m.vecuq", good, "-o", tmp_path / "o.csv")


def test_a_model_of_a_newer_format_asks_for_an_upgrade(tmp_path, refused, good):
    header = json.dumps({"format": 99, "library": "9.9", "checksum": "?"})
    save_file({"weight": np.ones(3)}, tmp_path / "m.vecuq", metadata={"vecuq": header})
    told = refused("score", tmp_path / "m.vecuq", good, "-o", tmp_path / "o.csv")
    assert "has format 99, written by vecuq 9.9" in told
    assert "Upgrade vecuq" in told


def test_model_and_table_in_the_wrong_order_are_recognised(tmp_path, refused, model, good):
    assert "a model is needed here, and the table comes after it" in refused(
        "score", good, model, "-o", tmp_path / "o.csv"
    )


def test_a_failed_fit_leaves_the_old_model(tmp_path, refused, model):
    path = save(tmp_path / "c.csv", {"a": [0.5, np.nan], "b": [0.25, 0.5]})
    before = model.read_bytes()
    refused("fit", path, "-o", model)
    assert model.read_bytes() == before


def test_the_same_errors_reach_python_as_value_errors():
    with pytest.raises(CalibrationError, match="no NaN or infinity") as caught:
        VecUQ().fit(np.array([[0.5, np.nan], [1.0, 2.0]]))
    assert isinstance(caught.value, ValueError)
