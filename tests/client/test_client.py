"""The client against a service that is played by a function: what it sends, and what it makes of every answer."""

import json
from copy import copy

import httpx
import msgspec
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from vecuq import VecuqError
from vecuq.client import Client, ServiceError
from vecuq.errors import SettingError, TableError
from vecuq.service import Feedback

URL = "http://service.example"
ROWS = [{"entropy": 0.5, "id": "a"}, {"entropy": None, "id": "b"}]
SCORED = {"model": "m", "checksum": "c", "rows": [{"id": "a", "uncertainty": 0.25, "accept": True}, {"id": "b"}]}
BUSY = httpx.Response(
    429, json={"error": "busy", "message": "Too many.", "request_id": "r"}, headers={"retry-after": "0"}
)


class Played:
    """Answers requests in turn and keeps them; the last answer is given again and again."""

    def __init__(self, *answers):
        self.answers, self.requests = list(answers), []

    def __call__(self, request):
        request.read()
        self.requests.append(request)
        answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        if isinstance(answer, Exception):
            raise answer
        if callable(answer):
            return answer(request)
        return httpx.Response(answer.status_code, headers=answer.headers, content=answer.content)

    @property
    def body(self):
        return json.loads(self.requests[-1].content)


def made(played, **how):
    """Make a client of a played service."""
    return Client(URL, transport=httpx.MockTransport(played), **how)


def answer(content, status=200, **headers):
    return httpx.Response(status, json=content, headers=headers)


def test_rows_go_as_json_and_come_back_typed():
    played = Played(answer(SCORED))
    scored = made(played, api_key="secret").score(ROWS, alpha=0.05, explain=True, missing="marginal")
    assert (scored.model, scored.rows[0].uncertainty, scored.rows[0].accept) == ("m", 0.25, True)
    assert (scored.rows[1].uncertainty, scored.rows[1].p_value) == (None, None)
    request = played.requests[0]
    assert (request.method, request.url.path) == ("POST", "/score")
    assert dict(request.url.params) == {"alpha": "0.05", "explain": "true", "missing": "marginal"}
    assert played.body == {"rows": ROWS}
    assert request.headers["authorization"] == "Bearer secret"


def test_numbers_of_numpy_and_nan_are_sent_as_json_has_them():
    played = Played(answer(SCORED))
    made(played).score([{"a": np.float64(0.1), "b": np.int64(3), "c": float("nan"), "d": np.float32("nan")}])
    assert played.body == {"rows": [{"a": 0.1, "b": 3, "c": None, "d": None}]}


@pytest.mark.parametrize("infinite", [float("inf"), np.float64("-inf")])
def test_an_infinite_value_is_not_sent_as_a_missing_one(infinite):
    with pytest.raises(TableError, match=r"Row 1 has an infinite value in 'a'"):
        made(Played(answer(SCORED))).score([{"a": 1.0}, {"a": infinite}])


def test_a_model_is_part_of_the_path():
    played = Played(answer(SCORED))
    made(played, model="b c").score(ROWS)
    made(played, model="b c").score(ROWS, model="d/e")
    paths = [request.url.raw_path for request in played.requests]
    assert paths == [b"/models/b%20c/score", b"/models/d%2Fe/score"]


def test_the_service_may_stand_under_a_path():
    played = Played(answer(SCORED))
    Client(f"{URL}/vecuq/", transport=httpx.MockTransport(played)).score(ROWS)
    assert played.requests[0].url.path == "/vecuq/score"


def with_a_column(request):
    table = pa.ipc.open_stream(request.content).read_all()
    sink = pa.BufferOutputStream()
    table = table.append_column("uncertainty", pa.array(np.arange(len(table)) / 4))
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    return httpx.Response(
        200, content=sink.getvalue().to_pybytes(), headers={"content-type": request.headers["accept"]}
    )


TABLE = pa.table({"entropy": [0.5, None, 2.0], "id": ["a", "b", "c"]})


def test_a_table_goes_as_arrow_and_comes_back_in_its_kind():
    played = Played(with_a_column)
    client = made(played)
    as_arrow = client.score(TABLE)
    assert as_arrow.column_names == ["entropy", "id", "uncertainty"]
    assert client.score(TABLE.to_batches()[0]).equals(as_arrow)
    as_polars = client.score(pl.from_arrow(TABLE))
    assert isinstance(as_polars, pl.DataFrame)
    assert as_polars["uncertainty"].to_list() == [0.0, 0.25, 0.5]
    as_pandas = client.score(pd.DataFrame({"entropy": [0.5, np.nan, 2.0]}, index=[7, 8, 9]))
    assert isinstance(as_pandas, pd.DataFrame)
    assert as_pandas["uncertainty"].to_dict() == {7: 0.0, 8: 0.25, 9: 0.5}
    assert {request.headers["content-type"] for request in played.requests} == {"application/vnd.apache.arrow.stream"}


