"""Run the simulations that check every promise of vecuq, and write what they found into docs/validation/index.md.

``python tools/validate.py`` runs the quick ones and prints their tables; ``--full`` has ten times as many runs, which
takes some minutes; ``--write`` keeps the result in docs/validation/results.json and in the table of the page.
``--only drift,groups`` runs some of the scripts and keeps the results of the others; ``--only none`` runs none.
"""

from __future__ import annotations

import importlib
import json
import os
import runpy
import sys
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parents[1] / "docs" / "validation"
RESULTS, PAGE = FOLDER / "results.json", FOLDER / "index.md"
START, END = "<!-- promises -->", "<!-- /promises -->"
# What is kept of a check.
KEPT = ("promise", "case", "seen", "promised", "limit", "runs", "assumed", "verdict")


def simulate(names: list[str], *, full: bool) -> list[dict[str, Any]]:
    """Run scripts and return what their checks found."""
    os.environ.setdefault("MPLBACKEND", "Agg")
    if full:
        os.environ["VECUQ_FULL"] = "1"
    sys.path.insert(0, str(FOLDER))
    import _checking  # type: ignore[import-not-found]
    import matplotlib.pyplot as plt

    found = []
    for name in names:
        print(f"== {name}", flush=True)
        _checking.DONE.clear()
        runpy.run_path(str(FOLDER / f"plot_{name}.py"), run_name="__main__")
        plt.close("all")
        found += [{"script": name, **{kept: getattr(check, kept) for kept in KEPT}} for check in _checking.DONE]
    return found


def scripts() -> list[str]:
    """Return the names of all simulations."""
    return sorted(path.stem.removeprefix("plot_") for path in FOLDER.glob("plot_*.py"))


def promises() -> tuple[Any, ...]:
    """Return every promise, as docs/validation/_promises.py lists them."""
    if str(FOLDER) not in sys.path:
        sys.path.insert(0, str(FOLDER))
    return tuple(importlib.import_module("_promises").PROMISES)


def table_of(results: dict[str, Any]) -> str:
    """Return the table of all promises with what was found, in Markdown."""
    lines = ["| promise and code | assumption and theorem | simulation and result |", "|---|---|---|"]
    for promise in promises():
        checks = [check for check in results["checks"] if check["promise"] == promise.key]
        code = ", ".join(f"`{_short(name)}`" for name in promise.code)
        cells = (
            f"{_sentence(promise.says)}<br>{code}",
            f"{_sentence(promise.assumes)}<br>*{promise.theorem}*",
            f"[{promise.script}](plot_{promise.script}.py): {_result(checks)}",
        )
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def _short(name: str) -> str:
    """Return a name without its room: the table is narrow."""
    room, _, rest = name.partition(".")
    return rest if rest and room.islower() else name


def _sentence(text: str) -> str:
    """Return a text that begins with a capital letter, unless it begins with code, and ends with a full stop."""
    return f"{text[0].upper()}{text[1:]}."


def _result(checks: list[dict[str, Any]]) -> str:
    """Return the check nearest to its limit where the assumption holds, and the worst where it does not."""
    kept = [check for check in checks if check["assumed"]]
    nearest = max(kept, key=lambda check: (check["promised"] > 0, check["seen"] - check["limit"]))
    text = f"**kept** in {len(kept)}: {_words(nearest)}"
    without = [check for check in checks if not check["assumed"]]
    if without:
        worst = max(without, key=lambda check: (check["promised"] > 0, check["seen"] - check["promised"]))
        of = f" of {_number(worst['promised'])}" if worst["promised"] else ""
        text += f"; without the assumption ({worst['case']}) {_number(worst['seen'])}{of}"
    return text


def _words(check: dict[str, Any]) -> str:
    if check["limit"] == 0:
        return f"no exception in {check['runs']:,}"
    if check["promised"] == 0:
        return f"off by {_number(check['seen'])}, limit {_number(check['limit'])} ({check['runs']:,} runs)"
    seen, promised, limit = (_number(check[name]) for name in ("seen", "promised", "limit"))
    return f"{seen} of {promised}, limit {limit} ({check['runs']:,} runs)"


def _number(value: float) -> str:
    return f"{value:.3g}"


def written(page: str, table: str) -> str:
    """Return the page with another table."""
    before, rest = page.split(START)
    return f"{before}{START}\n{table}\n{END}{rest.split(END)[1]}"


def main() -> None:
    """Simulate, print, and write if asked."""
    asked = [sys.argv[sys.argv.index("--only") + 1]] if "--only" in sys.argv else []
    names = [name for name in scripts() if not asked or name in asked[0].split(",")]
    full = "--full" in sys.argv
    before = json.loads(RESULTS.read_text("utf-8")) if asked and RESULTS.exists() else {"full": full, "checks": []}
    if names and before["full"] != full:
        sys.exit("Some results are of quick runs and some of full ones; run all of them again.")
    fresh = simulate(names, full=full)
    checks = [check for check in before["checks"] if check["script"] not in names] + fresh
    results = {"full": before["full"], "checks": sorted(checks, key=lambda check: scripts().index(check["script"]))}
    if "--write" in sys.argv:
        RESULTS.write_text(json.dumps(results, indent=1) + "\n", "utf-8")
        PAGE.write_text(written(PAGE.read_text("utf-8"), table_of(results)), "utf-8")
    print(table_of(results))


if __name__ == "__main__":
    main()
