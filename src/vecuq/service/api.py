"""The routes that FastAPI answers, and every error of theirs as one body."""

from __future__ import annotations

from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException

from vecuq._check import one_line
from vecuq._version import __version__
from vecuq.service import feedback_routes, model_routes, ops_routes, page_routes
from vecuq.service.context import Service
from vecuq.service.openapi import document_of
from vecuq.service.refusal import Refusal

_WORDS = {404: "not_found", 405: "method"}


def api_of(service: Service) -> FastAPI:
    """Return all routes but those that score; the documents of FastAPI that load from elsewhere are left out."""
    api = FastAPI(title="vecuq", version=__version__, docs_url=None, redoc_url=None)
    for room in (model_routes, ops_routes, feedback_routes, page_routes):
        api.include_router(room.routes(service))
    api.openapi = document_of(api, service)  # type: ignore[method-assign]
    api.add_exception_handler(Refusal, _refused)
    api.add_exception_handler(HTTPException, _http_error)
    api.add_exception_handler(RequestValidationError, _not_valid)
    api.add_exception_handler(Exception, _failed)
    return api


def _answer(request: Request, refusal: Refusal, headers: dict[str, str] | None = None) -> Response:
    body = refusal.body(request.scope.get("request_id", ""))
    made = Response(body, refusal.status, headers, media_type="application/json")
    for key, value in refusal.headers():
        made.headers[key.decode()] = value.decode()
    return made


def _refused(request: Request, error: Exception) -> Response:
    return _answer(request, error if isinstance(error, Refusal) else internal())


def _http_error(request: Request, error: Exception) -> Response:
    """Return what Starlette refuses: a path that is no route, or another method than its own."""
    status = getattr(error, "status_code", 500)
    what = f"{request.method[:16]} {one_line(request.url.path, most=80)}"
    said = {404: f"There is no {what}.", 405: f"{what} is not allowed here."}.get(
        status, one_line(getattr(error, "detail", ""), most=200)
    )
    headers = _allowed(request) if status == 405 else None
    return _answer(
        request, Refusal(status, _WORDS.get(status, "refused"), said), headers or getattr(error, "headers", None)
    )


def _allowed(request: Request) -> dict[str, str] | None:
    """Return all methods of a path; Starlette knows those of its first route."""
    methods = request.app.openapi()["paths"].get(request.url.path)
    return {"Allow": ", ".join(sorted(name.upper() for name in methods))} if methods else None


def _not_valid(request: Request, error: Exception) -> Response:
    """Return which parameter is wrong, by name."""
    first = error.errors()[0] if isinstance(error, RequestValidationError) else {}
    name = ".".join(str(part) for part in first.get("loc", ())[1:])
    return _answer(request, Refusal(422, "bad_option", one_line(f"{name or 'The request'}: {first.get('msg', '')}.")))


def _failed(request: Request, error: Exception) -> Response:
    return _answer(request, internal())


def internal() -> Refusal:
    """Return what a client reads about a fault of ours."""
    return Refusal(500, "internal", "The service failed on this request. Its log says more, under this request id.")
