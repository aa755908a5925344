"""GET /model, /models, /models/{name} and its map for the browser: what is served."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from weakref import WeakKeyDictionary

from fastapi import APIRouter, Request, Response

from vecuq.service.context import Service
from vecuq.service.describing import described, exported_map
from vecuq.service.refusal import Refusal
from vecuq.service.served import Snapshot
from vecuq.service.wire import encode

_JSON = "application/json"


def _once(make: Callable[[Snapshot], bytes]) -> Callable[[Snapshot], bytes]:
    """Return a function that remembers what it made of a model for as long as that is served, and no longer."""
    made: WeakKeyDictionary[Snapshot, bytes] = WeakKeyDictionary()

    def once(snapshot: Snapshot) -> bytes:
        found = made.get(snapshot)
        if found is None:
            found = made[snapshot] = make(snapshot)
        return found

    return once


@_once
def _description(snapshot: Snapshot) -> bytes:
    return encode(described(snapshot))


@_once
def _map(snapshot: Snapshot) -> bytes:
    found, why_not = exported_map(snapshot.served.ranker)
    if found is None:
        raise Refusal(404, "not_exportable", str(why_not))
    return found.encode()


def routes(service: Service) -> APIRouter:
    """Return the routes that describe the models."""
    router = APIRouter(tags=["models"])

    @router.get("/model", summary="The model that /score means")
    def model() -> Response:
        return Response(_description(service.shelf.get()), media_type=_JSON)

    @router.get("/models", summary="All models")
    def models() -> Response:
        found: list[dict[str, Any]] = [
            _in_short(state.snapshot, state.error, service) for state in service.shelf.states().values()
        ]
        return Response(encode({"models": found}), media_type=_JSON)

    @router.get("/models/{name}", summary="One model by its name")
    def model_by_name(name: str) -> Response:
        return Response(_description(service.shelf.get(name)), media_type=_JSON)

    @router.get("/models/{name}/map.json", summary="The model for the scorer in the browser")
    def map_of_model(name: str, request: Request) -> Response:
        snapshot = service.shelf.get(name)
        tag = f'"{snapshot.checksum}"'
        headers = {"etag": tag, "cache-control": "no-cache"}
        if tag in [one.strip() for one in request.headers.get("if-none-match", "").split(",")]:
            return Response(status_code=304, headers=headers)
        return Response(_map(snapshot), media_type=_JSON, headers=headers)

    return router


def _in_short(snapshot: Snapshot, error: str | None, service: Service) -> dict[str, Any]:
    """Return what a list shows of a model."""
    return {
        "name": snapshot.name,
        "kind": snapshot.served.kind,
        "takes": snapshot.served.takes,
        "checksum": snapshot.checksum,
        "generation": snapshot.generation,
        "loaded_at": snapshot.loaded_at,
        "columns": list(snapshot.columns),
        "default": snapshot.name == service.shelf.default,
        "error": error,
    }
