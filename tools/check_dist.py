"""Build wheel and sdist, look them over, and try the wheel in a new environment: ``make dist``.

Whatever is wrong is printed, and the exit code is 1. Needs git, and the packages build and twine.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from collections.abc import Collection, Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
OUT = ROOT / "dist"
# Rooms with wheels of their own, which are installed beside the main one.
ROOMS = {"vecuq-paper": "paper"}
# Bytes. The wheel is what people download; the sdist carries tests and documents too.
LARGEST = {".whl": 1_500_000, ".gz": 12_000_000}
# What a reader of the sdist looks for.
EXPECTED = ("LICENSE", "README.md", "CHANGELOG.md", "CITATION.cff", "SECURITY.md", "Makefile", "tests/conftest.py")
# What a new user types first; the model of the demo goes on to the others.
FIRST_COMMANDS = (
    ("--version",),
    ("demo", "--out", "demo"),
    ("info", "demo/model.vecuq"),
    ("score", "demo/model.vecuq", "demo/new.csv", "--alpha", "0.05", "--explain", "-o", "scored.parquet"),
    ("gate", "demo/model.vecuq", "demo/new.csv", "--wrong", "is_error", "--accuracy", "0.8", "-o", "gate.vecuq"),
    ("report", "gate.vecuq", "demo/new.csv", "--wrong", "is_error", "-o", "report.html"),
    ("card", "gate.vecuq", "-o", "card.md"),
)


def main() -> int:
    """Build, check, try; print what is wrong."""
    wheel, sdist = build()
    rooms = {room: build_room(name) for name, room in ROOMS.items()}
    run(sys.executable, "-m", "twine", "check", "--strict", *OUT.iterdir())
    apart = {room: tracked(f"src/vecuq/{room}") for room in rooms}
    wrong = [*wheel_defects(wheel, tracked("src/vecuq") - set().union(*apart.values())), *sdist_defects(sdist)]
    for room, built in rooms.items():
        wrong += wheel_defects(built, apart[room], licence=False)
    for line in wrong:
        print(f"WRONG: {line}")
    if wrong:
        return 1
    try_wheels(wheel, rooms.values())
    for file in sorted(OUT.iterdir()):
        print(f"{file.name}: {file.stat().st_size:,} bytes")
    return 0


def run(*words: object, folder: Path = ROOT) -> None:
    """Run a command and stop if it fails."""
    subprocess.run([*map(str, words)], cwd=folder, check=True)  # noqa: S603 - our own words


def build() -> tuple[Path, Path]:
    """Build the sdist, and the wheel from it, into an empty folder."""
    shutil.rmtree(OUT, ignore_errors=True)
    run(sys.executable, "-m", "build", "--outdir", OUT)
    (wheel,), (sdist,) = OUT.glob("vecuq-*.whl"), OUT.glob("*.tar.gz")
    return wheel, sdist


def build_room(name: str) -> Path:
    """Build the wheel of a room; its source is elsewhere in the repository, so that it has no sdist."""
    run(sys.executable, "-m", "build", "--wheel", "--outdir", OUT, ROOT / "packaging" / name)
    (wheel,) = OUT.glob(f"{name.replace('-', '_')}-*.whl")
    return wheel


def tracked(folder: str) -> set[str]:
    """Return the files of a folder that git knows, without the folder ``src`` in front."""
    words = ["git", "ls-files", "--", folder]
    listed = subprocess.run(words, cwd=ROOT, check=True, capture_output=True, text=True)  # noqa: S603
    return {line.removeprefix("src/") for line in listed.stdout.splitlines()}


def wheel_defects(wheel: Path, source: Collection[str], *, licence: bool = True) -> Iterator[str]:
    """Yield what is wrong with a wheel that should hold these source files and its metadata."""
    with zipfile.ZipFile(wheel) as archive:
        names = {name for name in archive.namelist() if not name.endswith("/")}
    inside = {name for name in names if ".dist-info/" not in name}
    yield from (f"{wheel.name} lacks {name}" for name in sorted({*source} - inside))
    yield from (f"{wheel.name} holds {name}, which git does not know" for name in sorted(inside - {*source}))
    if licence and not any(name.endswith("/licenses/LICENSE") for name in names):
        yield f"{wheel.name} holds no licence"
    yield from size_defects(wheel)


def sdist_defects(sdist: Path, expected: Collection[str] = EXPECTED) -> Iterator[str]:
    """Yield what is wrong with an sdist."""
    with tarfile.open(sdist) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    yield from (f"{sdist.name} lacks {name}" for name in expected if name not in names)
    foreign = sorted(name for name in names if name.startswith("paper-data/"))
    if foreign:
        yield f"{sdist.name} holds {len(foreign):,} files of paper-data, such as {foreign[0]}"
    yield from size_defects(sdist)


def size_defects(file: Path) -> Iterator[str]:
    """Yield a line if a file is too large."""
    size, most = file.stat().st_size, LARGEST[file.suffix]
    if size > most:
        yield f"{file.name} has {size:,} bytes; {most:,} at most"


def try_wheels(wheel: Path, rooms: Collection[Path]) -> None:
    """Install the wheel into a new environment, far from the source, and type what a new user types; then the rooms."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        run(sys.executable, "-m", "venv", folder / "venv")
        python = folder / "venv" / "bin" / "python"
        run(python, "-m", "pip", "install", "--quiet", wheel)
        for words in FIRST_COMMANDS:
            say_and_run(folder, *words)
        run(python, "-m", "pip", "install", "--quiet", *rooms)
        run(python, "-m", "pip", "check")
        say_and_run(folder, "reproduce", "toy", "--out", "toy")


def say_and_run(folder: Path, *words: str) -> None:
    """Run a command of the environment in a folder, and print it first."""
    print(f"$ vecuq {' '.join(words)}", flush=True)
    run(folder / "venv" / "bin" / "vecuq", *words, folder=folder)


if __name__ == "__main__":
    sys.exit(main())
