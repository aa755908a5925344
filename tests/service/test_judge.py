"""POST /judge: one reply in any form, and the same verdict as in Python and on the command line."""

import asyncio
import io
import json
import math

import numpy as np
import pyarrow as pa
import pytest

from vecuq.service import Limits
from vecuq.service.recorder import Recorded

SAMPLES = ["Paris", "Paris", "Lyon", "Paris", "Nice", "Paris", "Paris", "Paris"]
OPENAI = {
    "choices": [{"index": 0, "message": {"role": "assistant", "content": "Paris"}, "finish_reason": "stop"}],
    "object": "chat.completion",
    "model": "m",
}


def same(found, verdict):
    """Whether an answer is a verdict, to the bit."""
    for name in ("uncertainty", "p_value", "p_wrong"):
        known = getattr(verdict, name)
        assert found[name] == (None if math.isnan(known) else known)
    assert (found["accept"], found["missing"]) == (verdict.accept, verdict.missing)
    assert found["values"] == {name: None if math.isnan(one) else one for name, one in verdict.values.items()}


@pytest.mark.parametrize("reply", ["Paris", OPENAI, {"vecuq_answers": 1, "id": "x", "greedy": {"text": "Paris"}}])
def test_a_reply_in_any_form_is_judged_as_in_python(serve, served_judge, reply):
    body = {"reply": reply, "samples": SAMPLES, "question": "Where?"}
    answer = serve("judge").post("/judge", json=body)
    assert answer.status_code == 200, answer.text
    verdict = served_judge.judge(reply, SAMPLES, question="Where?")
    same(answer.json(), verdict)
    assert answer.json()["why"] == verdict.why
    assert "id" not in answer.json()


@pytest.mark.parametrize(
    ("path", "body", "status", "said"),
    [
        ("/judge", {"samples": []}, 422, "`reply`"),
        ("/judge", {"reply": 3}, 422, "'reply'"),
        ("/judge", {"reply": {"what": 1}}, 422, "reply"),
        ("/judge", {"reply": "a", "samples": ["a"] * 1001}, 422, "'samples'"),
        ("/judge", {"reply": "a", "by": "law"}, 422, "without categories"),
        ("/judge", {"reply": "a", "explian": True}, 422, "explian"),
        ("/judge?alpha=0.1", {"reply": "a"}, 422, "in the body"),
        ("/models/model/judge", {"reply": "a"}, 422, "a pipeline of answers"),
        ("/models/nope/judge", {"reply": "a"}, 404, "nope"),
    ],
)
def test_what_cannot_be_judged_is_refused(serve, path, body, status, said):
    answer = serve("judge", "model").post(path, json=body)
    assert answer.status_code == status, answer.text
    assert said in answer.json()["message"]


def test_replies_are_bounded(serve):
    client = serve("judge", limits=Limits(body=1_000))
    assert client.post("/judge", json={"reply": "x" * 2_000}).status_code == 413
    deep = b'{"reply": ' + b'{"a":' * 3_000 + b"1" + b"}" * 3_000 + b"}"
    assert serve("judge").post("/judge", content=deep).status_code == 400


def test_a_reply_with_an_id_is_recorded_with_its_texts(serve):
    kept = []

    class Keeper:
        async def decided(self, rows):
            await asyncio.sleep(0)
            kept.append(rows)
            return Recorded(np.array([False]), np.array([True]))

        def watched(self, rows):
            kept.append(rows)

    client = serve("judge", recorder=Keeper())
    body = {"reply": "Paris", "samples": ["Paris"] * 8, "question": "Where?", "id": 17}
    found = client.post("/judge", json=body).json()
    assert (found["id"], found["accept"], found["audit"]) == ("17", False, True)
    (rows,) = kept
    assert list(rows.ids) == ["17"]
    assert json.loads(rows.texts[0]) == {"question": "Where?", "answer": "Paris", "samples": ["Paris"] * 8}
    assert rows.values.shape == (1, 2)
    client.post("/judge", json={**body, "record": False})
    assert len(kept) == 1
    del body["id"]
    assert "audit" not in client.post("/judge", json=body).json()
    assert list(kept[1].ids) == [None]


def test_many_replies_at_once_are_judged_or_refused(serve):
    client = serve("judge", limits=Limits(tables=4))
    body = {"json": {"reply": "Paris", "samples": SAMPLES}}
    status = {answer.status_code for answer in client.together([("POST", "/judge", body) for _ in range(20)])}
    assert status <= {200, 429}
    assert 200 in status


def test_an_answer_table_of_arrow_is_the_same(serve):
    record = {"vecuq_answers": 1, "id": "q", "greedy": {"text": "Paris"}, "samples": [{"text": one} for one in SAMPLES]}
    about = {"content-type": "application/x-ndjson", "accept": "application/vnd.apache.arrow.file"}
    answer = serve("judge").post("/score", content=json.dumps(record).encode(), headers=about)
    found = pa.ipc.open_file(io.BytesIO(answer.content)).read_all()
    assert found["id"].to_pylist() == ["q"]


def test_large_replies_are_received_only_as_many_at_once_as_may_be_in_work(serve):
    """So that memory is bounded by places and not by connections."""
    client, sent = serve("judge", limits=Limits(tables=1)), []
    headers = [(b"host", b"127.0.0.1"), (b"content-length", b"1000000")]
    scope = {"type": "http", "method": "POST", "path": "/judge", "query_string": b"", "headers": headers}

    async def note(message):
        sent.append(message)

    async def run():
        held = asyncio.create_task(client.app(dict(scope), asyncio.Event().wait, note))
        await asyncio.sleep(0.05)
        async with asyncio.timeout(120):
            await client.app(dict(scope), asyncio.Event().wait, note)
        held.cancel()
        await asyncio.gather(held, return_exceptions=True)

    asyncio.run(run())
    assert sent[0]["status"] == 429
