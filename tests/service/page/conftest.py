"""A browser and the files of the page, without a service behind them: a test says what the service answers."""

import os
import shutil
import threading
import time

import pytest

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")


def _wanting():
    """Return why no browser can be used; None if one can."""
    if CHROMIUM is None:
        return "Chromium is not installed"
    for name in ("playwright", "axe_playwright_python", "fastapi", "uvicorn"):
        try:
            __import__(name)
        except ImportError:
            return f"{name} is not installed"
    return None


@pytest.fixture(scope="session")
def browser():
    """Chromium, started once; without one the tests are skipped, or fail where a browser is required."""
    reason = _wanting()
    if reason and os.environ.get("VECUQ_TEST_BROWSER") == "required":
        pytest.fail(f"VECUQ_TEST_BROWSER=required, and {reason}.")
    if reason:
        pytest.skip(f"The page is not tried: {reason}.")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield started
        started.close()


@pytest.fixture(scope="session")
def site(browser):
    """The address of a server that has the files of the page and nothing else."""
    import uvicorn
    from fastapi import FastAPI

    from vecuq.service.page_routes import routes

    app = FastAPI()
    app.include_router(routes(None))

    @app.middleware("http")
    async def strict(request, call_next):
        answer = await call_next(request)
        answer.headers["content-security-policy"] = "default-src 'self'; img-src 'self' data: blob:"
        return answer

    server = uvicorn.Server(uvicorn.Config(app, port=0, log_level="error"))
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    while not server.started:
        time.sleep(0.01)
    yield f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}"
    server.should_exit = True
    thread.join()
