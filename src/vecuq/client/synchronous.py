"""Client: the service, called plainly."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Literal, Self, TypeVar, Unpack, cast, overload

from vecuq._check import existing_file
from vecuq._files import write_atomic
from vecuq.client import verbs
from vecuq.client.calls import Call, Reply
from vecuq.client.lost import Verify
from vecuq.client.replies import Judged, Live, Queue, Ready, Scored, ServedModel
from vecuq.client.setup import Setup, httpx_package
from vecuq.client.talk import Lost, Wait, talk
from vecuq.client.verbs import ScoreOptions
from vecuq.service import Feedback, FeedbackTaken

T = TypeVar("T")
PathLike = str | os.PathLike[str]


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
        return self._run(verbs.score(rows, self._named(model), **options))

    def score_file(
        self, path: PathLike, out: PathLike, *, model: str | None = None, **options: Unpack[ScoreOptions]
    ) -> Path:
        """Score a file (csv, parquet, Arrow, jsonl, npz) into another, whole or not at all; return the new one.

        Both are in memory for a moment. The endings say the formats.
        """
        source, target = existing_file(path), Path(out)
        call = verbs.score_file(source, target, source.read_bytes(), self._named(model), **options)
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
        about: dict[str, Any] = {"question": question, "by": by, "id": id, "explain": explain}
        return self._run(verbs.judge(reply, samples, self._named(model), **about))

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
        found = Feedback(id, kind, correct, ood, comment, who, self._named(model))
        return self._run(verbs.feedback([found]))[0]

    def feedback_all(self, found: Sequence[Feedback | Mapping[str, Any]]) -> list[FeedbackTaken]:
        """Say what was found out about several rows, each a Feedback or a dict: all of it is stored, or none."""
        return self._run(verbs.feedback(found))

    def model(self, name: str | None = None) -> ServedModel:
        """Return what the service says of a model."""
        return self._run(verbs.model(self._named(name)))

    def ready(self) -> Ready:
        """Return whether every model can answer; it is true or false itself."""
        return self._run(verbs.ready())

    def queue(
        self,
        *,
        kind: Literal["audit", "review"] = "review",
        limit: int | None = None,
        after: Any = None,
        model: str | None = None,
    ) -> Queue:
        """Return rows that somebody should look at: deferred ones, or those of the audit."""
        return self._run(verbs.queue(self._named(model), kind=kind, limit=limit, after=after))

    def live(self, model: str | None = None) -> Live:
        """Return the state of the running service: the live gate, drift, rates over time."""
        return self._run(verbs.live(self._named(model)))

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

    def _run(self, call: Call[T]) -> T:
        steps = talk(call, retries=self._setup.retries, patience=self._setup.timeout)
        came: Reply | Lost | None = None
        while True:
            try:
                step = steps.send(came)
            except StopIteration as done:
                return cast(T, done.value)
            came = self._did(step)

    def _did(self, step: Call[Any] | Wait) -> Reply | Lost | None:
        if isinstance(step, Wait):
            time.sleep(step.seconds)
            return None
        try:
            came = self._http.request(**self._setup.request(step))
        except httpx_package().RequestError as error:
            return self._setup.lost(error)
        return Reply(came.status_code, came.headers, came.content)
