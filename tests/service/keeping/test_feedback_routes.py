"""Feedback over HTTP: what is taken and refused, exports, queues, the live view."""

import asyncio
import io
import json

import httpx
import numpy as np
import pyarrow.parquet as pq
import pytest
from fastapi import FastAPI, Request
from fastapi.responses import Response

from vecuq.service import Service, keeping
from vecuq.service.counts import Counts
from vecuq.service.feedback_routes import routes
from vecuq.service.refusal import Refusal


def _app(settings, recorder):
    app = FastAPI()
    app.include_router(routes(Service(settings, None, Counts(), recorder)))

    async def refused(request: Request, error: Refusal):
        return Response(error.body("id"), error.status, media_type="application/json")

    app.add_exception_handler(Refusal, refused)
    return app


class Talk:
    """A client of routes whose keeper is in this process."""

    def __init__(self, client, keeper):
        self.client, self.keeper = client, keeper

    async def give(self, body, **headers):
        return await self.client.post("/feedback", json=body, headers=headers)

    async def get(self, path, **query):
        return await self.client.get(path, params=query)


@pytest.fixture
def talked(world):
    """Run a talk with a service whose store holds 300 scored rows."""

    def run(talk, **settings):
        async def whole():
            made = world.settings(**settings)
            async with keeping.local_recorder(made) as keeper:
                done = await keeper.decided(world.scored(range(300)))
                transport = httpx.ASGITransport(_app(made, keeper))
                async with httpx.AsyncClient(transport=transport, base_url="http://test") as client:
                    return await talk(Talk(client, keeper), done)

        return asyncio.run(whole())

    return run


def test_one_feedback_or_several_are_taken_with_who_from_field_or_header(talked):
    async def talk(service, done):
        one = await service.give({"id": "r1", "correct": False, "who": "ana"})
        two = await service.give({"feedback": [{"id": "r2", "ood": True}, {"id": "r3", "comment": "c"}]}, who="bo")
        rows = [(await service.get(f"/rows/r{k}")).json() for k in (1, 2, 3)]
        return one, two, [row["feedback"]["who"] for row in rows]

    one, two, who = talked(talk)
    assert one.json() == {"feedback": [{"id": "r1", "status": "stored", "scored": True, "counted": False}]}
    assert [taken["status"] for taken in two.json()["feedback"]] == ["stored", "stored"]
    assert who == ["ana", "bo", "bo"]


@pytest.mark.parametrize(
    ("body", "status", "error"),
    [
        (b"{", 400, "bad_body"),
        (b"[" * 100_000, 400, "bad_body"),
        (b"3", 422, "bad_feedback"),
        (b"{}", 422, "bad_feedback"),
        (b'{"id": 7, "ood": true}', 422, "bad_feedback"),
        (b'{"id": "r1", "ood": true, "colour": 1}', 422, "bad_feedback"),
        (b'{"id": "r1", "kind": "guess", "ood": true}', 422, "bad_feedback"),
        (b'{"id": "r1"}', 422, "bad_feedback"),
        (b'{"id": "r1", "correct": "yes"}', 422, "bad_feedback"),
        (b'{"id": "nobody", "kind": "audit", "correct": true}', 404, "not_audited"),
        (b'{"id": "r1", "ood": true, "model": "other"}', 404, "no_model"),
        (b'{"feedback": 3}', 422, "bad_feedback"),
    ],
)
def test_what_cannot_be_taken_is_refused_with_one_body(talked, body, status, error):
    async def talk(service, done):
        return await service.client.post("/feedback", content=body, headers={"content-type": "application/json"})

    answer = talked(talk)
    assert (answer.status_code, answer.json()["error"]) == (status, error)


def test_a_contradiction_is_a_conflict(talked):
    async def talk(service, done):
        name = f"r{np.flatnonzero(done.audit)[0]}"
        await service.give({"id": name, "kind": "audit", "correct": True})
        return await service.give({"id": name, "kind": "audit", "correct": False})

    answer = talked(talk)
    assert (answer.status_code, answer.json()["error"]) == (409, "contradiction")