def test_bits_survive_the_way():
    values = np.random.default_rng(0).standard_gamma(1.0, 1_000)
    echoed = Played(
        lambda request: answer(
            {
                "model": "m",
                "checksum": "c",
                "rows": [{"uncertainty": row["a"]} for row in json.loads(request.content)["rows"]],
            }
        )
    )
    back = made(echoed).score([{"a": value} for value in values.tolist()])
    assert [row.uncertainty for row in back.rows] == values.tolist()


@pytest.mark.parametrize(
    ("rows", "match"),
    [
        ({"a": 1.0}, "one dict"),
        ([{"a": 1.0}, 3], "one of them is a int"),
        (np.zeros((2, 2)), "got ndarray"),
        ("a,b\n1,2\n", "got str"),
        ([{"a": object()}], "object is neither a number nor a text"),
    ],
)
def test_what_is_no_table_is_refused_before_it_is_sent(rows, match):
    with pytest.raises(TableError, match=match):
        made(Played(answer(SCORED))).score(rows)


def test_a_file_is_sent_as_it_is_and_the_answer_written_whole(tmp_path):
    played = Played(httpx.Response(200, content=b"PAR1..."))
    (tmp_path / "new.csv").write_bytes(b"entropy\n0.5\n")
    out = made(played).score_file(tmp_path / "new.csv", tmp_path / "out.parquet", alpha=0.1)
    assert out.read_bytes() == b"PAR1..."
    request = played.requests[0]
    assert (request.content, request.headers["content-type"]) == (b"entropy\n0.5\n", "text/csv")
    assert request.headers["accept"] == "application/vnd.apache.parquet"


def test_a_refused_file_leaves_nothing_behind(tmp_path):
    (tmp_path / "new.csv").write_bytes(b"entropy\n0.5\n")
    played = Played(answer({"error": "too_large", "message": "At most 1 row.", "request_id": ""}, 413))
    with pytest.raises(ServiceError, match="At most 1 row"):
        made(played).score_file(tmp_path / "new.csv", tmp_path / "out.parquet")
    with pytest.raises(TableError, match="must end in one of"):
        made(played).score_file(tmp_path / "new.csv", tmp_path / "out.xlsx")
    assert [path.name for path in tmp_path.iterdir()] == ["new.csv"]


class OfAnSdk:
    def model_dump(self, **_):
        return {"choices": [{"message": {"content": "Paris"}, "logprobs": None}]}


def test_a_reply_of_an_sdk_is_sent_as_a_plain_dict():
    played = Played(
        answer({"uncertainty": 0.5, "accept": False, "missing": {"msp": "no log-probs"}, "values": {"msp": None}})
    )
    verdict = made(played).judge(OfAnSdk(), samples=["Paris", OfAnSdk()], question="Capital?", id="q1")
    assert (verdict.accept, verdict.missing, verdict.why) == (False, {"msp": "no log-probs"}, None)
    reply = OfAnSdk().model_dump()
    assert played.body == {
        "reply": reply,
        "samples": ["Paris", reply],
        "question": "Capital?",
        "id": "q1",
        "explain": True,
    }


def test_a_record_of_our_own_is_read_back_as_it_was():
    from vecuq.answers import Answer, AnswerRecord, plain_reply, record_of

    record = AnswerRecord(
        id="q", question="Capital?", greedy=Answer(text="Paris", logprobs=(-0.5,)), samples=(Answer(text="Lyon"),)
    )
    sent = msgspec.json.decode(msgspec.json.encode(plain_reply(record)))
    assert record_of(sent) == record
    assert plain_reply(None) is None


def test_feedback_says_only_what_is_known():
    taken = {"id": "a", "status": "stored", "scored": True, "counted": True}
    played = Played(answer({"feedback": [taken]}))
    client = made(played, model="m")
    assert client.feedback("a", correct=False, kind="audit", who="ada").counted
    assert played.body == {"feedback": [{"id": "a", "kind": "audit", "correct": False, "who": "ada", "model": "m"}]}
    assert [one.id for one in client.feedback_all([Feedback("a", ood=True)])] == ["a"]
    assert played.body == {"feedback": [{"id": "a", "kind": "review", "ood": True}]}


