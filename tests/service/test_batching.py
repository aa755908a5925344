"""Micro-batching: requests of one turn of the loop are ranked together, and none suffers for another."""

import asyncio

import numpy as np
import pytest

from vecuq.service import Limits
from vecuq.service.recorder import Recorded
from vecuq.service.refusal import Refusal

ROW = {"entropy": 1.0, "knn": 2.0, "confidence": 0.5}


def post(row, path="/score", **more):
    return "POST", path, {"json": {"rows": [row], **more}}


@pytest.fixture
def batches(client, monkeypatch):
    """How many rows each call of the counts for a batch had."""
    seen = []
    monkeypatch.setattr(client.app.service.counts, "batch", seen.append)
    return seen


def test_requests_that_come_together_are_ranked_together(client, batches):
    answers = client.together([post({**ROW, "entropy": float(k)}) for k in range(30)])
    assert all(answer.status_code == 200 for answer in answers)
    assert sum(batches) == 30
    assert len(batches) < 15
    alone = [client.post("/score", json={"rows": [{**ROW, "entropy": float(k)}]}).json() for k in range(30)]
    assert [answer.json() for answer in answers] == alone


def test_many_requests_are_ranked_in_batches_of_a_bounded_size(client, batches, monkeypatch):
    monkeypatch.setattr("vecuq.service.batching._MOST_SCORES", 40)
    answers = client.together([post({**ROW, "entropy": float(k)}, explain=k >= 60) for k in range(90)])
    assert sum(batches) == 90
    assert max(batches) <= 40
    alone = [client.post("/score", json={"rows": [{**ROW, "entropy": float(k)}]}).json() for k in (0, 59)]
    assert [answers[0].json(), answers[59].json()] == alone
    batches.clear()
    client.together([post(ROW, explain=True) for _ in range(30)])
    assert max(batches) <= 5, "a row with its explanation takes nine scores"


def test_other_models_and_other_options_are_other_batches(client, batches):
    requests = [post(ROW), post(ROW, "/models/gate/score"), post(ROW, alpha=0.1), post(ROW), post(ROW, alpha=0.1)]
    found = [set(answer.json()["rows"][0]) for answer in client.together(requests)]
    scored = {"uncertainty", "p_value"}
    assert found == [scored, scored | {"accept", "p_wrong"}, scored | {"flagged"}, scored, scored | {"flagged"}]


def test_a_bad_request_does_not_hurt_those_in_the_same_batch(client, batches):
    good, lacks = post({**ROW, "subject": "law"}, "/models/gate_by/score", by="subject"), dict(ROW, subject=None)
    answers = client.together([good, post(lacks, "/models/gate_by/score", by="subject"), good, good])
    assert [answer.status_code for answer in answers] == [200, 422, 200, 200]
    answers = client.together([post(ROW), post({"entropy": 1.0}), post({**ROW, "knn": None}), post(ROW)])
    assert [answer.status_code for answer in answers] == [200, 422, 200, 200]
    assert answers[2].json()["rows"] == [{"uncertainty": None, "p_value": None}]
    missing = {"missing": "error"}
    answers = client.together([post(ROW, **missing), post({**ROW, "knn": None}, **missing), post(ROW, **missing)])
    assert [answer.status_code for answer in answers] == [200, 422, 200]


def test_a_fault_in_one_batch_is_one_500_without_a_trace(client, monkeypatch, caplog):
    from vecuq.service.row_scoring import RowScorer

    def broken(self, values, by=None):
        raise RuntimeError("/secret/path")

    monkeypatch.setattr(RowScorer, "decided", broken)
    answer = client.post("/score", json={"rows": [ROW]})
    assert answer.status_code == 500
    assert "secret" not in answer.text
    assert answer.json()["error"] == "internal"
    assert answer.json()["request_id"] in caplog.text
    monkeypatch.undo()
    assert client.post("/score", json={"rows": [ROW]}).status_code == 200


def test_a_client_that_goes_away_does_not_hurt_the_others(client):
    """One request of a batch is cancelled while it waits."""

    async def run():
        import httpx

        transport = httpx.ASGITransport(app=client.app)
        async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1:8000") as http:
            tasks = [asyncio.create_task(http.post("/score", json={"rows": [ROW]})) for _ in range(6)]
            await asyncio.sleep(0)
            tasks[2].cancel()
            return await asyncio.gather(*tasks, return_exceptions=True)

    found = asyncio.run(run())
    assert isinstance(found[2], asyncio.CancelledError)
    assert all(answer.status_code == 200 for k, answer in enumerate(found) if k != 2)


