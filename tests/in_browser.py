"""Pages in a real browser: Chromium, and tabs that fail on whatever a page must never do."""

import os
import shutil
from importlib.util import find_spec
from urllib.parse import urlsplit

import pytest

CHROMIUM = os.environ.get("VECUQ_CHROMIUM") or shutil.which("chromium") or shutil.which("google-chrome")
ARGUMENTS = ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"]


def wanting(*needed):
    """Return why no browser can be used with the packages that are needed; None if one can."""
    if CHROMIUM is None or not os.path.exists(CHROMIUM):
        return "Chromium is not installed"
    lacking = [name for name in ("playwright", "axe_playwright_python", *needed) if find_spec(name) is None]
    return f"{lacking[0]} is not installed" if lacking else None


@pytest.fixture(scope="module")
def browser():
    """Chromium; without one the tests are skipped, or fail where a browser is required.

    It ends with the module: Playwright keeps an event loop running in this thread, which asyncio.run() of other tests
    would stumble over.
    """
    reason = wanting()
    if reason and os.environ.get("VECUQ_TEST_BROWSER") == "required":
        pytest.fail(f"VECUQ_TEST_BROWSER=required, and {reason}.")
    if reason:
        pytest.skip(f"The page is not tried: {reason}.")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        yield started
        started.close()


@pytest.fixture
def expect(browser):
    """What waits until a place of the page is as it should be; patient, since machines are busy."""
    from playwright.sync_api import expect as patient

    patient.set_options(timeout=60_000)
    return patient


@pytest.fixture
def tab(browser):
    """Open a tab: tab(address, width=400, scheme="dark"); it fails on a console error and on a request elsewhere."""
    contexts, problems = [], []

    def opened(address, *, width=1280, height=800, scheme="light", motion="reduce", allowed=(), script=True):
        looks = {"viewport": {"width": width, "height": height}, "color_scheme": scheme, "reduced_motion": motion}
        context = browser.new_context(**looks, java_script_enabled=script)
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(60_000)
        page.on("pageerror", lambda error: problems.append(f"error: {error}"))
        page.on("console", lambda said: problems.append(said.text) if _is_bad(said, allowed) else None)
        page.on("request", lambda asked: _note_elsewhere(asked, address, problems))
        page.goto(address)
        return page

    yield opened
    for context in contexts:
        context.close()
    assert problems == []


def _is_bad(said, allowed):
    """Return whether the console complains; a refusal that the test provokes may show there."""
    return said.type in ("error", "warning") and not any(text in said.text for text in allowed)


def _note_elsewhere(asked, address, problems):
    """Note a request to another server; of a file, one to any other file."""
    found, home = urlsplit(asked.url), urlsplit(address)
    same = found.path == home.path if home.scheme == "file" else found.netloc == home.netloc
    if found.scheme not in ("blob", "data") and not same:
        problems.append(f"request elsewhere: {asked.url}")


def axe(page, where):
    """What axe-core complains about, in light and, as to colours, in dark too; and what is too wide."""
    from axe_playwright_python.sync_playwright import Axe

    found = Axe().run(page).response["violations"]
    page.emulate_media(color_scheme="dark")
    found += Axe().run(page, options={"runOnly": ["color-contrast"]}).response["violations"]
    page.emulate_media(color_scheme="light")
    said = [f"{where}: {one['id']} {[node['html'][:120] for node in one['nodes']][:3]}" for one in found]
    wide = page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
    return said if wide <= 0 else [*said, f"{where}: {wide} px too wide"]
