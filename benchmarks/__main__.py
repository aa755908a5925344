"""Run the benchmarks: ``python -m benchmarks`` for all of them and RESULTS.md, ``--quick`` for a look in minutes."""

from __future__ import annotations

import argparse
import json
import os
import time
from datetime import UTC, datetime
from importlib import import_module
from pathlib import Path

from benchmarks.measure import ONE_THREAD, Claim, machine

ALL = (
    "startup",
    "fit_peers",
    "fit_growth",
    "score_peers",
    "score_file",
    "export",
    "table_files",
    "near_the_limit",
    "robustness",
    "classifier_measures",
    "text_measures",
    "inline_judge",
    "service",
)
QUICK = ("startup", "fit_peers", "score_peers", "score_file", "table_files", "near_the_limit")
HEAD = ("claim", "vecuq", "peer", "measured", "goal", "holds")
HERE = Path(__file__).parent


def main() -> None:
    """Run what was asked for, print a line per claim, and write the tables of a full run."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="fit and score beside POT only; writes nothing")
    parser.add_argument("only", nargs="*", choices=[*ALL, []], help="single benchmarks; writes nothing")
    asked = parser.parse_args()
    os.environ.update(ONE_THREAD)  # read when BLAS and JAX are first imported, which is later
    results = {}
    for name in asked.only or (QUICK if asked.quick else ALL):
        start = time.perf_counter()
        module = import_module(f"benchmarks.{name}")
        results[name] = (module.__doc__.split("\n\n")[0], module.run(asked.quick))
        for claim in results[name][1]:
            print(_line(claim), flush=True)
        print(f"({name}: {time.perf_counter() - start:.0f} s)", flush=True)
    if not asked.quick and not asked.only:
        _write(results)


def _line(claim: Claim) -> str:
    name, ours, peer, value, goal, told = claim.cells
    return f"{name}: {value} (goal {goal}, holds: {told.strip('*')}); ours {ours}; peer {peer}"


def _write(results: dict[str, tuple[str, list[Claim]]]) -> None:
    found, date = machine(), datetime.now(UTC).strftime("%Y-%m-%d")
    record = {"date": date, "machine": found}
    record["claims"] = {name: [claim.to_dict() for claim in claims] for name, (_, claims) in results.items()}
    (HERE / "results.json").write_text(json.dumps(record, indent=2) + "\n")
    lines = ["# What was measured", "", "Written by `make bench`; do not edit.", "", f"- date: {date}"]
    lines += [f"- {name}: {value}" for name, value in found.items()]
    for name, (claim, measured) in results.items():
        lines += ["", f"## {claim}", "", f"`python -m benchmarks {name}`", "", *_table(measured)]
    (HERE / "RESULTS.md").write_text("\n".join(lines) + NOTES)


def _table(claims: list[Claim]) -> list[str]:
    rows = [HEAD, ("---",) * len(HEAD), *(claim.cells for claim in claims)]
    return ["| " + " | ".join(row) + " |" for row in rows]


NOTES = """

## How to read this

Seconds are CPU seconds of one thread, the kernel's share included: for dense matrices of gigabytes the page faults are
a large part, and depend on the machine. They are the best of several runs taken in turn: 10 to 30 of ours, 2 to 30 of
the faster peers, a single one of `sinkhorn_log` from 5,000 rows on. `vecuq score`, `vecuq measure` and the start
times are on the clock. Memory is the peak of a fresh process; "grown" is the peak above what the imports take. The
error of a fit is
the largest error of 500 scores in the box against a log-domain solution to 1e-13; every peer stops at its first check
below 1e-9, so some are more exact than we are and some less. The growth of the fit mixes two ways: rows in memory up to
a million, a file read twice at ten million; and half the rows are held back from the map, but never more than 100,000.
Compilation of OTT-JAX is not counted. A goal that does not hold says **no** and stays here.
"""


if __name__ == "__main__":
    main()
