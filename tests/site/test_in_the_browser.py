"""The built site in a browser: it works offline, can be searched, and axe finds nothing. Build it first: make docs."""

import shutil
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pytest

SITE = Path(__file__).parents[2] / "docs" / "_build" / "html"
PAGES = (
    "index",
    "start/index",
    "concepts/map",
    "validation/index",
    "reference/catalogue/text",
    "reference/api/vecuq.gate",
    "paper",
    "built/gallery/plot_the_map",
)

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not (SITE / "index.html").exists(), reason="the site is not built: make docs"),
]


@pytest.fixture(scope="module")
def browser():
    sync_api = pytest.importorskip("playwright.sync_api")
    chromium = shutil.which("chromium")
    if chromium is None:
        pytest.skip("Chromium is not installed")
    with sync_api.sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox", "--disable-gpu"])
        yield started
        started.close()


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *_):
        """Say nothing."""


@pytest.fixture(scope="module")
def address():
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=SITE)) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


@pytest.fixture
def opened(browser, address):
    """A function that opens a page of the site; what it asks other hosts for, or complains of, is an error."""
    found = []
    own = (address, "data:", "blob:")

    def open_page(name, *, width=1280, theme="light"):
        context = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=theme)
        page = context.new_page()
        page.set_default_timeout(120_000)  # machines are busy
        page.on("request", lambda one: None if one.url.startswith(own) else found.append(one.url))
        page.on("console", lambda one: found.append(one.text) if one.type in ("error", "warning") else None)
        page.on("pageerror", lambda one: found.append(str(one)))
        page.goto(f"{address}/{name}.html")
        return page

    yield open_page
    assert found == []


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("name", PAGES)
def test_axe_finds_nothing(opened, name, theme):
    axe = pytest.importorskip("axe_playwright_python.sync_playwright").Axe()
    found = axe.run(opened(name, theme=theme), options={"runOnly": ["wcag2a", "wcag2aa"], "preload": False})
    assert found.response["violations"] == [], found.generate_report()


@pytest.mark.parametrize("name", PAGES)
def test_a_telephone_need_not_scroll_sideways(opened, name):
    page = opened(name, width=400)
    assert page.evaluate("document.documentElement.scrollWidth") <= 400


def test_formulas_are_drawn(opened):
    page = opened("reference/catalogue/text")
    page.wait_for_selector("mjx-container svg")
    assert page.locator("mjx-container").count() > 60
    assert page.locator("mjx-merror").count() == 0


def test_the_search_finds_a_page(opened, address):
    page = opened("search")
    page.goto(f"{address}/search.html?q=certificate")
    page.wait_for_selector("#search-results ul.search li")
    assert "gate" in page.inner_text("#search-results").lower()
