"""Python, the command line, HTTP, Dask and Spark decide the same rows alike, to the bit."""

from functools import cache

import faces
import pyarrow.parquet as pq
import pytest
from cases import SCORE, cases_of, differing, new_table

pytestmark = pytest.mark.filterwarnings("ignore::vecuq.errors.VecuqWarning")


@pytest.fixture(scope="session")
def known(saved, new, tmp_path_factory):
    """What `vecuq score` adds in a case."""
    folder = tmp_path_factory.mktemp("known")

    @cache
    def asked(name):
        case = next(one for one in SCORE if one.name == name)
        return faces.command(saved(case.model), new, folder / f"{len(list(folder.iterdir()))}.parquet", case.options)

    return lambda case: asked(case.name)


@pytest.mark.parametrize(**cases_of("python"))
def test_python(known, saved, case):
    expected = known(case)
    found = faces.python(saved(case.model), new_table(), **case.options)
    assert set(found) == set(expected)
    assert differing(found, expected, expected) == []


@pytest.mark.parametrize("kind", faces.MEDIA)
@pytest.mark.parametrize(**cases_of("http"))
def test_http(known, saved, case, kind):
    pytest.importorskip("fastapi")
    expected, served = known(case), faces.Http(saved(case.model))
    assert differing(served.score(new_table(), kind, **case.options), expected, expected) == []
    assert differing(served.score(new_table(), kind, accept="json", **case.options), expected, expected) == []


@pytest.mark.parametrize(**cases_of("dask"))
def test_dask(known, saved, case):
    pytest.importorskip("dask.dataframe", reason="Dask is not installed: pip install 'vecuq[dask]'")
    expected = known(case)
    found = faces.dask(saved(case.model), new_table(), **case.options)
    assert list(found) == list(expected)
    assert differing(found, expected, expected) == []


@pytest.mark.filterwarnings("ignore:unclosed <socket:ResourceWarning")
@pytest.mark.parametrize(**cases_of("spark"))
def test_spark(spark, known, saved, case):
    expected = known(case)
    found = faces.spark(spark, saved(case.model), new_table(), **case.options)
    assert list(found) == list(expected)
    assert differing(found, expected, expected) == []


def test_a_gate_of_batches_refuses_a_single_row(saved):
    pytest.importorskip("fastapi")
    body = faces.body_of(new_table().slice(0, 1), "json")
    (answer,) = faces.Http(saved("gate_average")).together(("/score", {}, body, {"content-type": "application/json"}))
    assert answer.status_code == 422
    assert "a single row came" in answer.json()["message"]


def test_a_table_that_was_scored_is_scored_again(saved, new, tmp_path):
    pytest.importorskip("dask.dataframe", reason="Dask is not installed: pip install 'vecuq[dask]'")
    model, asked = saved("gate"), {"alpha": 0.1, "explain": True}
    first = faces.command(model, new, tmp_path / "first.parquet", asked)
    before = pq.read_table(tmp_path / "first.parquet")
    again = faces.command(model, tmp_path / "first.parquet", tmp_path / "again.parquet", {**asked, "replace": True})
    assert differing(again, first, first) == []
    assert differing(faces.dask(model, before, **asked, replace=True), first, first) == []
