"""Tests enter rooms by their doors: `vecuq` and `vecuq.<room>`, not a module within a room. The number only falls."""

import ast
from pathlib import Path

HERE = Path(__file__).parent
# Rooms within rooms have doors of their own.
DOORS = ("answers.asking", "cluster.dask", "cluster.spark", "measures.text", "cli")
MOST = 119


def entered(path):
    """Names of modules within rooms that a test file imports."""
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        names = [one.name for one in node.names] if isinstance(node, ast.Import) else []
        names += [node.module] if isinstance(node, ast.ImportFrom) and node.module and not node.level else []
        yield from (name for name in names if name.startswith("vecuq.") and not is_door(name.removeprefix("vecuq.")))


def is_door(place):
    return "." not in place or place in DOORS


def test_no_more_files_than_before_import_a_module_within_a_room():
    inside = sorted(path.relative_to(HERE).as_posix() for path in HERE.rglob("*.py") if any(entered(path)))
    assert len(inside) <= MOST, f"A test goes past a door; use a public name: {inside}"