class Keeper:
    """A recorder that remembers what it was given, and turns every decision round."""

    def __init__(self):
        self.decided_rows, self.watched_rows = [], []

    async def decided(self, rows):
        await asyncio.sleep(0.01)
        self.decided_rows.append(rows)
        return Recorded(
            None if rows.accept is None else ~rows.accept, np.array([k % 2 == 0 for k in range(len(rows.ids))])
        )

    def watched(self, rows):
        self.watched_rows.append(rows)


def test_rows_with_an_id_are_decided_by_the_recorder_and_others_are_watched(serve):
    keeper = Keeper()
    client = serve("gate", recorder=keeper)
    rows = [{**ROW, "id": "a"}, ROW, {**ROW, "id": 7, "knn": None}]
    plain = serve("gate").post("/score", json={"rows": rows}).json()["rows"]
    found = client.post("/score", json={"rows": rows}).json()["rows"]
    (decided,), (watched,) = keeper.decided_rows, keeper.watched_rows
    assert list(decided.ids) == ["a", "7"]
    assert list(watched.ids) == [None]
    assert decided.model == "gate"
    assert decided.columns == ("entropy", "knn", "confidence")
    np.testing.assert_array_equal(decided.values, [[1.0, 2.0, 0.5], [1.0, np.nan, 0.5]])  # as they came
    # The third has no score: it is refused whatever the recorder says.
    assert [row["accept"] for row in found] == [not plain[0]["accept"], plain[1]["accept"], False]
    assert [row.get("refused") for row in found] == [None, None, "no score"]
    assert [row["audit"] for row in found] == [True, False, False]


def test_nothing_is_recorded_if_the_request_says_so(serve):
    keeper = Keeper()
    client = serve("gate", recorder=keeper)
    assert client.post("/score", json={"rows": [{**ROW, "id": "a"}], "record": False}).status_code == 200
    assert client.post("/score?record=false", json={"rows": [ROW]}).status_code == 200
    assert not keeper.decided_rows
    assert not keeper.watched_rows


def test_rows_of_several_requests_reach_the_recorder_in_one_call(serve):
    keeper = Keeper()
    client = serve("gate", recorder=keeper)
    client.together([post({**ROW, "id": f"q{k}"}) for k in range(12)])
    assert len(keeper.decided_rows) < 6
    assert sorted(one for rows in keeper.decided_rows for one in rows.ids) == sorted(f"q{k}" for k in range(12))


def test_an_id_that_the_recorder_refuses_is_refused_alone(serve):
    class Strict(Keeper):
        async def decided(self, rows):
            if "bad" in rows.ids:
                raise Refusal(409, "contradiction", "Another row had this id.")
            return await super().decided(rows)

    keeper = Strict()
    client = serve("gate", recorder=keeper)
    names = ["a", "bad", "b", None, "c"]
    requests = [post(ROW if name is None else {**ROW, "id": name}) for name in names]
    answers = client.together(requests)
    assert [answer.status_code for answer in answers] == [200, 409, 200, 200, 200]
    assert sorted(one for rows in keeper.decided_rows for one in rows.ids) == ["a", "b", "c"]
    assert sum(len(rows.ids) for rows in keeper.watched_rows) == 1


def test_a_recorder_that_fails_or_hangs_is_an_error_and_not_a_loss(serve, caplog):
    class Failing(Keeper):
        async def decided(self, rows):
            raise OSError("disk full at /secret")

    class Hanging(Keeper):
        async def decided(self, rows):
            await asyncio.sleep(60)

    answer = serve("gate", recorder=Failing()).post("/score", json={"rows": [{**ROW, "id": "a"}]})
    assert answer.status_code == 500
    assert "secret" not in answer.text
    answer = serve("gate", recorder=Hanging(), limits=Limits(seconds=0.05)).post(
        "/score", json={"rows": [{**ROW, "id": "a"}]}
    )
    assert answer.status_code == 503
    assert answer.json()["error"] == "timeout"


def test_too_many_requests_at_once_are_refused_with_a_time_to_wait(serve):
    client = serve("model", limits=Limits(waiting=4))
    answers = client.together([post(ROW) for _ in range(12)])
    status = [answer.status_code for answer in answers]
    assert set(status) == {200, 429}
    assert status.count(200) >= 4
    assert next(answer for answer in answers if answer.status_code == 429).headers["retry-after"] == "1"
    assert client.post("/score", json={"rows": [ROW]}).status_code == 200
