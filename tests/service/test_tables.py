"""Tables as bodies: formats in and out, limits, hostile files, and that nothing of the server shows."""

import asyncio
import io
import json
import os
import tempfile
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from vecuq.service import Limits
from vecuq.service.recorder import Recorded

ARROW, PARQUET = "application/vnd.apache.arrow.stream", "application/vnd.apache.parquet"
HEAD = "entropy,knn,confidence"


def csv(*lines):
    return "".join(f"{line}\n" for line in lines).encode()


def parquet(table, **how):
    out = io.BytesIO()
    pq.write_table(table, out, **how)
    return out.getvalue()


def arrow(table, **how):
    out = io.BytesIO()
    with pa.ipc.new_stream(out, table.schema, **how) as writer:
        writer.write_table(table)
    return out.getvalue()


def rows(n):
    rng = np.random.default_rng(n)
    return pa.table({name: rng.gamma(1.0, size=n) for name in HEAD.split(",")})


def send(client, body, media="text/csv", path="/score", **headers):
    return client.post(path, content=body, headers={"content-type": media, **headers})


def test_other_columns_of_a_csv_stay_the_text_that_they_are(client):
    answer = send(client, csv(f"name,{HEAD}", "007,1,2,0.50", "x,3,4,0.1"))
    assert answer.status_code == 200
    assert answer.text.splitlines()[0] == '"name","entropy","knn","confidence","uncertainty","p_value"'
    assert answer.text.splitlines()[1].startswith('"007",1,2,0.5,')


@pytest.mark.parametrize("accept", ["text/csv", PARQUET, ARROW, "application/x-ndjson", "application/json"])
def test_the_answer_may_have_another_format(client, accept):
    answer = send(client, arrow(rows(5)), ARROW, accept=accept)
    assert answer.status_code == 200
    assert answer.headers["content-type"] == accept
    assert int(answer.headers["content-length"]) == len(answer.content)


def test_accept_is_read_with_its_weights(client):
    answer = send(client, csv(HEAD, "1,2,3"), accept="text/html, application/json;q=0.1, application/x-ndjson;q=0.9")
    assert answer.headers["content-type"] == "application/x-ndjson"
    assert send(client, csv(HEAD, "1,2,3"), accept="text/html, */*;q=0.8").headers["content-type"] == "text/csv"


def test_json_rows_may_be_answered_as_a_table(client):
    body = {"rows": [{"entropy": 1, "knn": 2, "confidence": 0.5, "note": "a"}], "alpha": 0.1}
    answer = client.post("/score", json=body, headers={"accept": ARROW})
    found = pa.ipc.open_stream(answer.content).read_all()
    assert found.column_names == ["entropy", "knn", "confidence", "note", "uncertainty", "p_value", "flagged"]


def test_an_earlier_scoring_is_refused_or_replaced(client):
    once = send(client, csv(HEAD, "1,2,3")).content
    again = send(client, once)
    assert again.status_code == 422
    assert "already" in again.json()["message"]
    assert send(client, once, path="/score?replace=true").content == once


@pytest.mark.parametrize(
    ("body", "media", "said"),
    [
        (csv(HEAD, "1,2,x"), "text/csv", "The body: Score column 'confidence' is not numeric: row 0"),
        (csv(HEAD, "1,2"), "text/csv", "The body: row 0 (counting from 0) has 2 cells"),
        (csv("a,b", "1,2"), "text/csv", "lacks ['entropy', 'knn', 'confidence']"),
        (csv(HEAD), "text/csv", "no rows"),
        (b"", "text/csv", "The body is empty"),
        (b"\xff\xfe\x00", "text/csv", "The body"),
        (csv("entropy,entropy,knn", "1,2,3"), "text/csv", "come twice"),
        (b"PAR1 nonsense", PARQUET, "The body cannot be read as parquet"),
        (parquet(rows(50))[:-20], PARQUET, "The body cannot be read as parquet"),
        (arrow(rows(50))[:-200], ARROW, "The body"),
        (b"", ARROW, "The body"),
        (b"{}\n{", "application/x-ndjson", "The body, line 2: not valid JSON"),
        (b"PK\x03\x04", "application/x-npz", "The body"),
    ],
)
def test_a_table_that_cannot_be_scored_is_refused_without_a_path(client, body, media, said):
    answer = send(client, body, media)
    assert answer.status_code == 422, answer.text
    message = answer.json()["message"]
    assert said in message
    assert tempfile.gettempdir() not in message
    assert "VECUQ_MAX" not in message