def test_feedback_may_be_dicts():
    taken = {"id": "a", "status": "stored", "scored": True, "counted": True}
    played = Played(answer({"feedback": [taken]}))
    client = made(played)
    client.feedback_all([{"id": "a", "correct": np.True_}, Feedback("b", ood=True)])
    sent = [{"id": "a", "kind": "review", "correct": True}, {"id": "b", "kind": "review", "ood": True}]
    assert played.body == {"feedback": sent}


@pytest.mark.parametrize(
    ("found", "match"),
    [
        ([{"id": "a"}, {"correct": True}], r"Feedback 1 \(counting from 0\).*missing required field `id`"),
        ([{"id": "a", "right": True}], "unknown field `right`"),
        ([{"id": "a", "correct": "yes"}], "Expected `bool"),
        (["a"], "must be a Feedback, or a dict"),
        ({"id": "a"}, "Put it into a list"),
    ],
)
def test_what_is_no_feedback_is_refused_before_it_is_sent(found, match):
    played = Played(answer({}))
    with pytest.raises(TableError, match=match):
        made(played).feedback_all(found)
    assert not played.requests


def test_a_service_that_is_not_ready_says_so_without_an_error():
    states = {"ready": False, "models": {"m": {"generation": 1, "checksum": "c", "error": "cut"}}}
    ready = made(Played(answer(states, 503))).ready()
    assert not ready
    assert ready.models["m"].error == "cut"
    assert made(Played(answer({"ready": True}))).ready()


def test_a_refusal_in_place_of_readiness_is_an_error():
    with pytest.raises(ServiceError, match="Stopping"):
        made(Played(answer({"error": "stopping", "message": "Stopping.", "request_id": ""}, 503))).ready()


def test_a_model_and_the_live_state_keep_all_that_the_service_said():
    said = {"name": "m", "kind": "ranker", "checksum": "c", "columns": ["a"], "smallest_alpha": 0.01}
    played = Played(answer(said))
    model = made(played).model("m")
    assert (model.columns, model.about["smallest_alpha"]) == (["a"], 0.01)
    live = made(Played(answer({"model": "m", "gate": {"state": "proven", "bound": 0.02}}))).live()
    assert (live.gate.state, live.gate.bound, live.drift) == ("proven", 0.02, None)
    row = {"id": "a", "model": "m", "checksum": "c", "time": 1.5, "values": {"knn": None}}
    queue = made(Played(answer({"kind": "audit", "rows": [row]}))).queue(kind="audit", limit=1)
    assert [(one.id, one.values) for one in queue.rows] == [("a", {"knn": None})]


def test_a_refusal_is_one_exception_with_everything_in_it():
    refused = {"error": "bad_columns", "message": "Every row lacks ['a'].", "request_id": "r7"}
    with pytest.raises(ServiceError) as caught:
        made(Played(answer(refused, 422))).score(ROWS)
    error = caught.value
    assert (error.status, error.error, error.message, error.request_id) == (
        422,
        "bad_columns",
        refused["message"],
        "r7",
    )
    assert isinstance(error, VecuqError)
    assert str(error) == "Every row lacks ['a']. (request r7)"
    again = copy(error)
    assert (str(again), again.status) == (str(error), 422)


@pytest.mark.parametrize("status", [200, 302, 502])
def test_an_answer_of_something_else_is_named_as_such(status):
    page = httpx.Response(status, content=b"<html>\xff gateway", headers={"x-request-id": "r1"})
    with pytest.raises(ServiceError, match="is not of a scoring service") as caught:
        made(Played(page)).score(ROWS)
    assert (caught.value.error, caught.value.status, caught.value.request_id) == ("not_vecuq", status, "r1")


def test_a_table_that_is_none_is_named_as_such():
    with pytest.raises(ServiceError, match="is not of a scoring service"):
        made(Played(httpx.Response(200, content=b"{}"))).score(TABLE)


