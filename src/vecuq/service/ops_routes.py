"""Routes for operators: is it alive, is it ready, how much does it do; and the page about all routes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from fastapi import APIRouter, Request, Response
from fastapi.responses import HTMLResponse, PlainTextResponse

from vecuq.service.context import Service
from vecuq.service.docs_page import docs_page, docs_style
from vecuq.service.metrics import CONTENT_TYPE, Gauge, rendered


@dataclass(frozen=True)
class Health:
    """The process is alive."""

    status: str = "alive"


@dataclass(frozen=True)
class ModelReady:
    """One model as it is served, and what is wrong with a newer file of it."""

    generation: int
    checksum: str
    error: str | None


@dataclass(frozen=True)
class Ready:
    """Whether the service answers; a file that cannot be loaded is named, and the model before it goes on."""

    ready: bool
    models: dict[str, ModelReady]


def routes(service: Service) -> APIRouter:
    """Return the routes for operators."""
    router = APIRouter(tags=["operations"])

    # Some load balancers ask with HEAD.
    @router.head("/health", include_in_schema=False)
    @router.get("/health", response_model=Health, summary="Whether the process is alive")
    async def health() -> Health:
        """Answer 200 while the process lives, whatever its models do."""
        return Health()

    @router.head("/ready", include_in_schema=False)
    @router.get(
        "/ready",
        response_model=Ready,
        summary="Whether requests are answered",
        responses={503: {"description": "The service is stopping."}},
    )
    async def ready() -> Ready:
        """Answer 200 while models are served. A newer file that cannot be loaded is named, and the older goes on."""
        return _ready(service)

    @router.get("/metrics", response_class=PlainTextResponse, summary="Metrics for Prometheus")
    async def metrics() -> Response:
        """Return counts of all workers, and the state of models, drift, gates and store, as Prometheus reads them."""
        total = await service.counts.everywhere()
        kept = await service.recorder.query("gauges") if service.recorder is not None else []
        return Response(rendered(total, [*_of_models(service), *kept]), media_type=CONTENT_TYPE)

    @router.get("/docs", include_in_schema=False)
    async def docs(request: Request) -> HTMLResponse:
        document: dict[str, Any] = request.app.openapi()
        return HTMLResponse(docs_page(document, url=f"{request.url.scheme}://{request.url.netloc}"))

    @router.get("/docs/style.css", include_in_schema=False)
    async def style() -> Response:
        return Response(docs_style(), media_type="text/css", headers={"cache-control": "max-age=3600"})

    return router


def _ready(service: Service) -> Ready:
    found = {
        name: ModelReady(generation=one.snapshot.generation, checksum=one.snapshot.checksum, error=one.error)
        for name, one in service.shelf.states().items()
    }
    return Ready(ready=True, models=found)


def _of_models(service: Service) -> list[Gauge]:
    generation = "How often the model's file was loaded, from 1."
    broken = "1 if a newer file of the model could not be loaded, and the older one is served."
    states = service.shelf.states().items()
    return [
        *(
            Gauge("vecuq_model_generation", {"model": name}, one.snapshot.generation, generation)
            for name, one in states
        ),
        *(Gauge("vecuq_model_file_broken", {"model": name}, one.error is not None, broken) for name, one in states),
    ]