def test_tables_that_unfold_are_refused_before_they_do(client):
    zeros = dict.fromkeys([*HEAD.split(","), "d"], np.zeros(70_000_000, dtype=np.int8))
    packed = arrow(pa.table(zeros), options=pa.ipc.IpcWriteOptions(compression="zstd"))
    assert len(packed) < 200_000
    answer = send(client, packed, ARROW)
    assert answer.status_code == 422
    assert "of memory at once" in answer.json()["message"]
    for n_columns, said in ((100_000, "100,000 columns"), (1_000_000, "a header of more than 4 MiB")):
        answer = send(client, csv(",".join(f"c{k}" for k in range(n_columns)), "1"))
        assert answer.status_code == 422
        assert said in answer.json()["message"]


def test_texts_that_rows_share_are_not_written_out_without_end(serve):
    """One text of 8 MB, which stands once in the body, and in each of 1,000 rows of the answer."""
    client = serve("model", limits=Limits(body=10 * 2**20))
    notes = pa.DictionaryArray.from_arrays(pa.array(np.zeros(1_000, dtype=np.int32)), ["x" * 2**23])
    table = rows(1_000).append_column("note", notes)
    for body, media in ((parquet(table, compression="zstd"), PARQUET), (arrow(table), ARROW)):
        assert len(body) < 9_000_000
        for accept in ("text/csv", "application/x-ndjson"):
            answer = send(client, body, media, accept=accept)
            assert (answer.status_code, answer.json()["error"]) == (413, "too_large")
        assert send(client, body, media, accept="application/json").status_code == 200
    few = rows(5).append_column("note", pa.DictionaryArray.from_arrays([0, 1, 0, None, 1], ["a", "b"]))
    answer = send(client, arrow(few), ARROW, accept="application/x-ndjson")
    assert [json.loads(line)["note"] for line in answer.text.splitlines()] == ["a", "b", "a", None, "b"]


def test_limits_on_rows_columns_and_bytes(serve):
    client = serve("model", limits=Limits(rows=10, columns=4, body=4_000))
    assert send(client, arrow(rows(11)), ARROW).json()["error"] == "too_many_rows"
    assert send(client, arrow(rows(10)), ARROW).status_code == 200
    body = {"rows": rows(11).to_pylist()}
    answer = client.post("/score", json=body)
    assert (answer.status_code, answer.json()["error"]) == (413, "too_many_rows")
    assert send(client, csv(f"{HEAD},a,b", "1,2,3,4,5")).status_code == 422
    answer = send(client, b"x" * 4_001)
    assert (answer.status_code, answer.json()["error"]) == (413, "too_large")

    async def receive():
        return {"type": "http.request", "body": b"x" * 3_000, "more_body": True}

    for media in (b"text/csv", b"application/json"):  # a body without an end
        status, headers, _ = asyncio.run(called(client.app, receive, media, None))
        assert status == 413
        assert (b"connection", b"close") in headers


def test_many_rows_of_json_are_scored_in_pieces_to_the_same_numbers(serve, monkeypatch):
    from vecuq.service import json_rows

    monkeypatch.setattr(json_rows, "_CELLS", 300)
    client = serve("gate")
    many = [{**row, "id": k} for k, row in enumerate(rows(3_000).to_pylist())]
    found = client.post("/score", json={"rows": many, "alpha": 0.1}).json()["rows"]
    table = pa.ipc.open_stream(send(client, arrow(rows(3_000)), ARROW, path="/score?alpha=0.1").content).read_all()
    for name in ("uncertainty", "p_value", "flagged", "accept", "p_wrong"):
        assert [row[name] for row in found] == table[name].to_pylist()
    assert [row["id"] for row in found] == [str(k) for k in range(3_000)]
    many[2_999]["knn"] = "x"
    assert "Row 2999 (counting from 0), field 'knn'" in client.post("/score", json={"rows": many}).json()["message"]
    for row in many:
        row.pop("knn")
    assert "lacks ['knn']" in client.post("/score", json={"rows": many}).json()["message"]


def test_a_body_that_claims_more_rows_than_it_may_is_refused_before_it_is_read(serve):
    client = serve("model", limits=Limits(rows=1_000))
    answer = client.post("/score", content=b'{"rows":[' + b"{}," * 100_000 + b"{}]}")
    assert (answer.status_code, answer.json()["error"]) == (413, "too_many_rows")


def test_outputs_of_a_classifier_come_as_npz(client, served_classifier):
    logits = np.random.default_rng(0).normal(size=(20, 4))
    out = io.BytesIO()
    np.savez(out, logits=logits)
    answer = send(client, out.getvalue(), "application/x-npz", path="/models/classifier/score")
    assert answer.status_code == 200, answer.text
    found = [row["uncertainty"] for row in answer.json()["rows"]]
    assert found == served_classifier.uncertainty(logits).tolist()
    answer = send(client, csv(HEAD, "1,2,3"), path="/models/classifier/score")
    assert (answer.status_code, answer.json()["error"]) == (422, "wrong_input")