@pytest.mark.parametrize(
    ("kind", "status"), [(None, 200), ("application/json; charset=utf-8", 200), ("text/plain", 415)]
)
def test_feedback_that_says_it_is_something_else_than_json_is_refused(talked, kind, status):
    async def talk(service, done):
        headers = {} if kind is None else {"content-type": kind}
        return await service.client.post("/feedback", content=b'{"id": "r1", "ood": true}', headers=headers)

    assert talked(talk).status_code == status


def test_an_export_has_one_row_per_feedback_with_its_scores(talked, world):
    async def talk(service, done):
        await service.give({"feedback": [{"id": f"r{k}", "correct": k % 2 == 0, "comment": "=1+1"} for k in range(20)]})
        drawn = [f"r{k}" for k in np.flatnonzero(done.audit) if k >= 20][:10]
        await service.give({"feedback": [{"id": name, "kind": "audit", "correct": True} for name in drawn]})
        await service.give({"id": "elsewhere", "ood": True})
        found = {form: await service.get("/feedback", format=form) for form in ("parquet", "csv", "jsonl")}
        return found, await service.get("/feedback", format="jsonl", kind="audit"), drawn

    found, audits, drawn = talked(talk)
    table = pq.read_table(io.BytesIO(found["parquet"].content))
    assert len(table) == 31
    assert table["id"].to_pylist()[:2] == ["r0", "r1"]
    assert np.array_equal(table["a"].to_numpy()[:20], world.values[:20, 0])
    assert table["kind"].to_pylist().count("audit") == 10
    assert table["a"].to_pylist()[-1] is None, "its row was never scored"
    lines = [json.loads(line) for line in found["jsonl"].text.splitlines()]
    assert [line["id"] for line in lines] == table["id"].to_pylist()
    assert lines[0]["b"] == world.values[0, 1]
    header, first = found["csv"].text.splitlines()[:2]
    assert header.split(",")[:6] == ['"id"', '"model"', '"time"', '"checksum"', '"a"', '"b"']
    assert '"\'=1+1"' in first, "a spreadsheet must not compute it"
    assert [json.loads(line)["id"] for line in audits.text.splitlines()] == drawn
    assert 'filename="feedback.csv"' in found["csv"].headers["content-disposition"]


def test_a_long_export_comes_in_pages(talked, monkeypatch):
    monkeypatch.setattr("vecuq.service.keeping.reading.PAGE_ROWS", 7)

    async def talk(service, done):
        await service.give({"feedback": [{"id": f"r{k}", "ood": True} for k in range(50)]})
        return [await service.get("/feedback", format=form) for form in ("parquet", "csv", "jsonl")]

    parquet, csv, jsonl = talked(talk)
    assert pq.read_table(io.BytesIO(parquet.content))["id"].to_pylist() == [f"r{k}" for k in range(50)]
    assert len(csv.text.splitlines()) == 51
    assert len(jsonl.text.splitlines()) == 50


def test_a_page_of_an_export_ends_at_its_bytes(talked, monkeypatch):
    monkeypatch.setattr("vecuq.service.keeping.reading.PAGE_BYTES", 500)

    async def talk(service, done):
        await service.give({"feedback": [{"id": f"r{k}", "comment": "x" * 100} for k in range(30)]})
        return await service.get("/feedback", format="jsonl")

    assert len(talked(talk).text.splitlines()) == 30


def test_an_export_of_nothing_is_an_empty_table(talked):
    async def talk(service, done):
        return [await service.get("/feedback", format=form) for form in ("parquet", "csv", "jsonl")]

    parquet, csv, jsonl = talked(talk)
    assert len(pq.read_table(io.BytesIO(parquet.content))) == 0
    assert len(csv.text.splitlines()) == 1
    assert jsonl.text == ""


