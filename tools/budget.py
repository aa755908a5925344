"""Compare the figures of the house with ``budget.toml``: they may fall, and rise only where a reason stands.

A figure is a number, or ``{ at_most = 900, reason = "..." }`` where it is above the lowest that git has ever seen.
What has a reason is lowered by hand.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
FILE = ROOT / "budget.toml"
REFERENCE = ROOT.parent / "shared" / "tools"
HEAD = """\
# The most that each figure of tools/rooms.py may be. `tools/rooms.py --lower` writes lower figures, after a cut.
# To raise one, write by hand why: cli = { at_most = 900, reason = "..." }
"""
Figures = dict[str, dict[str, int]]
Budget = dict[str, dict[str, Any]]


def limit(entry: Any) -> int:
    """Return the number of an entry."""
    return entry["at_most"] if isinstance(entry, dict) else entry


def reason(entry: Any) -> str:
    """Return why an entry may be higher than it was."""
    return str(entry.get("reason", "")).strip() if isinstance(entry, dict) else ""


def budget() -> Budget:
    """Return the budget."""
    return tomllib.loads(FILE.read_text("utf-8")) if FILE.exists() else {}


def check(figures: Figures) -> int:
    """Print what is above the budget, or raised in it without a reason; 1 if there is something."""
    allowed, wrong = budget(), []
    for table, values in figures.items():
        for name, value in values.items():
            entry = allowed.get(table, {}).get(name)
            if entry is None:
                wrong.append(f"[{table}] {name} is new: {value:,}. Add it with a reason.")
            elif value > limit(entry):
                wrong.append(f"[{table}] {name} is {value:,}, at most {limit(entry):,} in budget.toml.")
    wrong += raised(allowed)
    asked = [(limit(entry), figures[table].get(name, 0)) for table, name, entry in entries(allowed) if table in figures]
    slack = sum(most > value for most, value in asked)
    print("\n".join(wrong) or f"Every figure is within budget.toml; {slack} could be lowered (tools/rooms.py --lower).")
    return 1 if wrong else 0


def entries(allowed: Budget) -> list[tuple[str, str, Any]]:
    """Return the entries of a budget in a row."""
    return [(table, name, entry) for table, values in allowed.items() for name, entry in values.items()]


def raised(allowed: Budget) -> list[str]:
    """Return one line for each number without a reason that is above the lowest of earlier versions."""
    lowest: dict[tuple[str, str], int] = {}
    known: set[tuple[str, str]] = set()
    for version in earlier():
        for table, name, entry in entries(version):
            known.add((table, name))
            lowest[table, name] = min(limit(entry), lowest.get((table, name), limit(entry)))
    lines = []
    for table, name, entry in entries(allowed):
        if reason(entry):
            continue
        if limit(entry) > lowest.get((table, name), limit(entry)):
            lines.append(f"[{table}] {name} was {lowest[table, name]:,} and is {limit(entry):,} in budget.toml: why?")
        elif known and (table, name) not in known:
            lines.append(f"[{table}] {name} is new in budget.toml: why?")
    return lines


def earlier() -> list[Budget]:
    """Return the versions of the budget in git; none where there is no git."""
    found = git("log", "--format=%h", "-n", "40", "--", FILE.name).split()
    return [tomllib.loads(text) for commit in found if (text := git("show", f"{commit}:{FILE.name}"))]


def git(*words: str) -> str:
    """Return what git prints, or nothing if it fails."""
    try:
        return subprocess.run(["git", *words], cwd=ROOT, capture_output=True, text=True, check=False).stdout  # noqa: S603, S607
    except FileNotFoundError:
        return ""


def lower(figures: Figures) -> int:
    """Write the budget anew: figures that fell, nothing that is gone. Nothing rises; what has a reason stays."""
    allowed, lines = budget(), [HEAD]
    for table, values in figures.items():
        lines.append(f"\n[{table}]\n")
        for name, value in values.items():
            entry = allowed.get(table, {}).get(name, value if not allowed else None)
            if entry is not None:
                lines.append(f"{name if name.isidentifier() else json.dumps(name)} = {_written(entry, value)}\n")
    fresh = FILE.with_suffix(".new")
    fresh.write_text("".join(lines), "utf-8")
    fresh.replace(FILE)
    return check(figures)


def _written(entry: Any, value: int) -> str:
    if not reason(entry):
        return str(min(value, limit(entry)))
    return f"{{ at_most = {limit(entry)}, reason = {json.dumps(reason(entry), ensure_ascii=False)} }}"


def agree(figures: Figures) -> int:
    """Compare the figures with the shared tools, the reference; 1 if one differs, 0 too where there are none."""
    if not REFERENCE.is_dir():
        print(f"rooms: not compared, for there is no {REFERENCE}")
        return 0
    house = _asked(REFERENCE / "house", ROOT, "--json", "--python", sys.executable)
    walks = _asked(REFERENCE / "walk", sys.executable, "all", "--json")
    total = house["total"]
    expected = {
        "rooms": {room: found["lines"] for room, found in house["rooms"].items()},
        "options": {one["verb"]: one["visible"] for one in house["commands"]},
        "walks": {case: len(found["modules"]) for case, found in walks.items()}
        | {f"{case} after loading": len(one["after_loading"]) for case, one in walks.items() if "after_loading" in one},
        "house": {name: total[name] for name in ("lines", "longest_module", "past_doors")}
        | {"longest_function": total["longest"], "public_names": total["public"]}
        | {"shared_module_names": len(house["shared_names"])},
    }
    unlike = [
        f"[{table}] {name}: {figures[table].get(name)} here, {value} there"
        for table, values in expected.items()
        for name, value in values.items()
        if figures[table].get(name) != value
    ]
    print("\n".join(unlike) or f"Equal: {sum(map(len, expected.values()))} figures of house and walk.")
    return 1 if unlike else 0


def _asked(*words: Any) -> Any:
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run([sys.executable, *map(str, words)], cwd=folder, stdout=subprocess.PIPE, check=True)  # noqa: S603
    return json.loads(done.stdout)