def test_more_large_requests_than_there_is_room_for_are_refused(serve):
    client = serve("model", limits=Limits(tables=2))
    body, about = arrow(rows(2_000)), {"content-type": ARROW}
    answers = client.together([("POST", "/score", {"content": body, "headers": about}) for _ in range(8)])
    status = [answer.status_code for answer in answers]
    assert set(status) == {200, 429}
    assert status.count(200) >= 2
    assert send(client, body, ARROW).status_code == 200  # every place was given back


def test_a_table_that_takes_too_long_is_given_up(serve, monkeypatch):
    import time

    from vecuq.workflows import DecidedTable

    real = DecidedTable.decide
    monkeypatch.setattr(DecidedTable, "decide", lambda self, batch: (time.sleep(0.5), real(self, batch))[1])
    client = serve("model", limits=Limits(seconds=0.2))
    answer = send(client, arrow(rows(10)), ARROW)
    assert (answer.status_code, answer.json()["error"]) == (503, "timeout")


def test_a_slow_body_is_given_up(serve):
    client = serve("model", limits=Limits(seconds=0.1))

    async def receive():
        await asyncio.sleep(5)

    for media, length in ((b"text/csv", b"100"), (b"application/json", b"100"), (b"application/json", None)):
        status, headers, _ = asyncio.run(called(client.app, receive, media, length))
        assert status == 408
        assert (b"connection", b"close") in headers


def test_a_client_that_leaves_in_the_middle_of_its_body_is_forgotten(serve):
    client = serve("model", limits=Limits(tables=1))

    async def receive(sent=[]):  # noqa: B006 - one list for all calls
        sent.append(1)
        if len(sent) % 2:
            return {"type": "http.request", "body": b"entropy", "more_body": True}
        return {"type": "http.disconnect"}

    for media in (b"text/csv", b"application/json"):
        assert asyncio.run(called(client.app, receive, media, b"100")) == (None, None, b"")
    assert send(client, csv(HEAD, "1,2,3")).status_code == 200


async def called(app, receive, media, length):
    """Call the application as a server does; return status, headers and body of the answer."""
    sent = []

    async def send_it(message):
        sent.append(message)

    headers = [(b"content-type", media), (b"host", b"127.0.0.1"), *([(b"content-length", length)] if length else [])]
    scope = {"type": "http", "method": "POST", "path": "/score", "query_string": b"", "headers": headers}
    await app(scope, receive, send_it)
    body = b"".join(one.get("body", b"") for one in sent)
    return (sent[0]["status"], sent[0]["headers"], body) if sent else (None, None, body)


def test_no_temporary_file_is_left(client, tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))  # tests beside this one have files of their own
    for body in (csv(HEAD, "1,2,3"), csv(HEAD, "1,2,x"), b""):
        send(client, body)
    client.post("/score", json={"rows": [{"entropy": 1, "knn": 2, "confidence": None}], "missing": "marginal"})
    assert os.listdir(tmp_path) == []


class Keeper:
    """A recorder that remembers, accepts nothing, and draws every row for the audit."""

    def __init__(self):
        self.rows, self.watched_rows = [], []

    async def decided(self, given):
        self.rows.append(given)
        n = len(given.ids)
        return Recorded(None if given.accept is None else np.zeros(n, dtype=bool), np.ones(n, dtype=bool))

    def watched(self, given):
        self.watched_rows.append(given)


def test_rows_of_a_table_with_ids_go_to_the_recorder(serve):
    keeper = Keeper()
    client = serve("gate", recorder=keeper)
    table = rows(6).append_column("key", pa.array(["a", "b", None, "d", "e", "f"]))
    answer = send(client, arrow(table), ARROW, path="/score?id=key")
    found = pa.ipc.open_stream(answer.content).read_all()
    assert found["audit"].to_pylist() == [True, True, False, True, True, True]
    assert found["accept"].to_pylist()[:2] == [False, False]
    assert list(keeper.rows[0].ids) == ["a", "b", "d", "e", "f"]
    np.testing.assert_array_equal(keeper.rows[0].values[:, 2], table["confidence"].to_numpy()[[0, 1, 3, 4, 5]])
    assert len(keeper.watched_rows[0].ids) == 1
    send(client, arrow(table), ARROW, path="/score?id=key&record=false")
    send(client, arrow(table), ARROW)  # no column called id
    assert len(keeper.rows) == 1
    assert len(keeper.watched_rows) == 2


