"""`vecuq fit` with many columns and with --column-groups: the groups are printed, saved and those of Python."""

import json

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from vecuq import VecUQ, load

RNG = np.random.default_rng(0)
FEW = ["entropy", "knn", "msp"]
MANY = [f"{name}_{k}" for k in range(4) for name in FEW]


@pytest.fixture
def tables(tmp_path):
    for name in ("calibration", "new"):
        rows = RNG.gamma(1.0, size=(500, 3))[:, np.arange(12) % 3] + 0.2 * RNG.random((500, 12))
        pq.write_table(pa.table(dict(zip(MANY, rows.T, strict=True))), tmp_path / f"{name}.parquet")
    return tmp_path


def test_fit_and_info_print_how_many_columns_were_grouped(run, tables):
    model = tables / "model.vecuq"
    said = run("fit", tables / "calibration.parquet", "-o", model).stdout
    told = run("info", model).stdout
    for text in (said, told):
        assert "ranked together, group 2" in text
        assert "knn_0, knn_1, knn_2, knn_3" in text
    assert json.loads(run("info", model, "--json").stdout)["column groups"]["group 1"] == MANY[::3]
    known = VecUQ().fit(pq.read_table(tables / "calibration.parquet"))
    assert load(model).to_bytes() == known.to_bytes()


def test_many_columns_are_scored_explained_and_gated(run, tables):
    model = tables / "model.vecuq"
    run("fit", tables / "calibration.parquet", "-o", model)
    run("score", model, tables / "new.parquet", "-o", tables / "ranked.parquet", "--alpha", "0.05", "--explain")
    ranked = pq.read_table(tables / "ranked.parquet")
    np.testing.assert_array_equal(ranked["uncertainty"], load(model).uncertainty(pq.read_table(tables / "new.parquet")))
    assert [name for name in ranked.column_names if name.startswith("contribution_")] == [
        f"contribution_{n}" for n in MANY
    ]
    run("report", model, tables / "new.parquet", "-o", tables / "report.html")
    assert "group 1: entropy_0, entropy_1" in (tables / "report.html").read_text()


@pytest.mark.parametrize(
    "words",
    [
        ("--column-groups", "first=entropy_0,knn_0; second=msp_0"),
        ("--column-groups", "first=entropy_0,knn_0", "--column-groups", "second=msp_0"),
    ],
    ids=["in one text", "repeated"],
)
def test_groups_are_given_by_name(run, tables, words):
    model = tables / "model.vecuq"
    columns = ("--columns", ",".join(MANY[:3]))
    said = run("fit", tables / "calibration.parquet", "-o", model, *columns, *words).stdout
    assert "ranked together, first" in said
    assert load(model).settings.column_groups.to_dict() == {"first": ["entropy_0", "knn_0"], "second": ["msp_0"]}


def test_groups_without_names_are_numbered(run, tables):
    model = tables / "model.vecuq"
    run(
        *("fit", tables / "calibration.parquet", "-o", model, "--columns", ",".join(MANY[:3])),
        *("--column-groups", "entropy_0,knn_0;msp_0"),
    )
    assert list(load(model).diagnostics.column_groups) == ["group 1", "group 2"]


@pytest.mark.parametrize(
    ("groups", "message"),
    [
        ("a=entropy_0,knn_0;a=msp_0", "with another name for each"),
        ("=entropy_0", "--column-groups must be NAME=A,B;NAME=C"),
        ("a=;b=msp_0", "--column-groups must hold 1 to 10 columns in each group"),
    ],
)
def test_groups_that_make_no_sense_are_wrong_usage(run, tables, groups, message):
    done = run("fit", tables / "calibration.parquet", "--columns", ",".join(MANY[:3]), "--column-groups", groups)
    assert done.exit_code == 2
    assert message in " ".join(done.stderr.replace("│", " ").split())


def test_columns_without_a_group_are_named(refused, tables):
    said = refused("fit", tables / "calibration.parquet", "--column-groups", "a=entropy_0;b=msp_0")
    assert "--column-groups lacks ['knn_0'" in said


def test_more_than_64_columns_are_refused_in_one_line(refused, tmp_path):
    wide = {f"c{k}": RNG.random(50) for k in range(65)}
    pq.write_table(pa.table(wide), tmp_path / "wide.parquet")
    said = refused("fit", tmp_path / "wide.parquet", "-o", tmp_path / "model.vecuq")
    assert "65 varying score columns are too many; 64 is the limit." in said
