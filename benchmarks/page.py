"""Claim: the page stays quick with 100,000 rows. Time to the table, frames while scrolling, one move of the slider.

A real service, Debian's Chromium without a screen and without a graphics card, on the same machine. Milliseconds are
those of the wall clock, as a person sees them, so other work on the machine makes them longer; "work" is the processor
time of the page's main thread for each step, which other work changes less.

    python -m benchmarks.page [--rows 100000]
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import threading
import time
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pyarrow as pa
from pyarrow import parquet

from vecuq import VecUQ

CHROMIUM = os.environ.get("VECUQ_CHROMIUM") or shutil.which("chromium")
COLUMNS = ("entropy", "knn", "mahalanobis", "confidence")
# Scrolls through the table, a few rows or many per frame, and returns the milliseconds between frames.
SCROLL = """([frames, step]) => new Promise((done) => {
  const grid = document.querySelector(".grid");
  grid.scrollTop = 0;
  const times = [];
  let last = performance.now();
  const frame = (now) => {
    times.push(now - last);
    last = now;
    grid.scrollTop += step;
    if (times.length > frames) done(times.slice(1));
    else requestAnimationFrame(frame);
  };
  requestAnimationFrame(frame);
})"""
# Moves the slider, and returns the milliseconds of the work until the page is drawn anew.
SLIDE = """async (values) => {
  const slider = document.getElementById("slider");
  const times = [];
  for (const value of values) {
    await new Promise(requestAnimationFrame);
    const start = performance.now();
    slider.value = value;
    slider.dispatchEvent(new Event("input", { bubbles: true }));
    await new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
    times.push(performance.now() - start);
  }
  return times;
}"""


def rows_of(n_rows: int, seed: int) -> pa.Table:
    """Return rows with ids and labels."""
    rng = np.random.default_rng(seed)
    columns = {name: rng.gamma(1.0 + k, size=n_rows) for k, name in enumerate(COLUMNS)}
    labels = {"id": [f"row-{k}" for k in range(n_rows)], "correct": rng.random(n_rows) > columns["knn"] / 12}
    return pa.table({**columns, **labels})


@contextmanager
def service(folder: Path):
    """Serve a model at a free port; yield the address."""
    VecUQ(columns=COLUMNS, flip=["confidence"], random_state=0).fit(rows_of(5000, 0)).save(folder / "model.vecuq")
    command = [sys.executable, "-m", "vecuq", "serve", str(folder / "model.vecuq"), "--port", "0"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:  # noqa: S603
        ready = next(line for line in process.stderr if '"ready"' in line)
        threading.Thread(target=process.stderr.read, daemon=True).start()
        yield json.loads(ready)["address"]
        process.terminate()


class Watch:
    """Runs a script in the page that returns milliseconds, and prints a line about them."""

    def __init__(self, page) -> None:
        self.page, self.inside = page, page.context.new_cdp_session(page)
        self.inside.send("Performance.enable", {"timeDomain": "threadTicks"})

    def busy(self) -> float:
        """Return the seconds of the processor that the main thread has used."""
        found = self.inside.send("Performance.getMetrics")["metrics"]
        return next(one["value"] for one in found if one["name"] == "TaskDuration")

    def run(self, name: str, script: str, given: list) -> None:
        """Print the spread of the milliseconds, and the work per step."""
        before = self.busy()
        times = self.page.evaluate(script, given)
        work = 1000 * (self.busy() - before) / len(times)
        median, late, most = np.percentile(times, [50, 95, 100])
        print(f"{name:<38} median {median:5.1f} ms   p95 {late:5.1f} ms   max {most:5.1f} ms   work {work:5.1f} ms")


def main() -> None:
    """Measure, and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=100_000)
    n_rows = parser.parse_args().rows
    from playwright.sync_api import sync_playwright

    with TemporaryDirectory() as name, service(Path(name)) as address, sync_playwright() as playwright:
        parquet.write_table(rows_of(n_rows, 1), f"{name}/rows.parquet")
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox", "--disable-gpu"])
        page = browser.new_page(viewport={"width": 1280, "height": 800})
        page.goto(address)
        page.wait_for_selector(".drop")
        start = time.perf_counter()
        page.set_input_files("input[type=file]", f"{name}/rows.parquet")
        page.wait_for_selector(".grid [role=gridcell]", timeout=120_000)
        print(f"{n_rows:,} rows, load average {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")
        print(f"{'sent, scored, decoded and drawn in':<38} {time.perf_counter() - start:.2f} s")
        print(f"{'rows in the page':<38} {page.locator('.grid-body [role=row]').count()}")
        page.wait_for_timeout(1000)
        watch, places = Watch(page), np.linspace(-3, -0.4, 60).tolist()
        watch.run("frame, scrolling 2 rows a frame", SCROLL, [240, 68])
        watch.run("frame, scrolling 500 rows a frame", SCROLL, [120, 17_000])
        watch.run("slider: event to picture", SLIDE, places)
        page.click(".chip:has-text('Flagged')")
        watch.run("slider, with only flagged rows shown", SLIDE, places)
        browser.close()


if __name__ == "__main__":
    main()
