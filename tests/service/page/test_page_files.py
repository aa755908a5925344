"""The files of the page: what is served, how, and that nothing else is."""

import re
from importlib.resources import files

import pytest
from fastapi import FastAPI
from starlette.testclient import TestClient

from vecuq.ranker import scorer_source
from vecuq.service.page_routes import page_files, routes
from vecuq.service.refusal import Refusal

OWN = [name for name in page_files() if name.endswith((".js", ".html", ".css")) and not name.startswith("vendor/")]


@pytest.fixture(scope="module")
def client():
    app = FastAPI()
    app.include_router(routes(None))

    @app.exception_handler(Refusal)
    async def refused(request, error):
        from fastapi import Response

        return Response(error.body(), error.status, media_type="application/json")

    with TestClient(app) as made:
        yield made


def test_the_page_is_html_and_its_scripts_are_scripts(client):
    kinds = {"/": "text/html", "/page/app.js": "text/javascript", "/page/style.css": "text/css"}
    kinds |= {"/page/icon.svg": "image/svg+xml", "/page/vendor/LICENSE-htm.txt": "text/plain"}
    for path, kind in kinds.items():
        answer = client.get(path)
        assert answer.status_code == 200
        assert answer.headers["content-type"].startswith(kind)


def test_every_file_that_the_page_names_is_served(client):
    text = client.get("/").text + "".join(client.get(f"/page/{name}").text for name in OWN if name.endswith(".js"))
    named = set(re.findall(r'"(/page/[^"]+)"', text))
    assert {"/page/app.js", "/page/style.css", "/page/vendor/flechette.min.js", "/page/scorer.js"} <= named
    assert [path for path in sorted(named) if client.get(path).status_code != 200] == []


def test_every_import_of_a_module_is_a_file(client):
    missing = []
    for name in (one for one in OWN if one.endswith(".js")):
        for other in re.findall(r'from "(\.[^"]+)"', client.get(f"/page/{name}").text):
            if client.get(f"/page/{name}/../{other}").status_code != 200:
                missing.append((name, other))
    assert missing == []


def test_the_scorer_is_that_of_the_library(client):
    assert client.get("/page/scorer.js").text == scorer_source()


def test_a_browser_that_has_a_file_gets_only_its_tag(client):
    first = client.get("/page/app.js")
    again = client.get("/page/app.js", headers={"if-none-match": f'W/{first.headers["etag"]}, "other"'})
    assert (again.status_code, again.content) == (304, b"")
    assert again.headers["etag"] == first.headers["etag"]
    assert client.get("/page/app.js", headers={"if-none-match": '"other"'}).status_code == 200
    assert first.headers["cache-control"] == "no-cache"


def test_a_head_request_has_no_body(client):
    assert client.head("/").content == b""


@pytest.mark.parametrize(
    "path",
    [
        *("/page/", "/page/nothing.js", "/page/../settings.py", "/page/%2e%2e/settings.py", "/page//etc/passwd"),
        *("/page/..%2f..%2f..%2fpyproject.toml", "/page/app.js%00.css", "/page/APP.JS", "/page/rows"),
    ],
)
def test_what_is_not_on_the_list_is_not_found(client, path):
    answer = client.get(path)
    assert answer.status_code == 404
    assert "settings" not in answer.text


def test_nothing_is_inline_and_nothing_comes_from_elsewhere():
    """The policy of the service allows neither."""
    found = page_files()
    page = found["index.html"].content.decode()
    assert re.findall(r"<script(?![^>]*\bsrc=)|<style|\bstyle=|\son\w+=", page) == []
    for name in OWN:
        text = found[name].content.decode()
        assert re.findall(r"https?://(?!www\.w3\.org/)[^\s\"'`]+", text) == [], name
        assert "dangerouslySetInnerHTML" not in text
        assert "innerHTML" not in text


def test_every_library_comes_with_its_licence():
    found = page_files()
    listed = found["vendor/README.md"].content.decode()
    libraries = [name for name in found if name.startswith("vendor/") and name.endswith((".js", ".css"))]
    assert len(libraries) == 2
    for name in libraries:
        assert f"`{name.removeprefix('vendor/')}`" in listed
    for licence in re.findall(r"`(LICENSE-[^`]+)`", listed):
        assert "Copyright" in found[f"vendor/{licence}"].content.decode()


def test_the_page_is_small():
    """All of it, as it is packed into the wheel, beside the 1.5 MB that the wheel may have."""
    import zlib

    assert sum(len(zlib.compress(one.content)) for one in page_files().values()) < 150_000


def test_no_file_of_the_page_is_left_out():
    folder = files("vecuq.service") / "page"
    listed = {str(path.relative_to(str(folder))) for path in folder.rglob("*") if path.is_file()}
    assert listed == set(page_files()) - {"scorer.js"}
