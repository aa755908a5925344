"""AsyncClient: the service, called with await."""

from __future__ import annotations

import asyncio
import os
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


class AsyncClient:
    """A scoring service, to be awaited; parameters and verbs are those of :class:`vecuq.client.Client`.

    Examples
    --------
    ::

        async with AsyncClient("http://127.0.0.1:8000", api_key=key) as client:
            scored = await client.score([{"entropy": 0.3, "knn": 1.2}])
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
        self._http = httpx_package().AsyncClient(transport=transport, **self._setup.options())

    @overload
    async def score(
        self, rows: Sequence[Mapping[str, Any]], *, model: str | None = None, **options: Unpack[ScoreOptions]
    ) -> Scored: ...
    @overload
    async def score(self, rows: Any, *, model: str | None = None, **options: Unpack[ScoreOptions]) -> Any: ...
    async def score(self, rows: Any, *, model: str | None = None, **options: Unpack[ScoreOptions]) -> Any:
        """Score rows; see :meth:`Client.score`."""
        return await self._run(verbs.score(rows, self._named(model), **options))

    async def score_file(
        self, path: PathLike, out: PathLike, *, model: str | None = None, **options: Unpack[ScoreOptions]
    ) -> Path:
        """Score a file into another; see :meth:`Client.score_file`."""
        source, target = existing_file(path), Path(out)
        call = verbs.score_file(
            source, target, await asyncio.to_thread(source.read_bytes), self._named(model), **options
        )
        await asyncio.to_thread(write_atomic, target, await self._run(call))
        return target

    async def judge(
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
        """Judge one answer of a language model; see :meth:`Client.judge`."""
        about: dict[str, Any] = {"question": question, "by": by, "id": id, "explain": explain}
        return await self._run(verbs.judge(reply, samples, self._named(model), **about))

    async def feedback(
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
        """Say what was found out about a row; see :meth:`Client.feedback`."""
        found = Feedback(id, kind, correct, ood, comment, who, self._named(model))
        return (await self._run(verbs.feedback([found])))[0]

    async def feedback_all(self, found: Sequence[Feedback | Mapping[str, Any]]) -> list[FeedbackTaken]:
        """Say what was found out about several rows, each a Feedback or a dict: all of it is stored, or none."""
        return await self._run(verbs.feedback(found))

    async def model(self, name: str | None = None) -> ServedModel:
        """Return what the service says of a model."""
        return await self._run(verbs.model(self._named(name)))

    async def ready(self) -> Ready:
        """Return whether every model can answer; it is true or false itself."""
        return await self._run(verbs.ready())

    async def queue(
        self,
        *,
        kind: Literal["audit", "review"] = "review",
        limit: int | None = None,
        after: Any = None,
        model: str | None = None,
    ) -> Queue:
        """Return rows that somebody should look at; see :meth:`Client.queue`."""
        return await self._run(verbs.queue(self._named(model), kind=kind, limit=limit, after=after))

    async def live(self, model: str | None = None) -> Live:
        """Return the state of the running service: the live gate, drift, rates over time."""
        return await self._run(verbs.live(self._named(model)))

    async def close(self) -> None:
        """Close the connections."""
        await self._http.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._setup.url!r})"

    def _named(self, model: str | None) -> str | None:
        return self._setup.model if model is None else model

    async def _run(self, call: Call[T]) -> T:
        steps = talk(call, retries=self._setup.retries, patience=self._setup.timeout)
        came: Reply | Lost | None = None
        while True:
            try:
                step = steps.send(came)
            except StopIteration as done:
                return cast(T, done.value)
            came = await self._did(step)

    async def _did(self, step: Call[Any] | Wait) -> Reply | Lost | None:
        if isinstance(step, Wait):
            await asyncio.sleep(step.seconds)
            return None
        try:
            came = await self._http.request(**self._setup.request(step))
        except httpx_package().RequestError as error:
            return self._setup.lost(error)
        return Reply(came.status_code, came.headers, came.content)
