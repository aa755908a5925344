"""What hostile requests are made of, and how their answers are checked."""

import contextlib
import io
import json

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from started import post, responses

MIB = 2**20
BODY, ROWS, COLUMNS, SECONDS = 8, 5_000, 1_000, 4  # limits of the service that is attacked
ROW = {"entropy": 0.5, "knn": 1.5}
ONE = json.dumps({"rows": [ROW]})
JSON, CSV, LINES = "application/json", "text/csv", "application/x-ndjson"
PARQUET, STREAM = "application/vnd.apache.parquet", "application/vnd.apache.arrow.stream"
# What no answer may hold: our own places.
_PLACES = ("Traceback", "/tmp", "site-packages", "/src/")  # noqa: S108 - looked for, not used


def score(service):
    """Score one good row on a connection of its own."""
    with service.connect() as made:
        made.sendall(post(ONE))
        return responses(made)[0].said["rows"][0]["uncertainty"]


def ask(service, request):
    """Send bytes, and return the first answer; None if the connection was closed without one."""
    with service.connect() as made:
        with contextlib.suppress(ConnectionError):  # refused before all was sent; the answer may still be there
            made.sendall(request)
        found = responses(made)
    return found[0] if found else None


def refused(service, request, *statuses):
    """Send bytes that must be refused, with one of these statuses and our body; return the word of the refusal."""
    answer = ask(service, request)
    assert answer is not None, "closed without a word"
    return check_refusal(answer, *statuses)


def check_refusal(answer, *statuses):
    assert answer.status in statuses, (answer.status, answer.body[:300])
    assert answer.headers["content-type"].startswith(JSON)
    said = answer.said
    assert set(said) == {"error", "message", "request_id"}
    assert said["error"]
    assert said["message"]
    assert [place for place in _PLACES if place in answer.body.decode()] == []
    return said["error"]


def parquet(table, **how):
    sink = io.BytesIO()
    pq.write_table(table, sink, **how)
    return sink.getvalue()


def stream(table, compression=None):
    sink = io.BytesIO()
    with pa.ipc.new_stream(sink, table.schema, options=pa.ipc.IpcWriteOptions(compression=compression)) as writer:
        writer.write_table(table)
    return sink.getvalue()


def ones(n_rows):
    return {name: np.ones(n_rows) for name in ROW}
