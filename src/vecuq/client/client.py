"""Client: the service, as Python sees it."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Literal, Self, TypeVar, Unpack, overload
from urllib.parse import quote

import msgspec

from vecuq._check import existing_file
from vecuq._files import write_atomic
from vecuq.answers import plain_reply, plain_samples
from vecuq.client.again import Lost, pause_before
from vecuq.client.asked import ScoreOptions, feedback_fields
from vecuq.client.bodies import encoded, encoded_rows, is_rows
from vecuq.client.calls import Call, Reply, in_query, read_json
from vecuq.client.lost import Verify
from vecuq.client.refused import ServiceError
from vecuq.client.replies import Judged, Live, Queue, Ready, Scored, ServedModel
from vecuq.client.setup import Setup, httpx_package
from vecuq.client.tables import ARROW_STREAM, as_arrow, content_type_of, like, read_stream, stream_of
from vecuq.service import Feedback, FeedbackTaken

T = TypeVar("T")
PathLike = str | os.PathLike[str]


class _Taken(msgspec.Struct):
    """The answer to feedback."""

    feedback: list[FeedbackTaken]


_read_taken = read_json(_Taken)
_read_rows = read_json(Scored)
_read_judged = read_json(Judged)
_read_ready = read_json(Ready)
_read_queue = read_json(Queue)
_read_live = read_json(Live)


class Client:
    """A scoring service, as Python sees it.

    Parameters
    ----------
    url
        Address of the service, such as ``http://127.0.0.1:8000``.
    api_key
        The key of the service, if it has one.
    model
        Which of several models to ask; None is the first one of the service. Every verb takes another one.
    timeout
        Seconds without an answer after which a request is given up.
    retries
        How often a request is sent again: if the service asks to come back later (Retry-After), and, where sending
        it twice does no harm, if the connection broke.
    verify
        Which certificates are trusted, over https: those of the system, or a file of your own authority, as in
        ``verify="ca.pem"``; also a context of ``ssl``. False trusts anybody.
    transport
        How to get there, a transport of httpx: for a proxy, or a test without a network.

    Examples
    --------
    ::

        with Client("http://127.0.0.1:8000", api_key=key) as client:
            for row in client.score([{"entropy": 0.3, "knn": 1.2, "id": "q17"}]).rows:
                print(row.id, row.uncertainty, row.accept)
            frame = client.score(frame, alpha=0.05)
            client.feedback("q17", correct=True)
    """

    def __init__(
        self,
        url: str,
        *,
        api_key: str | None = None,
        model: str | None = None,
        timeout: float = 30.0,
        retries: int = 2,
        verify: Verify = True,
        transport: Any = None,
    ) -> None:
        self._setup = Setup(url, api_key, model, timeout, retries, verify)
        self._http = httpx_package().Client(transport=transport, **self._setup.options())

    @overload
    def score(
        self, rows: Sequence[Mapping[str, Any]], *, model: str | None = None, **options: Unpack[ScoreOptions]
    ) -> Scored: ...
    @overload
    def score(self, rows: Any, *, model: str | None = None, **options: Unpack[ScoreOptions]) -> Any: ...
    def score(self, rows: Any, *, model: str | None = None, **options: Unpack[ScoreOptions]) -> Any:
        """Score rows: a list of dicts, or a table of pandas, polars or pyarrow.

        A list gives a :class:`Scored`. A table comes back as one of its kind, with the columns that ``vecuq score``
        would add. The options are those of ``POST /score``: alpha, explain, missing,
        confidence, by, id, record.
        """
        path, query = self._path(model, "score"), in_query(**options)
        id_name, record = options.get("id", "id"), options.get("record", True)
        if is_rows(rows):
            once = not record or all(row.get(id_name) is not None for row in rows)
            return self._run(Call("POST", path, _read_rows, query=query, body=encoded_rows(rows), repeatable=once))
        table = as_arrow(rows)
        once = not record or (id_name in table.column_names and not table[id_name].null_count)
        call = Call(
            "POST",
            path,
            read_stream,
            query=query,
            body=stream_of(table),
            content_type=ARROW_STREAM,
            accept=ARROW_STREAM,
            repeatable=once,
        )
        return like(rows, self._run(call))

    def score_file(
        self, path: PathLike, out: PathLike, *, model: str | None = None, **options: Unpack[ScoreOptions]
    ) -> Path:
        """Score a file (csv, parquet, Arrow, jsonl, npz) into another, whole or not at all; return the new one.

        Both are in memory for a moment. The endings say the formats.
        """
        source, target = existing_file(path), Path(out)
        call = Call(
            "POST",
            self._path(model, "score"),
            lambda reply: reply.body,
            query=in_query(**options),
            body=source.read_bytes(),
            content_type=content_type_of(source),
            accept=content_type_of(target),
            repeatable=not options.get("record", True),
        )
        write_atomic(target, self._run(call))
        return target

    def judge(
        self,
        reply: Any,
        samples: Any = (),
        *,
        question: str | None = None,
        by: str | None = None,
        id: str | None = None,
        explain: bool = True,
        model: str | None = None,
    ) -> Judged:
        """Judge one answer of a language model; reply and samples as :meth:`vecuq.AnswerPipeline.judge` takes them."""
        given: dict[str, Any] = {"reply": plain_reply(reply), "samples": plain_samples(samples), "explain": explain}
        more = {"question": question, "by": by, "id": id}
        body = encoded(given | {name: value for name, value in more.items() if value is not None})
        path = self._path(model, "judge")
        return self._run(Call("POST", path, _read_judged, body=body, repeatable=id is not None))

    def feedback(
        self,
        id: str,
        *,
        correct: bool | None = None,
        kind: Literal["audit", "review"] = "review",
        ood: bool | None = None,
        comment: str | None = None,
        who: str | None = None,
        model: str | None = None,
    ) -> FeedbackTaken:
        """Say what was found out about a row; it is on disk when this returns.

        ``kind="audit"`` is for rows that were drawn for the audit (``audit`` is True); only these count for the bound.
        """
        return self.feedback_all([Feedback(id, kind, correct, ood, comment, who, self._named(model))])[0]

    def feedback_all(self, found: Sequence[Feedback | Mapping[str, Any]]) -> list[FeedbackTaken]:
        """Say what was found out about several rows, each a Feedback or a dict: all of it is stored, or none."""
        body = encoded({"feedback": feedback_fields(found)})
        return self._run(Call("POST", "/feedback", _read_taken, body=body)).feedback

    def model(self, name: str | None = None) -> ServedModel:
        """Return what the service says of a model."""
        said = self._run(Call("GET", self._path(name), read_json(dict[str, Any])))
        return msgspec.convert({**said, "about": said}, ServedModel)

    def ready(self) -> Ready:
        """Return whether every model can answer; it is true or false itself."""
        return self._run(Call("GET", "/ready", _read_ready, statuses=(200, 503)))

    def queue(
        self,
        *,
        kind: Literal["audit", "review"] = "review",
        limit: int | None = None,
        after: Any = None,
        model: str | None = None,
    ) -> Queue:
        """Return rows that somebody should look at: deferred ones, or those of the audit."""
        query = in_query(kind=kind, model=self._named(model), limit=limit, after=after)
        return self._run(Call("GET", "/queue", _read_queue, query=query))

    def live(self, model: str | None = None) -> Live:
        """Return the state of the running service: the live gate, drift, rates over time."""
        return self._run(Call("GET", "/live", _read_live, query=in_query(model=self._named(model))))

    def close(self) -> None:
        """Close the connections."""
        self._http.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._setup.url!r})"

    def _named(self, model: str | None) -> str | None:
        return self._setup.model if model is None else model

    def _path(self, model: str | None, verb: str = "") -> str:
        name = self._named(model)
        if name is None:
            return f"/{verb or 'model'}"
        return f"/models/{quote(name, safe='')}" + (f"/{verb}" if verb else "")

    def _run(self, call: Call[T]) -> T:
        for attempt in range(self._setup.retries + 1):
            came = self._sent(call)
            pause = pause_before(call, came, attempt)
            if pause is None or attempt == self._setup.retries or pause > self._setup.timeout:
                break
            time.sleep(pause)
        if isinstance(came, Lost):
            raise ServiceError(None, came.error, came.message)
        return call.answer(came)

    def _sent(self, call: Call[Any]) -> Reply | Lost:
        try:
            came = self._http.request(**self._setup.request(call))
        except httpx_package().RequestError as error:
            return self._setup.lost(error)
        return Reply(came.status_code, came.headers, came.content)