def test_the_review_queue_shows_what_was_not_accepted_the_most_uncertain_first(talked, world):
    rows = world.scored(range(300))
    order = [k for k in np.argsort(-rows.uncertainty, kind="stable") if not rows.accept[k]]
    assert len(order) > 10

    async def talk(service, done):
        await service.give({"id": f"r{order[0]}", "correct": False})
        first = (await service.get("/queue", limit=3)).json()["rows"]
        rest = (await service.get("/queue", limit=1_000, after=first[-1]["id"])).json()["rows"]
        return [row["id"] for row in (*first, *rest)]

    assert talked(talk) == [f"r{k}" for k in order[1:]]


def test_the_audit_queue_shows_what_awaits_its_label_the_oldest_first(talked):
    async def talk(service, done):
        drawn = [f"r{k}" for k in np.flatnonzero(done.audit)]
        await service.give({"id": drawn[0], "kind": "audit", "correct": True})
        first = (await service.get("/queue", kind="audit", limit=2)).json()
        rest = (await service.get("/queue", kind="audit", limit=1_000, after=first["rows"][-1]["id"])).json()
        return drawn, [*first["rows"], *rest["rows"]]

    drawn, rows = talked(talk)
    assert [row["id"] for row in rows] == drawn[1:]
    assert {row["overdue"] for row in rows} == {False}
    assert all(row["values"] for row in rows)


def test_the_live_view_is_plain_json(talked):
    async def talk(service, done):
        return await service.get("/live")

    found = talked(talk).json()
    assert found["totals"]["rows"] == 300
    assert found["gate"]["state"] == "unproven"
    assert set(found["series"]) == {"seconds", "minutes"}


def test_feedback_on_a_row_that_is_not_in_the_log_says_so(talked):
    async def talk(service, done):
        return await service.give({"id": "nobody", "correct": True})

    answer = talked(talk)
    assert answer.status_code == 200
    assert answer.json()["feedback"] == [{"id": "nobody", "status": "stored", "scored": False, "counted": False}]


def test_a_gate_that_became_a_plain_model_is_not_shown_as_served(talked, world):
    async def talk(service, done):
        world.gate.model.save(world.model)
        service.keeper.desk.look("gate")
        return await service.get("/live")

    assert talked(talk).json()["gate"] is None


def test_a_row_that_is_not_there_and_a_wrong_option_are_refused(talked):
    async def talk(service, done):
        asked = [("/rows/none", {}), ("/queue", {"model": "other"}), ("/live", {"model": "other"})]
        asked += [("/queue", {"limit": 0}), ("/feedback", {"format": "xlsx"}), ("/feedback", {"model": "other"})]
        return [(await service.get(path, **query)).status_code for path, query in asked]

    assert talked(talk) == [404, 404, 404, 422, 422, 404]


def test_without_a_store_every_route_says_how_to_start_one(world):
    async def talk():
        transport = httpx.ASGITransport(_app(world.settings(), None))
        async with httpx.AsyncClient(transport=transport, base_url="http://test") as client:
            found = [await client.get(path) for path in ("/feedback", "/queue", "/live", "/rows/r1")]
            return [*found, await client.post("/feedback", json={"id": "r1", "ood": True})]

    for answer in asyncio.run(talk()):
        assert answer.status_code == 503
        assert answer.json()["error"] == "no_store"
        assert "--store" in answer.json()["message"]


def test_a_row_whose_id_has_slashes_is_found(talked, world):
    async def talk(service, done):
        await service.keeper.decided(world.scored([301], ids=["2026/11/q 17"]))
        return await service.get("/rows/2026%2F11%2Fq%2017")

    found = talked(talk)
    assert found.status_code == 200
    assert found.json()["id"] == "2026/11/q 17"


def test_much_feedback_is_taken_at_once_and_more_than_4_mebibytes_is_refused(talked):
    async def talk(service, done):
        many = [{"id": f"r{k}", "comment": "x" * 1_000} for k in range(300)]
        taken = await service.give({"feedback": many})
        refused = await service.give({"feedback": many * 16})
        return taken, refused

    taken, refused = talked(talk)
    assert len(taken.json()["feedback"]) == 300
    assert (refused.status_code, refused.json()["error"]) == (413, "too_large")
