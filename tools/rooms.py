"""Print the house, its storeys, rooms and figures, and keep it within ``budget.toml``.

``make rooms`` prints, ``make check`` checks. Rooms and storeys are those of the import contract in pyproject.toml;
a room is entered through its ``__init__`` only. Lines are code lines: no docstrings, comments, blanks.

    python tools/rooms.py            the map and all figures
    python tools/rooms.py --check    exit code 1 if a figure is above budget.toml
    python tools/rooms.py --source   the same without running the product: lines, names, doors
    python tools/rooms.py --lower    write the figures into budget.toml where they are lower
    python tools/rooms.py --agree    compare with ../shared/tools/house and walk, the reference
"""

from __future__ import annotations

import argparse
import ast
import io
import sys
import tokenize
import tomllib
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

import budget
import walks

ROOT = Path(__file__).resolve().parents[1]
SOURCE = ROOT / "src" / "vecuq"
FUNCTION = (ast.FunctionDef, ast.AsyncFunctionDef)
BLANK = {
    tokenize.COMMENT,
    tokenize.NL,
    tokenize.NEWLINE,
    tokenize.INDENT,
    tokenize.DEDENT,
    tokenize.ENCODING,
    tokenize.ENDMARKER,
}
PAGES = (".js", ".mjs", ".css", ".html", ".jinja", ".j2")
Figures = dict[str, dict[str, int]]


def storeys() -> list[list[str]]:
    """Return the layers of the contract from top to bottom, each a list of rooms."""
    contract = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"][0]
    return [[room.strip() for room in layer.split("|")] for layer in contract["layers"]]


def room_of(file: Path) -> str:
    """Return the top-level name that a source file belongs to."""
    return file.relative_to(SOURCE).parts[0].removesuffix(".py")


def code_lines(text: str, tree: ast.Module) -> set[int]:
    """Return the numbers of the lines that hold code."""
    lines: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type not in BLANK:
            lines.update(range(token.start[0], token.end[0] + 1))
    for node in ast.walk(tree):
        if isinstance(node, (ast.Module, ast.ClassDef, *FUNCTION)) and ast.get_docstring(node, clean=False) is not None:
            lines.difference_update(_span(node.body[0]))
    return lines


def _span(node: ast.stmt) -> range:
    return range(node.lineno, (node.end_lineno or node.lineno) + 1)


def door_of(room: str) -> Path:
    """Return the file through which a room is entered."""
    folder = SOURCE / room
    return folder / "__init__.py" if folder.is_dir() else SOURCE / f"{room}.py"


@cache
def public_names(door: Path) -> frozenset[str]:
    """Return what a door exports: its ``__all__``, and the names of the stub beside it."""
    names: set[str] = set()
    for file in (door, door.with_suffix(".pyi")):
        for node in ast.parse(file.read_text("utf-8")).body if file.is_file() else ():
            targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
            if any(isinstance(one, ast.Name) and one.id == "__all__" for one in targets):
                listed = getattr(getattr(node, "value", None), "elts", ())
                names |= {one.value for one in listed if isinstance(one, ast.Constant)}
            elif file.suffix == ".pyi" and isinstance(node, ast.ImportFrom):
                names |= {one.asname for one in node.names if one.asname}
    return frozenset(names)


def imported(tree: ast.Module) -> Iterator[list[str]]:
    """Yield each imported module of vecuq as a path; a name that a door exports ends at the door."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
            path = node.module.split(".")
            yield path
            door = SOURCE.joinpath(*path[1:], "__init__.py")
            for name in {one.name for one in node.names} - public_names(door):
                if (door.parent / f"{name}.py").is_file() or (door.parent / name / "__init__.py").is_file():
                    yield [*path, name]
        elif isinstance(node, ast.Import):
            yield from (one.name.split(".") for one in node.names)


def house() -> tuple[Figures, dict[str, set[str]]]:
    """Return the figures that can be read in the source, and the rooms that each room imports."""
    rooms: Counter[str] = Counter()
    stems: Counter[str] = Counter()
    below: dict[str, set[str]] = {}
    longest = dict.fromkeys(("longest_module", "longest_function", "past_doors"), 0)
    for file in sorted(SOURCE.rglob("*.py")):
        text, room = file.read_text("utf-8"), room_of(file)
        tree = ast.parse(text, str(file))
        code = code_lines(text, tree)
        rooms[room] += len(code)
        stems[file.stem] += file.stem != "__init__"
        targets = [path for path in imported(tree) if path[0] == "vecuq" and len(path) > 1 and path[1] != room]
        below.setdefault(room, set()).update(path[1] for path in targets if door_of(path[1]).is_file())
        longest["past_doors"] += sum(len(path) > 2 for path in targets)
        longest["longest_module"] = max(longest["longest_module"], len(code))
        lengths = [len(code.intersection(_span(node))) for node in ast.walk(tree) if isinstance(node, FUNCTION)]
        longest["longest_function"] = max([longest["longest_function"], *lengths])
    whole = {"lines": sum(rooms.values()), **longest, "shared_module_names": sum(n > 1 for n in stems.values())}
    whole["public_names"] = sum(len(public_names(door_of(room))) for room in rooms)
    return {"rooms": dict(sorted(rooms.items())), "house": whole | beside()}, below


def beside() -> dict[str, int]:
    """Return the lines of pages and tests and the words of the documentation."""
    pages = [file for file in SOURCE.rglob("*") if file.suffix in PAGES and "vendor" not in file.parts]
    docs = [file for file in (ROOT / "docs").rglob("*.md") if not {"adr", "_build", "built", "api"} & set(file.parts)]
    return {
        "page_lines": sum(file.read_text("utf-8").count("\n") for file in pages),
        "test_lines": sum(file.read_text("utf-8").count("\n") for file in (ROOT / "tests").rglob("*.py")),
        "doc_words": sum(len(file.read_text("utf-8").split()) for file in docs),
    }


def figures() -> Figures:
    """Return all figures: those of the source, and those of jobs that are run."""
    found = house()[0] | walks.figures()
    found["house"] |= found.pop("run")
    return found


def show() -> None:
    """Print the map and the figures."""
    found, below = house()
    for level in storeys():
        for room in level:
            print(f"{room:<12} {found['rooms'][room]:>6,}  <- {', '.join(sorted(below[room])) or '-'}")
        print()
    for table, values in figures().items():
        if table != "rooms":
            print(f"{table}: " + ", ".join(f"{name} {value:,}" for name, value in values.items()))


def main() -> int:
    """Do what the option says."""
    parser = argparse.ArgumentParser(description="The house, its figures and its budget.")
    for option in ("check", "source", "lower", "agree"):
        parser.add_argument(f"--{option}", action="store_true")
    given = parser.parse_args()
    if given.check or given.source:
        return budget.check(house()[0] if given.source else figures())
    if given.lower:
        return budget.lower(figures())
    if given.agree:
        return budget.agree(figures())
    show()
    return 0


if __name__ == "__main__":
    sys.exit(main())
