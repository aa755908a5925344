"""POST and GET /feedback, /queue, /live, /rows/{id}: what people found out, and how the promise stands."""

from __future__ import annotations

import asyncio
import math
from collections.abc import AsyncIterator
from typing import Annotated, Any, Literal

import msgspec
from fastapi import APIRouter, Query, Request, Response
from fastapi.responses import StreamingResponse

from vecuq.service.context import Service
from vecuq.service.feedback_docs import BODY, EXPORTED, FEEDBACK_TAKEN
from vecuq.service.keeping import FORMATS, Encoder, batch_of, schema_of
from vecuq.service.recorder import Feedback, FeedbackTaken, Recorder
from vecuq.service.refusal import Refusal
from vecuq.service.settings import MEGABYTE, Limits

_MOST_BODY = 4 * MEGABYTE
_SMALL = 64 * 1024  # larger bodies are read in a thread
_encode = msgspec.json.Encoder().encode

Model = Annotated[str | None, Query(description="Name of a model; by default the one that /score means.")]
Limit = Annotated[int, Query(ge=1, le=1_000, description="How many rows at most.")]
After = Annotated[str | None, Query(description="Id of the last row of the page before.", max_length=200)]


class _Several(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    feedback: list[Feedback]


class _Taken(msgspec.Struct, frozen=True):
    feedback: list[FeedbackTaken]


def routes(service: Service) -> APIRouter:
    """Return the routes of feedback."""
    router = APIRouter(tags=["feedback"])
    limits = service.settings.limits

    @router.post("/feedback", summary="Say what was found out about rows", openapi_extra=BODY, responses=FEEDBACK_TAKEN)
    async def give_feedback(request: Request) -> Response:
        """Store feedback, all or none of it; it is on disk when this answers.

        `kind` is `audit` for the label of a row that was drawn at random, and counts towards the bound of the gate;
        `review` is about any row, and does not. The same feedback again is known; a later review replaces an earlier
        one; the label of an audit is final.
        """
        keeper = _recorder(service)
        _refuse_other_types(request)
        body, who = await _body(request, limits), request.headers.get("who")
        found = _decoded(body, who) if len(body) <= _SMALL else await asyncio.to_thread(_decoded, body, who)
        return _json(_Taken(await keeper.feedback(found)))

    @router.get("/feedback", summary="Export feedback with the rows it is about", responses=EXPORTED)
    async def export_feedback(
        format: Literal["parquet", "csv", "jsonl"] = "parquet",
        kind: Annotated[Literal["audit", "review"] | None, Query(description="By default both.")] = None,
        model: Model = None,
    ) -> Response:
        """Return one row per feedback, joined with what was scored. Only audits are a random sample."""
        keeper = _recorder(service)
        columns = await keeper.query("columns", model=model)
        first = await keeper.query("export", model=model, kind=kind)
        name = f"feedback{'' if kind is None else f'-{kind}'}.{format}"
        return StreamingResponse(
            _pages(keeper, first, columns, format, {"model": model, "kind": kind}),
            media_type=FORMATS[format],
            headers={"content-disposition": f'attachment; filename="{name}"'},
        )

    @router.get("/queue", summary="Rows to look at")
    async def queue(
        kind: Literal["review", "audit"] = "review", model: Model = None, limit: Limit = 100, after: After = None
    ) -> Response:
        """Return rows without feedback: to review, the most uncertain first; of the audit, the oldest first."""
        what = "queue" if kind == "review" else "audit_queue"
        found = await _recorder(service).query(what, model=model, limit=limit, after=after)
        return _json({"kind": kind, "rows": found})

    @router.get("/live", summary="How a model stands now, and in the last minutes and hours")
    async def live(model: Model = None) -> Response:
        """Return totals, the state of the gate and of the drift monitor, and series by the second and the minute."""
        return _json(await _recorder(service).query("live", model=model))

    @router.get("/rows/{id:path}", summary="A row from the log, with its feedback")
    async def row(id: str, model: Model = None) -> Response:
        """Return what was scored and found out under an id."""
        found = await _recorder(service).query("row", id=id, model=model)
        if found is None:
            raise Refusal(404, "no_row", "The log holds no row with this id; it may be too old, or was not kept.")
        return _json(found)

    return router


def _recorder(service: Service) -> Recorder:
    if service.recorder is None:
        raise Refusal(503, "no_store", "This service keeps no feedback. Start it with --store FILE.")
    return service.recorder


def _refuse_other_types(request: Request) -> None:
    """Raise for a body that says that it is something else than JSON, as a form does."""
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind not in ("", "application/json"):
        raise Refusal(415, "content_type", "Feedback is JSON; send it with Content-Type: application/json.")


async def _body(request: Request, limits: Limits) -> bytes:
    """Return the body of a request; refuse one that is too large, or too slow."""
    most, parts, size = min(limits.body, _MOST_BODY), list[bytes](), 0
    try:
        async with asyncio.timeout(limits.seconds):
            async for part in request.stream():
                parts.append(part)
                size += len(part)
                if size > most:
                    raise Refusal(
                        413, "too_large", f"The body has more than {most:,} bytes; send less feedback at once."
                    )
    except TimeoutError:
        raise Refusal(408, "slow_body", f"The body was not here after {limits.seconds:g} s.") from None
    return b"".join(parts)


def _decoded(body: bytes, who: str | None) -> list[Feedback]:
    """Return the feedback in a body: one object, or a list of them under ``feedback``."""
    try:
        plain = msgspec.json.decode(body)
    except (msgspec.DecodeError, RecursionError) as error:
        raise Refusal(400, "bad_body", f"The body is not JSON: {str(error)[:200]}.") from None
    several = isinstance(plain, dict) and "feedback" in plain
    try:
        found = msgspec.convert(plain, _Several).feedback if several else [msgspec.convert(plain, Feedback)]
    except msgspec.ValidationError as error:
        raise Refusal(422, "bad_feedback", f"The feedback cannot be taken: {str(error)[:300]}.") from None
    if who is None:
        return found
    return [one if one.who is not None else msgspec.structs.replace(one, who=who) for one in found]


async def _pages(
    keeper: Recorder, first: Any, columns: list[str], form: str, about: dict[str, Any]
) -> AsyncIterator[bytes]:
    """Yield the bytes of an export, page by page."""
    schema = schema_of(columns)
    encoder = Encoder(form, schema)
    page, after = first
    while True:
        yield encoder.add(batch_of(page, columns, schema))
        if after is None:
            break
        page, after = await keeper.query("export", after=after, **about)
    yield encoder.end()


def _json(value: Any) -> Response:
    return Response(_encode(_finite(value)), media_type="application/json")


def _finite(value: Any) -> Any:
    """Return plain values as JSON has them, which knows neither NaN nor infinity."""
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if isinstance(value, dict):
        return {key: _finite(inner) for key, inner in value.items()}
    return [_finite(inner) for inner in value] if isinstance(value, list | tuple) else value
