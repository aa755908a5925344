"""Draw the pictures of docs/notebook.md: run its code, keep what it writes, and photograph the displays.

``python tools/draw_notebook.py``. The displays need Chromium and playwright.
"""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import tempfile
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "notebook.md"
OUT = ROOT / "docs" / "img" / "notebook"
SHOWN = ("model", "ranking", "gate")


def main() -> None:
    """Write every picture that the page shows."""
    OUT.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        names = run(PAGE.read_text("utf-8"))
        photograph([display_of(names[name]) for name in SHOWN], Path("displays.png"))
        for name in re.findall(r"\(img/notebook/([\w.]+)\)", PAGE.read_text("utf-8")):
            shutil.copyfile(name, OUT / name)
            print(f"wrote docs/img/notebook/{name}")


def run(page: str) -> dict[str, Any]:
    """Run the code of a page in its order and return the names that it leaves."""
    names: dict[str, Any] = {}
    for block in re.findall(r"^```python\n(.*?)^```$", page, re.MULTILINE | re.DOTALL):
        exec(compile(block, "notebook.md", "exec"), names)  # noqa: S102 - our own page
    return names


def display_of(thing: Any) -> str:
    """Return what a notebook shows of a thing."""
    bundle = getattr(thing, "_repr_mimebundle_", None)
    return str(bundle()["text/html"] if bundle else thing._repr_html_())


def photograph(displays: list[str], out: Path) -> None:
    """Take a picture of displays, one below the other."""
    from playwright.sync_api import sync_playwright

    chromium = os.environ.get("VECUQ_CHROMIUM") or shutil.which("chromium") or shutil.which("google-chrome")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": 760, "height": 600})
        page.set_content("<!doctype html><body style='margin:8px'>" + "<br>".join(displays))
        page.screenshot(path=out, full_page=True)
        browser.close()


if __name__ == "__main__":
    main()
