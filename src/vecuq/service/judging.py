"""POST /judge: one reply of a language model, in any provider's form, and what the pipeline says of it."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated, Any

import msgspec
import numpy as np
from msgspec import UNSET, Meta, UnsetType

from vecuq.answers import record_of
from vecuq.pipeline import AnswerPipeline, Verdict
from vecuq.service.answer_bodies import text_of
from vecuq.service.asgi import Answer, Request
from vecuq.service.bodies import whole_body
from vecuq.service.context import Service
from vecuq.service.decoding import decoded
from vecuq.service.errors_said import refusing
from vecuq.service.keeping_rows import counted, kept
from vecuq.service.options import query_options
from vecuq.service.patience import Patience
from vecuq.service.refusal import Refusal
from vecuq.service.served import Snapshot
from vecuq.service.settings import MEGABYTE
from vecuq.service.wire import LONGEST_ID, RowId, encode
from vecuq.service.work import Work

# One reply with its samples; a file of answers goes to /score.
_SHAPE = '{"reply": ..., "samples": [...], "question": "..."}'
_MOST_BYTES = 16 * MEGABYTE
_MOST_SAMPLES = 1_000
# So many bytes may be received without a place.
_SMALL = 64 * 2**10


class JudgeBody(msgspec.Struct, forbid_unknown_fields=True):
    """One reply and what belongs to it."""

    reply: dict[str, Any] | str | None
    samples: Annotated[list[Any], Meta(max_length=_MOST_SAMPLES)] | dict[str, Any] = []
    question: str | None = None
    by: str | int | float | bool | None = None
    id: RowId | None = None
    explain: bool = True
    record: bool = True


class JudgeOut(msgspec.Struct):
    """What is known of a reply, and the decision."""

    model: str
    checksum: str
    uncertainty: float | None
    p_value: float | None
    p_wrong: float | None
    accept: bool | None
    refused: str | None
    missing: dict[str, str]
    values: dict[str, float | None]
    why: str | UnsetType = UNSET
    id: Annotated[str, Meta(max_length=LONGEST_ID)] | UnsetType = UNSET
    audit: bool | UnsetType = UNSET


_decode = msgspec.json.Decoder(JudgeBody).decode


class JudgeRoute:
    """What answers requests to judge one reply."""

    def __init__(self, service: Service, work: Work) -> None:
        self._service, self._work = service, work
        limits = service.settings.limits
        self._limits = replace(limits, body=min(limits.body, _MOST_BYTES))
        self._patience = Patience(limits.seconds)

    async def __call__(self, request: Request) -> Answer:
        """Return the answer to a request; raise a refusal."""
        snapshot = self._service.shelf.get(request.name)
        pipeline = snapshot.served.answers
        if pipeline is None:
            raise Refusal(
                422, "wrong_input", "This model takes rows of scores, not answers; /judge is for a pipeline of answers."
            )
        if query_options(request.scope["query_string"]):
            raise Refusal(422, "bad_option", "/judge takes its options in the body.")
        body, verdict, text = await self._received_and_judged(request, pipeline)
        return Answer(await self._out(snapshot, body, verdict, text))

    async def _received_and_judged(self, request: Request, pipeline: AnswerPipeline) -> tuple[JudgeBody, Verdict, str]:
        """Judge a reply in a thread; a large one has its place there before it is received."""
        request.n_rows = 1
        if request.length is not None and request.length <= _SMALL:
            content = await whole_body(request, self._limits, self._patience)
            with self._work.place() as deadline, refusing():
                return await self._work.run_until(deadline, lambda: _judged(pipeline, content))
        with self._work.place() as deadline, refusing():
            large = await whole_body(request, self._limits, self._patience)
            deadline.begin()
            return await self._work.run_until(deadline, lambda: _judged(pipeline, large))

    async def _out(self, snapshot: Snapshot, body: JudgeBody, verdict: Verdict, text: str) -> bytes:
        """Hand the reply to the recorder, and return what is known of it."""
        row_id, audit = None if body.id is None else str(body.id), None
        found = verdict.decided
        counted(self._service, snapshot, found)
        if body.record:
            values = np.array([list(verdict.values.values())], dtype=float)
            by = None if body.by is None else [body.by]
            found, audit = await kept(self._service, snapshot, values, found, [row_id], by=by, texts=[text])
        return encode(
            JudgeOut(
                snapshot.name,
                snapshot.checksum,
                verdict.uncertainty,
                verdict.p_value,
                verdict.p_wrong,
                None if found.accept is None else bool(found.accept[0]),
                verdict.refused,
                verdict.missing,
                dict(verdict.values),
                verdict.why if body.explain else UNSET,
                UNSET if row_id is None else row_id,
                UNSET if audit is None else bool(audit[0]),
            )
        )


def _judged(pipeline: AnswerPipeline, content: bytes) -> tuple[JudgeBody, Verdict, str]:
    """Read and judge a reply, in a thread; its texts are for the log."""
    body: JudgeBody = decoded(_decode, content, shape=_SHAPE)
    record = record_of(body.reply, samples=body.samples, question=body.question)
    verdict = pipeline.judge(record, by=body.by)
    if body.explain:
        verdict.why  # noqa: B018 - computed here, where there is time
    return body, verdict, encode(text_of(record)).decode()