def test_a_column_called_audit_is_refused_or_replaced_where_rows_are_drawn_for_an_audit(serve):
    client, table = serve("gate", recorder=Keeper()), rows(6).append_column("key", pa.array(range(6)))
    body = arrow(table.append_column("audit", pa.array([0.5] * 6)))
    assert send(client, body, ARROW, path="/score?id=key").status_code == 422
    answer = send(client, body, ARROW, path="/score?id=key&replace=true")
    assert pa.ipc.open_stream(answer.content).read_all()["audit"].to_pylist() == [True] * 6


def lines_of(n):
    made = []
    for k in range(n):
        texts = [{"text": "Paris" if (k + j) % 3 else "Lyon"} for j in range(8)]
        about = {"question": f"Where is {k}?", "greedy": {"text": "Paris"}, "samples": texts}
        made.append({"vecuq_answers": 1, "id": f"q{k}", **about})
    return made


def as_lines(records):
    return "".join(json.dumps(one) + "\n" for one in records).encode()


def test_answers_as_lines_are_scored_as_the_command_line_does(serve, saved, tmp_path, run):
    new, out = tmp_path / "new.jsonl", tmp_path / "out.parquet"
    new.write_bytes(as_lines(lines_of(40)))
    assert run("score", saved["judge"], new, "-o", out, "--alpha", "0.1", "--explain").exit_code == 0
    client = serve("judge")
    path, about = "/score?alpha=0.1&explain=true", {"accept": PARQUET}
    answer = send(client, new.read_bytes(), "application/x-ndjson", path=path, **about)
    assert answer.status_code == 200, answer.text
    assert pq.read_table(io.BytesIO(answer.content)).equals(pq.read_table(out))
    as_rows = client.post(path, json={"rows": lines_of(40)}, headers=about)
    assert pq.read_table(io.BytesIO(as_rows.content)).equals(pq.read_table(out))


def test_texts_of_answers_come_along_and_go_to_the_recorder(serve):
    keeper = Keeper()
    client = serve("judge", recorder=keeper)
    answer = send(client, as_lines(lines_of(3)), "application/x-ndjson", path="/score?texts=true", accept=ARROW)
    found = pa.ipc.open_stream(answer.content).read_all()
    assert found.column_names[:4] == ["id", "question", "answer", "samples"]
    assert found["question"].to_pylist() == ["Where is 0?", "Where is 1?", "Where is 2?"]
    assert json.loads(found["samples"][0].as_py())[:2] == ["Lyon", "Paris"]
    kept = [json.loads(text) for text in keeper.rows[0].texts]
    assert kept[1]["question"] == "Where is 1?"
    assert kept[1]["answer"] == "Paris"
    assert len(kept[1]["samples"]) == 8


def test_the_number_of_a_line_is_no_id_of_the_store(serve):
    keeper = Keeper()
    client = serve("judge", recorder=keeper)
    lines = [{"reply": f"Paris {k}", "drawn": ["Paris"] * 8} for k in range(3)]
    path = "/score?map=answer=reply,samples=drawn"
    for sent in (lines, [{"question": f"{k}?", **line} for k, line in enumerate(lines)]):
        answer = send(client, as_lines(sent), "application/x-ndjson", path=path, accept="application/json")
        assert answer.status_code == 200, answer.text
        assert not any("id" in row for row in answer.json()["rows"])
    assert not keeper.rows
    assert [list(rows.ids) for rows in keeper.watched_rows] == [[None] * 3] * 2


@pytest.mark.parametrize(("field", "more"), [("id", ""), ("key", "&id=key"), ("key", ",id=key")])
def test_ids_of_lines_with_named_fields_are_kept(serve, field, more):
    keeper = Keeper()
    client = serve("judge", recorder=keeper)
    lines = [{field: f"a{k}", "reply": "Paris", "drawn": ["Paris"] * 8} for k in range(3)]
    path = f"/score?map=answer=reply,samples=drawn{more}"
    answer = send(client, as_lines(lines), "application/x-ndjson", path=path, accept="application/json")
    assert [row["id"] for row in answer.json()["rows"]] == ["a0", "a1", "a2"]
    assert [list(rows.ids) for rows in keeper.rows] == [["a0", "a1", "a2"]]
    assert not keeper.watched_rows


def test_fields_of_answers_may_be_named(serve):
    client = serve("judge")
    line = {"id": "a", "reply": "Paris", "drawn": ["Paris"] * 8, "asked": "Where?"}
    path = "/score?map=answer=reply,samples=drawn,question=asked"
    answer = send(client, as_lines([line]), "application/x-ndjson", path=path, accept="application/json")
    assert answer.status_code == 200, answer.text
    assert answer.json()["rows"][0]["accept"] is True
    assert send(client, as_lines([line]), "application/x-ndjson", path="/score?map=answer").status_code == 422
    answer = send(client, b'{"nothing": 1}\n', "application/x-ndjson")
    assert answer.status_code == 422
    assert str(Path(tempfile.gettempdir())) not in answer.text
