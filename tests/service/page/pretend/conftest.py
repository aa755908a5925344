"""The page with a service that a test makes up: its answers, and what it was sent."""

import json
import time
from urllib.parse import parse_qs, unquote, urlsplit

import pytest


class Pretend:
    """A service made up of answers by path: each a function of the query and the body, or what it would return."""

    def __init__(self, browser, site):
        self.browser, self.site = browser, site
        self.answers, self.calls = {}, []
        self.errors, self.allowed = [], []  # what the console said, and what it may say
        self.contexts = []

    def open(self, view, *, width=1280, height=800, scheme="light", who="Ada"):
        """Open the page at a view; who: the name of the labeller, None if it is not known yet."""
        context = self.browser.new_context(viewport={"width": width, "height": height}, color_scheme=scheme)
        self.contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(15_000)
        page.clock.install()  # it ticks as any clock does, until time is passed
        page.on("console", lambda said: said.type in ("error", "warning") and self.errors.append(said.text))
        page.on("pageerror", lambda error: self.errors.append(str(error)))
        if who is not None:
            page.add_init_script(f"sessionStorage.getItem('vecuq-who') ?? sessionStorage.setItem('vecuq-who', {who!r})")
        page.route("**/*", self._answer)
        page.goto(f"{self.site}/#/{view}")
        return page

    def until(self, page, done, *, seconds=20, pace=10):
        """Wait until something is so, while the page's own clock runs faster; at most so many seconds of ours."""
        end = time.monotonic() + seconds
        while not done() and time.monotonic() < end:
            page.clock.fast_forward(50 * pace)
            page.wait_for_timeout(50)
        assert done()

    def said(self, path):
        """Return the bodies that were sent to a path."""
        return [body for where, _, body in self.calls if where == path]

    def unexpected(self):
        """Return what the console said and was not allowed to say."""
        return [text for text in self.errors if not any(part in text for part in self.allowed)]

    def _answer(self, route):
        asked = urlsplit(route.request.url)
        path, query = unquote(asked.path), {name: values[0] for name, values in parse_qs(asked.query).items()}
        if path not in self.answers:
            route.continue_()
            return
        body = route.request.post_data_json if route.request.method == "POST" else None
        self.calls.append((path, query, body))
        found = self.answers[path]
        found = found(query, body) if callable(found) else found
        if found is None:
            route.abort()
            return
        status, said = found if isinstance(found, tuple) else (200, found)
        route.fulfill(status=status, body=json.dumps(said), content_type="application/json")


@pytest.fixture
def pretend(browser, site):
    """A service made up by the test; at the end nothing unexpected may be on the console."""
    made = Pretend(browser, site)
    yield made
    for context in made.contexts:
        context.close()
    assert made.unexpected() == []


@pytest.fixture
def violations():
    """Return what axe finds wrong with a page."""

    def run(page):
        from axe_playwright_python.sync_playwright import Axe

        found = Axe().run(page).response["violations"]
        return [(one["id"], [node["html"][:200] for node in one["nodes"]]) for one in found]

    return run
