"""Columns, ids and categories with names that no field of a program can have are served like any other."""

import numpy as np
import pyarrow as pa
import pytest

from vecuq import fit_ranker, load
from vecuq.errors import ColumnWarning

ODD = ('a"b', "c\\d", "e\nf", "ü 雪", "rows")


@pytest.fixture(scope="module")
def odd(tmp_path_factory):
    rng, path = np.random.default_rng(0), tmp_path_factory.mktemp("odd") / "odd.vecuq"
    fit_ranker({name: rng.gamma(1.0, size=300) for name in ODD}).save(path)
    return path


@pytest.fixture
def rows(odd):
    rng = np.random.default_rng(1)
    names = load(odd).columns
    return [dict(zip(names, row, strict=True)) for row in rng.gamma(1.0, size=(20, len(names))).tolist()]


def test_odd_names_of_columns_get_the_numbers_of_python(serve, odd, rows):
    rows[3]['a"b'] = None
    expected = load(odd).rank(rows, missing="marginal", warn=False).uncertainty.tolist()
    came = serve(models={"odd": odd}).post("/score", json={"rows": rows, "missing": "marginal"})
    assert [row["uncertainty"] for row in came.json()["rows"]] == expected
    many = serve(models={"odd": odd}).post("/score", json={"rows": rows * 500, "missing": "marginal"})
    assert [row["uncertainty"] for row in many.json()["rows"]] == expected * 500


def test_a_wrong_cell_of_such_a_column_is_named(serve, odd, rows):
    rows[3]['a"b'] = "three"
    came = serve(models={"odd": odd}).post("/score", json={"rows": rows})
    assert came.status_code == 422
    assert "Row 3" in came.json()["message"]
    assert 'a"b' in came.json()["message"]
    assert (
        serve(models={"odd": odd}).post("/score", json={"rows": [*rows[:2], 7]}).json()["message"].startswith("Row 2")
    )


@pytest.mark.parametrize("name", ['q"', "b\\", "\x00", "é", "rows"])
def test_an_id_may_have_any_name(serve, name):
    row = {"entropy": 0.5, "knn": 1.5, "confidence": 0.5, name: "one"}
    came = serve("model").post("/score", json={"rows": [row], "id": name})
    assert came.json()["rows"][0]["id"] == "one"


@pytest.mark.parametrize("by", ["id", "entropy", 'q"'])
def test_a_category_that_cannot_be_one_is_refused(serve, by):
    row = {"entropy": 0.5, "knn": 1.5, "confidence": 0.5, "id": "one"}
    came = serve("gate").post("/score", json={"rows": [row], "by": by})
    assert (came.status_code, came.json()["error"]) == (422, "bad_option")


def test_names_and_maps_of_fields_are_bounded(serve):
    row = {"entropy": 0.5, "knn": 1.5, "confidence": 0.5}
    for option, value in (("id", "x" * 1_001), ("by", "x" * 1_001), ("map", "x" * 20_001)):
        assert serve("model").post("/score", json={"rows": [row], option: value}).status_code == 422


def test_a_score_column_called_id_holds_no_ids_in_json_and_in_tables(serve, tmp_path):
    rng = np.random.default_rng(0)
    with pytest.warns(ColumnWarning, match="an id"):
        fit_ranker({"id": rng.integers(0, 9, 300).astype(float), "b": rng.random(300)}).save(tmp_path / "it.vecuq")
    client = serve(models={"it": tmp_path / "it.vecuq"})
    as_json = client.post("/score", json={"rows": [{"id": 1, "b": 0.5}]})
    table = pa.table({"id": pa.array([1], pa.int64()), "b": [0.5]})
    out = pa.BufferOutputStream()
    with pa.ipc.new_stream(out, table.schema) as writer:
        writer.write_table(table)
    headers = {"content-type": "application/vnd.apache.arrow.stream", "accept": "application/json"}
    as_table = client.post("/score", content=out.getvalue().to_pybytes(), headers=headers)
    assert "id" not in as_json.json()["rows"][0]
    assert as_table.json() == as_json.json()
