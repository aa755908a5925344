"""Lets the tests of this folder share carded.py; and a browser."""

import os
import shutil
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
CHROMIUM = os.environ.get("VECUQ_CHROMIUM") or shutil.which("chromium") or shutil.which("google-chrome")


@pytest.fixture(scope="module")
def browser():
    """Chromium; without one the tests are skipped, or fail where a browser is required."""
    lacking = [name for name in ("playwright", "axe_playwright_python") if find_spec(name) is None]
    reason = "Chromium is not installed" if CHROMIUM is None else f"{lacking[0]} is not installed" if lacking else None
    if reason and os.environ.get("VECUQ_TEST_BROWSER") == "required":
        pytest.fail(f"VECUQ_TEST_BROWSER=required, and {reason}.")
    if reason:
        pytest.skip(f"The card is not looked at: {reason}.")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox", "--disable-gpu"])
        yield started
        started.close()