class TestSendingAgain:
    def test_a_busy_service_is_asked_again(self):
        played = Played(BUSY, httpx.Response(503, headers={"retry-after": "0"}), answer(SCORED))
        assert made(played).score([{"entropy": 0.5}]).model == "m"
        assert len(played.requests) == 3

    def test_the_last_refusal_is_what_is_raised(self):
        played = Played(BUSY)
        with pytest.raises(ServiceError, match="Too many"):
            made(played, retries=1).score(ROWS)
        assert len(played.requests) == 2

    @pytest.mark.parametrize("headers", [{}, {"retry-after": "Wed, 21 Oct 2026 07:28:00 GMT"}, {"retry-after": "3600"}])
    def test_without_a_time_or_with_a_long_one_it_is_not(self, headers):
        played = Played(answer({"error": "timeout", "message": "Too slow.", "request_id": ""}, 503, **headers))
        with pytest.raises(ServiceError, match="Too slow"):
            made(played).score(ROWS)
        assert len(played.requests) == 1

    @pytest.mark.parametrize("status", [400, 401, 409, 413, 422, 500])
    def test_a_refusal_that_would_come_again_is_final(self, status):
        played = Played(answer({"error": "no", "message": "No.", "request_id": ""}, status, **{"retry-after": "0"}))
        with pytest.raises(ServiceError, match="No"):
            made(played).score(ROWS)
        assert len(played.requests) == 1

    def test_a_service_that_is_not_there_is_tried_again_and_named(self):
        played = Played(httpx.ConnectError("refused"))
        with pytest.raises(ServiceError, match=f"No service answers at {URL}") as caught:
            made(played).score([{"entropy": 0.5}])
        assert (caught.value.status, caught.value.error, len(played.requests)) == (None, "unreachable", 3)

    @pytest.mark.parametrize(
        ("rows", "how", "tries"),
        [
            (ROWS, {}, 2),  # with ids: a row that came before keeps its decision
            ([{"entropy": 0.5}], {}, 1),  # would be counted twice
            ([{"entropy": 0.5}], {"record": False}, 2),
            (ROWS, {"id": "name"}, 1),
            (TABLE, {}, 2),
            (TABLE.select(["entropy"]), {}, 1),
        ],
    )
    def test_rows_whose_answer_was_lost_are_sent_again_only_if_nothing_counts_twice(self, rows, how, tries):
        played = Played(httpx.ReadError("reset"))
        with pytest.raises(ServiceError, match="ReadError"):
            made(played, retries=1).score(rows, **how)
        assert len(played.requests) == tries

    def test_feedback_whose_answer_was_lost_is_sent_again(self):
        taken = {"id": "a", "status": "known", "scored": True, "counted": False}
        played = Played(httpx.RemoteProtocolError("gone"), answer({"feedback": [taken]}))
        assert made(played).feedback("a", correct=True).status == "known"

    def test_who_waited_long_enough_does_not_wait_again(self):
        played = Played(httpx.ReadTimeout("slow"))
        with pytest.raises(ServiceError, match="did not answer within 30 seconds") as caught:
            made(played).ready()
        assert (caught.value.error, len(played.requests)) == ("timeout", 1)


class TestTheKey:
    KEY = "s3cr3t-key"

    def test_it_is_shown_nowhere(self):
        client = made(Played(httpx.ConnectError("refused")), api_key=self.KEY, retries=0)
        assert self.KEY not in repr(client) + repr(getattr(client, "_setup", ""))
        with pytest.raises(ServiceError) as caught:
            client.score(ROWS)
        error, shown = caught.value, ""
        while error is not None:
            shown, error = f"{shown}{error!r}{error}", error.__cause__ or error.__context__
        assert self.KEY not in shown

    def test_it_does_not_follow_a_redirect(self):
        played = Played(httpx.Response(307, headers={"location": "http://elsewhere.example/score"}))
        with pytest.raises(ServiceError):
            made(played, api_key=self.KEY).score(ROWS)
        assert len(played.requests) == 1

    @pytest.mark.parametrize("key", ["", "two words", "line\nbreak", "schlüssel"])
    def test_one_that_no_header_can_hold_is_refused_without_showing_it(self, key):
        with pytest.raises(SettingError, match="api_key must be") as caught:
            Client(URL, api_key=key)
        assert not key or key not in str(caught.value)


@pytest.mark.parametrize("url", ["127.0.0.1:8000", "ftp://a", "http://", "http://a/?b=c", "http://ada:pw@a"])
def test_an_address_that_cannot_be_one_is_refused(url):
    with pytest.raises(SettingError, match="url must") as caught:
        Client(url)
    assert "pw" not in str(caught.value)


def test_a_client_can_be_used_in_a_with_statement():
    with Client(URL, transport=httpx.MockTransport(Played(answer(SCORED)))) as client:
        assert client.score(ROWS).model == "m"
    with pytest.raises(RuntimeError, match="closed"):
        client.score(ROWS)


def test_without_httpx_the_message_says_how_to_get_it(monkeypatch):
    import sys

    monkeypatch.setitem(sys.modules, "httpx", None)
    with pytest.raises(SettingError, match=r"pip install 'vecuq\[serve\]'"):
        Client(URL)
