"""What a client can ask for, each as a call; both clients send these."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, TypedDict, Unpack
from urllib.parse import quote

import msgspec

from vecuq.answers import plain_reply, plain_samples
from vecuq.client.bodies import encoded, encoded_rows, is_rows
from vecuq.client.calls import Call, Reply, in_query, read_dict, read_json
from vecuq.client.replies import Judged, Live, Queue, Ready, Scored, ServedModel
from vecuq.client.tables import ARROW_STREAM, as_arrow, content_type_of, like, read_stream, stream_of
from vecuq.errors import TableError
from vecuq.service import Feedback, FeedbackTaken

ID = "id"


class ScoreOptions(TypedDict, total=False):
    """What a request to score may ask for.

    alpha
        Adds ``flagged``: rows whose p-value is at most alpha.
    explain
        Adds ``why`` and the contribution of every column.
    missing
        ``nan`` leaves rows with missing values without a score, ``marginal`` scores them by the other columns,
        ``error`` refuses them.
    confidence
        With alpha: the probability with which the rate of false alarms holds.
    by
        The field with the category, where the gate has categories.
    id
        The field with the id; ``id`` if left out.
    record
        False: the service neither keeps these rows nor counts them.
    """

    alpha: float | None
    explain: bool
    missing: Literal["nan", "marginal", "error"]
    confidence: float | None
    by: str | None
    id: str
    record: bool


class Taken(msgspec.Struct):
    """The answer to feedback."""

    feedback: list[FeedbackTaken]


_read_taken = read_json(Taken)
_read_rows = read_json(Scored)
_read_judged = read_json(Judged)
_read_ready = read_json(Ready)
_read_queue = read_json(Queue)
_read_live = read_json(Live)


def score(rows: Any, model: str | None, **options: Unpack[ScoreOptions]) -> Call[Any]:
    """Send rows as JSON, or a table as an Arrow stream."""
    query = in_query(**options)
    id_name, record = options.get("id", ID), options.get("record", True)
    if is_rows(rows):
        once = not record or all(row.get(id_name) is not None for row in rows)
        return Call("POST", _of(model, "score"), _read_rows, query=query, body=encoded_rows(rows), repeatable=once)
    table = as_arrow(rows)
    once = not record or (id_name in table.column_names and not table[id_name].null_count)
    return Call(
        "POST",
        _of(model, "score"),
        lambda reply: like(rows, read_stream(reply)),
        query=query,
        body=stream_of(table),
        content_type=ARROW_STREAM,
        accept=ARROW_STREAM,
        repeatable=once,
    )


def score_file(
    path: Path, out: Path, content: bytes, model: str | None, **options: Unpack[ScoreOptions]
) -> Call[bytes]:
    """Send a file as it is; the answer in the format that the name of ``out`` says."""
    return Call(
        "POST",
        _of(model, "score"),
        _read_bytes,
        query=in_query(**options),
        body=content,
        content_type=content_type_of(path),
        accept=content_type_of(out),
        repeatable=not options.get("record", True),
    )


def judge(
    reply: Any, samples: Any, model: str | None, *, question: str | None, by: str | None, id: str | None, explain: bool
) -> Call[Judged]:
    """Send one reply with its samples, as plain texts and dicts."""
    given: dict[str, Any] = {"reply": plain_reply(reply), "samples": plain_samples(samples), "explain": explain}
    more = {"question": question, "by": by, "id": id}
    body = encoded(given | {name: value for name, value in more.items() if value is not None})
    return Call("POST", _of(model, "judge"), _read_judged, body=body, repeatable=id is not None)


def feedback(found: Sequence[Feedback | Mapping[str, Any]]) -> Call[list[FeedbackTaken]]:
    """Send feedback on rows; the same feedback twice is stored once."""
    if isinstance(found, Mapping | Feedback):
        raise TableError("feedback must be a list; got one of it. Put it into a list: [found].")
    given = [_set_fields(_as_feedback(one, place)) for place, one in enumerate(found)]
    return Call("POST", "/feedback", lambda reply: _read_taken(reply).feedback, body=encoded({"feedback": given}))


def model(name: str | None) -> Call[ServedModel]:
    """Ask for the description of a model."""
    return Call("GET", "/model" if name is None else f"/models/{quote(name, safe='')}", _read_model)


def ready() -> Call[Ready]:
    """Ask whether every model can answer; that it cannot is an answer too."""
    return Call("GET", "/ready", _read_ready, statuses=(200, 503))


def queue(name: str | None, *, kind: str, limit: int | None, after: Any) -> Call[Queue]:
    """Ask for rows that somebody should look at."""
    return Call("GET", "/queue", _read_queue, query=in_query(kind=kind, model=name, limit=limit, after=after))


def live(name: str | None) -> Call[Live]:
    """Ask for the state of the running service."""
    return Call("GET", "/live", _read_live, query=in_query(model=name))


def _of(name: str | None, verb: str) -> str:
    return f"/{verb}" if name is None else f"/models/{quote(name, safe='')}/{verb}"


def _as_feedback(given: Feedback | Mapping[str, Any], place: int) -> Feedback:
    """Return a dict as feedback; say what is wrong with it."""
    if isinstance(given, Feedback):
        return given
    try:
        return msgspec.convert(_plain_values(given), Feedback)
    except msgspec.ValidationError as error:
        names = ", ".join(Feedback.__struct_fields__)
        raise TableError(
            f"Feedback {place:,} (counting from 0) must be a Feedback, or a dict with id and some of {names}: {error}."
        ) from None


def _plain_values(given: Any) -> Any:
    """Return the values of a dict as Python has them, where NumPy or pandas gave them."""
    if not isinstance(given, Mapping):
        return given
    return {name: value.item() if hasattr(value, "item") else value for name, value in given.items()}


def _set_fields(found: Feedback) -> dict[str, Any]:
    return {name: value for name, value in msgspec.structs.asdict(found).items() if value is not None}


def _read_bytes(reply: Reply) -> bytes:
    return reply.body


def _read_model(reply: Reply) -> ServedModel:
    said = read_dict(reply)
    return msgspec.convert({**said, "about": said}, ServedModel)
