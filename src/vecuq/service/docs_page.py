"""The page about all routes, made of the OpenAPI document: no script, nothing from another site."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator, Mapping
from functools import cache
from importlib.resources import files
from typing import Any, NamedTuple

from vecuq.service.schemas import example_of, fields_of, type_of

Document = Mapping[str, Any]
_METHODS = ("get", "post", "put", "patch", "delete")
_OTHERS = "other"
_JSON = "application/json"


class Example(NamedTuple):
    """A body as it is sent: its type and its text."""

    content_type: str
    text: str
    type: str


class Answer(NamedTuple):
    """One status that a route may answer with."""

    status: str
    meaning: str
    examples: list[Example]


class Route(NamedTuple):
    """One route as the page shows it."""

    method: str
    path: str
    anchor: str
    summary: str
    description: str
    parameters: list[dict[str, Any]]
    bodies: list[Example]
    answers: list[Answer]
    curl: str


def docs_page(document: Document, *, url: str = "http://127.0.0.1:8000") -> str:
    """Return an OpenAPI document as a page that can be read and copied from.

    Parameters
    ----------
    document
        The document, as ``/openapi.json`` has it.
    url
        Where the service is, for the command lines.
    """
    from vecuq._draw import page_environment

    groups: dict[str, list[Route]] = {}
    for tag, route in _routes(document, url):
        groups.setdefault(tag, []).append(route)
    schemas = {
        name: (one.get("description", ""), fields_of(one))
        for name, one in sorted(document.get("components", {}).get("schemas", {}).items())
    }
    page = page_environment("vecuq.service").get_template("docs.html.j2")
    return page.render(info=document.get("info", {}), groups=groups, schemas=schemas)


@cache
def docs_style() -> str:
    """Return the style sheet of the page."""
    return files("vecuq.service").joinpath("templates", "docs.css").read_text("utf-8")


def _routes(document: Document, url: str) -> Iterator[tuple[str, Route]]:
    for path, item in document.get("paths", {}).items():
        for method in _METHODS:
            if method in item:
                yield (item[method].get("tags") or [_OTHERS])[0], _route(document, url, path, method, item[method])


def _route(document: Document, url: str, path: str, method: str, about: Mapping[str, Any]) -> Route:
    bodies = _examples(document, about.get("requestBody", {}).get("content", {}))
    answers = [
        Answer(str(status), one.get("description", ""), _examples(document, one.get("content", {})))
        for status, one in sorted(about.get("responses", {}).items())
    ]
    return Route(
        method=method.upper(),
        path=path,
        anchor=f"{method}{path}".replace("/", "-").replace("{", "").replace("}", "").strip("-"),
        summary=about.get("summary", ""),
        description=about.get("description", ""),
        parameters=[_parameter(one) for one in about.get("parameters", [])],
        bodies=bodies,
        answers=answers,
        curl=_curl(url, path, method, bodies),
    )


def _parameter(one: Mapping[str, Any]) -> dict[str, Any]:
    schema = one.get("schema", {})
    return {
        "name": one["name"],
        "where": one["in"],
        "type": type_of(schema),
        "required": one.get("required", False),
        "description": one.get("description") or schema.get("description", ""),
        "default": json.dumps(schema["default"]) if schema.get("default") is not None else "",
    }


def _examples(document: Document, content: Mapping[str, Any]) -> list[Example]:
    return [_example(document, kind, one) for kind, one in content.items()]


def _example(document: Document, kind: str, one: Mapping[str, Any]) -> Example:
    schema = one.get("schema", {})
    named = [given.get("value") for given in one.get("examples", {}).values()]
    value = one.get("example", named[0] if named else None)
    if value is None and kind == _JSON:
        value = example_of(schema, document)
    text = value if isinstance(value, str) else "" if value is None else json.dumps(value, indent=2, ensure_ascii=False)
    return Example(kind, text, type_of(schema) if kind == _JSON else "")


def _curl(url: str, path: str, method: str, bodies: list[Example]) -> str:
    """Return a line that calls the route, to be typed as it is."""
    words = ["curl"] if method == "get" else ["curl", "-X", method.upper()]
    line = f"{shlex.join(words)} {shlex.quote(url + path)}"
    if not bodies:
        return line
    first = bodies[0]
    line += f" -H {shlex.quote(f'content-type: {first.content_type}')}"
    if not first.text:
        return f"{line} --data-binary @FILE"
    body = json.dumps(json.loads(first.text), ensure_ascii=False) if first.content_type == _JSON else first.text
    return f"{line} -d {shlex.quote(body)}"
