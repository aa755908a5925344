"""The page: its files as they are in the package. What a request names is looked up in a list, never on the disk."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import PurePosixPath

from fastapi import APIRouter, Request, Response

from vecuq.ranker import scorer_source
from vecuq.service.context import Service
from vecuq.service.refusal import Refusal

_TYPES = {
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".svg": "image/svg+xml",
    ".txt": "text/plain; charset=utf-8",
    ".md": "text/plain; charset=utf-8",
}


@dataclass(frozen=True)
class PageFile:
    """One file of the page, ready to be sent."""

    content: bytes
    media_type: str
    etag: str

    @classmethod
    def of(cls, name: str, content: bytes) -> PageFile:
        """Return a file with the type that its name says and a tag that changes with its content."""
        tag = hashlib.sha256(content).hexdigest()[:20]
        return cls(content, _TYPES[PurePosixPath(name).suffix], f'"{tag}"')

    def answer(self, known: str | None) -> Response:
        """Return the file; only its tag where the browser has it already."""
        headers = {"etag": self.etag, "cache-control": "no-cache"}  # it asks each time, and mostly gets 304
        tags = {tag.strip().removeprefix("W/") for tag in (known or "").split(",")}
        if self.etag in tags or "*" in tags:
            return Response(status_code=304, headers=headers)
        return Response(self.content, media_type=self.media_type, headers=headers)


def page_files() -> dict[str, PageFile]:
    """Return every file of the page by its path under ``/page/``, and the scorer that the browser uses."""
    found = {name: each.read_bytes() for name, each in _walk(files("vecuq.service") / "page")}
    found["index.html"] = _preloading(found["index.html"], sorted(found))
    found["scorer.js"] = scorer_source().encode()
    return {name: PageFile.of(name, content) for name, content in found.items()}


def _preloading(page: bytes, names: list[str]) -> bytes:
    """Return the page with a link to every module: they load at once, instead of one after the other finds it."""
    modules = [
        name for name in names if name.endswith(".js") and (name.endswith(".module.js") or "vendor/" not in name)
    ]
    links = "\n".join(f'<link rel="modulepreload" href="/page/{name}">' for name in modules)
    return page.replace(b"</head>", f"{links}\n</head>".encode())


def routes(service: Service) -> APIRouter:
    """Return the routes of the page; it holds no data, so it is the same for every service."""
    del service
    router, pages = APIRouter(include_in_schema=False), page_files()

    @router.api_route("/", methods=["GET", "HEAD"])
    async def index(request: Request) -> Response:
        return pages["index.html"].answer(request.headers.get("if-none-match"))

    @router.api_route("/page/{name:path}", methods=["GET", "HEAD"])
    async def file(name: str, request: Request) -> Response:
        if name not in pages:
            raise Refusal(404, "not_found", "The page has no such file.")
        return pages[name].answer(request.headers.get("if-none-match"))

    return router


def _walk(folder: Traversable, under: str = "") -> Iterator[tuple[str, Traversable]]:
    """Yield the files of a packaged folder with their paths below it."""
    for each in folder.iterdir():
        path = f"{under}{each.name}"
        if each.is_dir():
            yield from _walk(each, f"{path}/")
        elif PurePosixPath(each.name).suffix in _TYPES:
            yield path, each
