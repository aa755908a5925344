"""Draw the pictures of docs/report.md: make the reports, and photograph their first screens.

``python tools/draw_report.py``. It needs Chromium and playwright.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import tempfile
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from vecuq import Gate, VecUQ, workflows

OUT = Path(__file__).resolve().parents[1] / "docs" / "img" / "report"
SIZE = {"width": 1180, "height": 900}


def main() -> None:
    """Write every picture that the page shows."""
    OUT.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        workflows.demo("demo")
        broken_gate()
        photograph({"demo": Path("demo/report.html"), "gate": Path("gate.html")})


def broken_gate() -> None:
    """Report on rows that are wrong more often than the labels of a gate were."""
    rng = np.random.default_rng(0)
    names = ("entropy", "knn", "energy")
    model = VecUQ().fit(rows_of(rng, 800, names).select(names))
    labelled, new = rows_of(rng, 2_000, names), rows_of(rng, 1_200, names, more=0.1)
    gate = Gate(model, accuracy=0.9).fit(labelled, 1 - labelled["is_error"].to_numpy())
    gate.save("gate.vecuq")
    pq.write_table(new, "new.parquet")
    about = workflows.About(workflows.Labels(error="is_error"), by="subject")
    workflows.report("gate.vecuq", "new.parquet", "gate.html", about=about)


def rows_of(rng: np.random.Generator, n_rows: int, names: tuple[str, ...], more: float = 0.0) -> pa.Table:
    """Draw rows whose errors grow with their scores."""
    scores = rng.gamma(2.0, size=(n_rows, len(names)))
    wrong = rng.random(n_rows) < np.clip(scores.sum(axis=1) / 40 - 0.05 + more, 0, 1)
    others = {"id": [f"q{k}" for k in range(n_rows)], "subject": rng.choice(["law", "history", "physics"], n_rows)}
    return pa.table({**others, **dict(zip(names, scores.T, strict=True)), "is_error": wrong.astype(int)})


def photograph(pages: dict[str, Path]) -> None:
    """Take a picture of the first screen of each page."""
    from playwright.sync_api import sync_playwright

    chromium = os.environ.get("VECUQ_CHROMIUM") or shutil.which("chromium") or shutil.which("google-chrome")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        for name, page in pages.items():
            tab = browser.new_page(viewport=SIZE)
            tab.goto(page.resolve().as_uri())
            tab.screenshot(path=OUT / f"{name}.png")
            print(f"wrote docs/img/report/{name}.png")
        browser.close()


if __name__ == "__main__":
    main()
