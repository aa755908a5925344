"""The OpenAPI document: what FastAPI knows of its routes, and by hand those that score, with a model's own columns."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec
from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi

from vecuq.service.context import Service
from vecuq.service.formats import ARROW_FILE, ARROW_STREAM, CSV, JSON, LINES, NPZ, PARQUET
from vecuq.service.judging import JudgeBody, JudgeOut
from vecuq.service.refusal import ErrorBody
from vecuq.service.served import Snapshot
from vecuq.service.wire import GivenOptions, ScoreOut

_REFUSALS = {
    400: "The body is not JSON.",
    401: "The key is missing or wrong.",
    403: "Pages of this origin may not ask.",
    404: "There is no such model, row or path.",
    405: "The path takes another method.",
    406: "No format of Accept can be written.",
    408: "The body came too slowly.",
    409: "It contradicts what is stored.",
    413: "The body, or the number of rows, is above the limit.",
    415: "The format of the body is not read.",
    421: "The service does not answer to this host name.",
    422: "Rows, columns or options cannot be used.",
    429: "The service is busy; try again after Retry-After seconds.",
    500: "The service failed; its log says more under the request id.",
    503: "Not ready, stopping, or not done in time.",
}
_MEANINGS = {
    "alpha": "False-alarm rate; adds `flagged`.",
    "explain": "Adds `why` and the contribution of every column.",
    "missing": "What becomes of rows with missing values.",
    "confidence": "Of alpha for this calibration set, instead of on average.",
    "by": "The field with the category, for a gate with categories.",
    "id": "The field with the id; `id` by default.",
    "record": "Whether rows are kept in the store, if there is one; true by default.",
    "replace": "Whether columns of an earlier scoring are replaced, in tables.",
    "texts": "Whether a table of answers has question, answer and samples too.",
    "map": "Which fields of a file of answers hold what, as in answer=reply,samples=drawn.",
}
_TABLES = (CSV, PARQUET, ARROW_STREAM, ARROW_FILE, LINES)
_BINARY = {"schema": {"type": "string", "format": "binary"}}
_REF = "#/components/schemas/{name}"
Document = dict[str, Any]


def document_of(api: FastAPI, service: Service) -> Callable[[], Document]:
    """Return the function that gives the document; it is made again when a model was replaced."""
    kept: dict[tuple[str, ...], Document] = {}

    def openapi() -> Document:
        key = tuple(state.snapshot.checksum for state in service.shelf.states().values())
        if key not in kept:
            kept.clear()
            kept[key] = _document(api, service)
        return kept[key]

    return openapi


def _document(api: FastAPI, service: Service) -> Document:
    about = "Scores, p-values, reasons and decisions of saved vecuq models."
    made = get_openapi(title=api.title, version=api.version, description=about, routes=api.routes)
    _, ours = msgspec.json.schema_components([ErrorBody, ScoreOut, JudgeBody, JudgeOut], ref_template=_REF)
    schemas = made.setdefault("components", {}).setdefault("schemas", {})
    schemas.update(ours)
    for name in ("HTTPValidationError", "ValidationError"):  # of FastAPI, whose errors have our body
        schemas.pop(name, None)
    schemas["ScoreBody"] = _score_body(service.shelf.get())
    made["paths"] = {**_scoring_paths(service.shelf.get()), **made.get("paths", {})}
    for operations in made["paths"].values():
        for operation in operations.values():
            _with_refusals(operation)
    return made


def _with_refusals(operation: Document) -> None:
    """Add every refusal to an operation, in place of what FastAPI says of its own."""
    content = {JSON.media: {"schema": {"$ref": _REF.format(name="ErrorBody")}}}
    given = operation.setdefault("responses", {})
    for status, meaning in _REFUSALS.items():
        known = given.get(str(status), {})
        said = meaning if status == 422 else known.get("description", meaning)
        given[str(status)] = {"description": said, "content": content}


def _score_body(snapshot: Snapshot) -> Document:
    """Return the schema of a JSON body, with the columns of the model that /score means."""
    options = msgspec.json.schema_components([GivenOptions])[1]["GivenOptions"]["properties"]
    described = {name: {**schema, "description": _MEANINGS[name]} for name, schema in options.items()}
    number = {"anyOf": [{"type": "number"}, {"type": "null"}]}
    row: Document = {
        "type": "object",
        "additionalProperties": True,
        "properties": {"id": {"type": ["string", "null"], "maxLength": 200}},
    }
    if snapshot.served.takes == "rows":
        row["properties"] |= dict.fromkeys(snapshot.columns, number)
        row["required"] = list(snapshot.columns)
    rows = {"type": "array", "items": row, "minItems": 1, "description": "Rows by column; null is missing."}
    return {
        "type": "object",
        "title": "ScoreBody",
        "required": ["rows"],
        "additionalProperties": False,
        "properties": {"rows": rows, **described},
    }


def _example(snapshot: Snapshot) -> Document:
    """Return a body that can be sent as it is: a row of the calibration medians."""
    if snapshot.served.takes == "answers":
        texts = {"vecuq_answers": 1, "id": "q17", "greedy": {"text": "Paris"}}
        return {"rows": [{**texts, "samples": [{"text": "Paris"}, {"text": "Lyon"}]}]}
    ranker = snapshot.served.ranker
    medians = zip(ranker.columns, ranker.kept.centre.tolist(), strict=True)
    row = {name: round(-value if name in ranker.flipped else value, 4) for name, value in medians}
    return {"rows": [{"id": "q17", **{name: value if value == value else 0.5 for name, value in row.items()}}]}  # noqa: PLR0124


def _scoring_paths(snapshot: Snapshot) -> Document:
    name = {"name": "name", "in": "path", "required": True, "schema": {"type": "string"}, "description": "The model."}
    found: Document = {}
    for path, parameters in (("", []), ("/models/{name}", [name])):
        suffix = "_of_model" if parameters else ""
        found[f"{path}/score"] = {"post": _score(snapshot, parameters, f"score{suffix}")}
        found[f"{path}/judge"] = {"post": _judge(parameters, f"judge{suffix}")}
    return found


def _score(snapshot: Snapshot, parameters: list[Document], name: str) -> Document:
    options = msgspec.json.schema_components([GivenOptions])[1]["GivenOptions"]["properties"]
    query = [
        {
            "name": option,
            "in": "query",
            "required": False,
            "schema": _not_null(schema),
            "description": _MEANINGS[option],
        }
        for option, schema in options.items()
    ]
    rows = {"schema": {"$ref": _REF.format(name="ScoreBody")}, "example": _example(snapshot)}
    scored = {"schema": {"$ref": _REF.format(name="ScoreOut")}, "example": _SCORED}
    tables = {one.media: _BINARY for one in _TABLES}
    return {
        "tags": ["scoring"],
        "summary": "Score rows, a table, answers or outputs",
        "description": "Rows as JSON, or a table: the same columns that `vecuq score` adds. A table is answered in its "
        "own format, unless Accept names another. A pipeline of answers takes a file of answers as "
        f"{LINES.media}, a pipeline of a classifier its outputs as {NPZ.media}.",
        "operationId": name,
        "parameters": [*parameters, *query],
        "requestBody": {"required": True, "content": {JSON.media: rows, **tables, NPZ.media: _BINARY}},
        "responses": {
            "200": {"description": "The scores, in the order of the rows.", "content": {JSON.media: scored, **tables}}
        },
    }


def _judge(parameters: list[Document], name: str) -> Document:
    body = {"schema": {"$ref": _REF.format(name="JudgeBody")}, "example": _REPLY}
    out = {"schema": {"$ref": _REF.format(name="JudgeOut")}, "example": _VERDICT}
    return {
        "tags": ["scoring"],
        "summary": "Judge one reply of a language model",
        "description": "The reply is a text, or the dict of any provider's package; samples are further answers to the "
        "same question. For a pipeline of answers only.",
        "operationId": name,
        "parameters": parameters,
        "requestBody": {"required": True, "content": {JSON.media: body}},
        "responses": {"200": {"description": "What is known of the reply.", "content": {JSON.media: out}}},
    }


def _not_null(schema: Document) -> Document:
    """Return the schema of an option in a query string, where null is to leave it out."""
    kinds = [one for one in schema.get("anyOf", [schema]) if one.get("type") != "null"]
    if "enum" in kinds[0]:
        return {"enum": [one for one in kinds[0]["enum"] if one is not None]}
    return dict(kinds[0])


_SUM = "99a72a9e"
_SCORED = {"model": "model", "checksum": _SUM, "rows": [{"id": "q17", "uncertainty": 0.857, "p_value": 0.512}]}
_REPLY = {"reply": "Paris", "samples": ["Paris", "Paris", "Lyon"], "question": "Capital of France?", "id": "q17"}
_VERDICT = {
    "model": "bot",
    "checksum": _SUM,
    "uncertainty": 0.66,
    "p_value": 0.35,
    "p_wrong": 0.08,
    "accept": True,
    "missing": {},
    "values": {"consistency": 0.33},
    "why": "consistency: 0.21 above typical",
    "id": "q17",
}
