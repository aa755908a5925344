"""The client against a running service: the numbers of Python, to the bit, whichever way rows travel."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from started import started

from vecuq import AnswerPipeline, Gate, VecUQ, load
from vecuq.client import Client, ServiceError
from vecuq.data import load_demo
from vecuq.service import Feedback

pytestmark = pytest.mark.nightly

KEY = "a-key-for-tests"
NEW = load_demo().new


@pytest.fixture(scope="module")
def gate(tmp_path_factory):
    path = tmp_path_factory.mktemp("live") / "gate.vecuq"
    calibration, new = load_demo()
    labelled = new.slice(0, 500)
    model = VecUQ(columns=calibration.column_names).fit(calibration)
    Gate(model, accuracy=0.9).fit(labelled, [1 - wrong for wrong in labelled["is_error"].to_pylist()]).save(path)
    return path


@pytest.fixture(scope="module")
def judge(tmp_path_factory):
    path = tmp_path_factory.mktemp("live") / "bot.vecuq"
    rng = np.random.default_rng(0)
    doubts = rng.random(600)
    answers = [
        {"text": "Paris", "samples": ["Paris" if rng.random() > doubt else "Lyon" for _ in range(6)]}
        for doubt in doubts
    ]
    AnswerPipeline(measures=["consistency"], accuracy=0.9).fit(answers, rng.random(600) < doubts**3 / 2).save(path)
    return path


@pytest.fixture(scope="module")
def service(gate, judge):
    with started(
        gate, judge, "--store", gate.with_name("service.sqlite"), "--audit", "0.5", VECUQ_API_KEY=KEY
    ) as running:
        yield running


@pytest.fixture
def client(service):
    with Client(service.url, api_key=KEY) as made:
        yield made


@pytest.fixture(scope="module")
def expected(gate):
    loaded, rows = load(gate), NEW.slice(500)
    return loaded.model.uncertainty(rows), loaded.accept(rows), loaded.p_wrong(rows)


def rows_of(table):
    return table.select([*load_demo().calibration.column_names]).to_pylist()


def test_rows_get_the_numbers_of_python(client, expected):
    scored = client.score(rows_of(NEW.slice(500)), explain=True)
    uncertainty, accept, p_wrong = expected
    assert [row.uncertainty for row in scored.rows] == uncertainty.tolist()
    assert [row.accept for row in scored.rows] == accept.tolist()
    assert [row.p_wrong for row in scored.rows] == p_wrong.tolist()
    assert "contributes" in scored.rows[0].why
    assert set(scored.rows[0].contributions) == set(load_demo().calibration.column_names)


@pytest.mark.parametrize("kind", [pa.Table, pd.DataFrame, pl.DataFrame])
def test_tables_get_the_numbers_of_python_in_their_kind(client, expected, kind):
    table = NEW.slice(500).drop_columns(["id"])
    given = {pa.Table: lambda: table, pd.DataFrame: table.to_pandas, pl.DataFrame: lambda: pl.from_arrow(table)}[kind]()
    back = client.score(given, alpha=0.05)
    assert isinstance(back, kind)
    assert np.array_equal(np.asarray(back["uncertainty"]), expected[0])
    assert np.array_equal(np.asarray(back["accept"]), expected[1])
    assert np.asarray(back["is_error"]).tolist() == table["is_error"].to_pylist()
    assert "flagged" in list(getattr(back, "column_names", None) or back.columns)


def test_files_are_scored_from_format_to_format(client, expected, tmp_path):
    from pyarrow import csv, feather, parquet

    csv.write_csv(NEW.slice(500).drop_columns(["id"]), tmp_path / "new.csv")
    parquet.write_table(NEW.slice(500).drop_columns(["id"]), tmp_path / "new.parquet")
    for source in ("new.csv", "new.parquet"):
        for name, read in {
            "out.csv": csv.read_csv,
            "out.parquet": parquet.read_table,
            "out.arrow": feather.read_table,
        }.items():
            back = read(client.score_file(tmp_path / source, tmp_path / name))
            assert back["uncertainty"].to_pylist() == expected[0].tolist(), (source, name)


def test_a_reply_gets_the_verdict_of_python(client, judge):
    samples = ["Paris", "Paris", "Lyon", "Paris", "Lyon", "Paris"]
    came, wanted = client.judge("Paris", samples, question="Capital?", model="bot"), load(judge)("Paris", samples)
    assert (came.uncertainty, came.p_value, came.accept) == (wanted.uncertainty, wanted.p_value, wanted.accept)
    assert (came.values, came.why) == (wanted.values, wanted.why)


def test_decisions_queues_and_feedback_fit_together(client):
    rows = [{**row, "id": f"fit{k}"} for k, row in enumerate(rows_of(NEW.slice(500)))]
    scored = client.score(rows)
    drawn = next(row.id for row in scored.rows if row.audit)
    deferred = [row.id for row in scored.rows if not row.accept]
    assert [row.accept for row in client.score(rows).rows] == [row.accept for row in scored.rows]
    assert drawn in [row.id for row in client.queue(kind="audit", limit=1_000).rows]
    reviewed = client.queue(limit=2)
    assert len(reviewed.rows) == 2
    assert reviewed.rows[0].uncertainty >= reviewed.rows[1].uncertainty
    more = client.queue(limit=2, after=reviewed.rows[-1].id)
    assert not {row.id for row in more.rows} & {row.id for row in reviewed.rows}
    assert client.feedback(drawn, correct=True, kind="audit", who="ada").counted
    assert client.feedback(drawn, correct=True, kind="audit", who="ada").status == "known"
    taken = client.feedback_all([Feedback(name, correct=False) for name in deferred[:3]])
    assert [(one.status, one.scored, one.counted) for one in taken] == [("stored", True, False)] * 3
    with pytest.raises(ServiceError) as caught:
        client.feedback(drawn, correct=False, kind="audit")
    assert (caught.value.status, caught.value.error) == (409, "contradiction")
    live = client.live()
    assert live.gate.counted >= 1
    assert live.totals["rows"] >= len(rows)


def test_what_the_service_says_of_itself(client, service):
    model = client.model()
    assert (model.name, model.kind, model.is_answers) == ("gate", "gate", False)
    assert "With confidence" in model.gate["certificate_text"] or model.gate["certificate"]
    assert client.model("bot").is_answers
    assert client.ready()
    assert set(client.ready().models) == {"gate", "bot"}


def test_refusals_name_the_request(client, service):
    with pytest.raises(ServiceError) as caught:
        client.score([{"knn": 1.0}])
    assert (caught.value.status, caught.value.error) == (422, "bad_columns")
    assert caught.value.request_id
    with Client(service.url, api_key="another") as stranger, pytest.raises(ServiceError) as caught:
        stranger.score([{"knn": 1.0}])
    assert (caught.value.status, caught.value.error) == (401, "wrong_key")
    assert not [line for line in service.lines if KEY in line]


def test_many_at_once_get_their_own_rows_back(service, expected):
    rows = rows_of(NEW.slice(500))

    with Client(service.url, api_key=KEY) as client, ThreadPoolExecutor(32) as threads:
        found = list(threads.map(lambda row: client.score([row]), rows))
    assert [one.rows[0].uncertainty for one in found] == expected[0].tolist()


def test_a_service_that_is_gone_is_named(service):
    with Client("http://127.0.0.1:9", retries=0) as client, pytest.raises(ServiceError, match="No service answers"):
        client.ready()
