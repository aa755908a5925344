"""Print the house: its storeys, the rooms on each, what every room imports, and how long it is.

``make rooms``. The storeys are those of the import contract in pyproject.toml. A room is imported through its
``__init__`` only, and only from above: whatever breaks that is listed at the end, and the exit code is 1.
"""

from __future__ import annotations

import ast
import sys
import tomllib
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]
SOURCE = ROOT / "src" / "vecuq"


class Import(NamedTuple):
    """One import statement that names a module of vecuq."""

    file: Path
    line: int
    room: str
    target: str  # dotted, without "vecuq."


def storeys() -> list[list[str]]:
    """Return the layers of the contract from top to bottom, each a list of rooms."""
    contract = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"][0]
    return [[room.strip() for room in layer.split("|")] for layer in contract["layers"]]


def room_of(file: Path) -> str:
    """Return the top-level name that a source file belongs to."""
    return file.relative_to(SOURCE).parts[0].removesuffix(".py")


def imports(folder: Path = SOURCE) -> Iterator[Import]:
    """Yield every import of a module of vecuq, wherever in a file it stands."""
    for file in sorted(folder.rglob("*.py")):
        for node in ast.walk(ast.parse(file.read_text("utf-8"))):
            if isinstance(node, ast.ImportFrom) and node.level == 0:
                for target in _targets(node):
                    yield Import(file, node.lineno, room_of(file), target)
            elif isinstance(node, ast.Import):
                for alias in node.names:
                    if alias.name.startswith("vecuq."):
                        yield Import(file, node.lineno, room_of(file), alias.name.removeprefix("vecuq."))


def _targets(node: ast.ImportFrom) -> list[str]:
    if node.module == "vecuq":
        # A room or a public name: only rooms are walls.
        return [alias.name for alias in node.names if _is_room(alias.name)]
    module = node.module or ""
    return [module.removeprefix("vecuq.")] if module.startswith("vecuq.") else []


def _is_room(name: str) -> bool:
    return (SOURCE / name).is_dir() or (SOURCE / f"{name}.py").is_file()


def past_a_door(found: Import) -> bool:
    """Whether an import goes past the ``__init__`` of another room."""
    return "." in found.target and found.target.partition(".")[0] != found.room


def upwards(found: Import, levels: dict[str, int]) -> bool:
    """Whether an import goes up, or to another room on the same level."""
    target = found.target.partition(".")[0]
    return found.room not in (target, "__init__") and levels[target] <= levels[found.room]


def broken() -> list[str]:
    """Return one line for every import that breaks a rule."""
    levels = {room: level for level, rooms in enumerate(storeys()) for room in rooms}
    lines = []
    for found in imports():
        place = f"{found.file.relative_to(ROOT)}:{found.line}"
        if past_a_door(found):
            lines.append(f"{place} goes past the __init__ of {found.target.partition('.')[0]}: vecuq.{found.target}")
        if upwards(found, levels):
            lines.append(f"{place} goes up or sideways: {found.room} -> vecuq.{found.target}")
    return lines


def lines_of(room: str) -> int:
    """Return how many lines of Python a room has."""
    files = (SOURCE / room).rglob("*.py") if (SOURCE / room).is_dir() else [SOURCE / f"{room}.py"]
    return sum(len(file.read_text("utf-8").splitlines()) for file in files)


def main() -> int:
    """Print the map."""
    below: dict[str, set[str]] = defaultdict(set)
    for found in imports():
        target = found.target.partition(".")[0]
        if target != found.room:
            below[found.room].add(target)
    total = lines_of("__init__")
    for level in storeys():
        for room in level:
            total += lines_of(room)
            print(f"{room:<12} {lines_of(room):>6,}  <- {', '.join(sorted(below[room])) or '-'}")
        print()
    print(f"{sum(map(len, storeys()))} rooms, {total:,} lines")
    wrong = broken()
    print("\n".join(wrong) or "no import goes up, none past an __init__")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
