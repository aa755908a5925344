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
    run(sys.executable, "-m", "twine", "check", "--strict", wheel, sdist)
    wrong = [*wheel_defects(wheel, tracked("src/vecuq")), *sdist_defects(sdist)]
    for line in wrong:
        print(f"WRONG: {line}")
    if wrong:
        return 1
    try_wheel(wheel)
    for file in (wheel, sdist):
        print(f"{file.name}: {file.stat().st_size:,} bytes")
    return 0


def run(*words: object, folder: Path = ROOT) -> None:
    """Run a command and stop if it fails."""
    subprocess.run([*map(str, words)], cwd=folder, check=True)  # noqa: S603 - our own words


def build() -> tuple[Path, Path]:
    """Build the sdist, and the wheel from it, into an empty folder."""
    shutil.rmtree(OUT, ignore_errors=True)
    run(sys.executable, "-m", "build", "--outdir", OUT)
    (wheel,), (sdist,) = OUT.glob("*.whl"), OUT.glob("*.tar.gz")
    return wheel, sdist


def tracked(folder: str) -> set[str]:
    """Return the files of a folder that git knows, without the folder ``src`` in front."""
    words = ["git", "ls-files", "--", folder]
    listed = subprocess.run(words, cwd=ROOT, check=True, capture_output=True, text=True)  # noqa: S603
    return {line.removeprefix("src/") for line in listed.stdout.splitlines()}


def wheel_defects(wheel: Path, source: Collection[str]) -> Iterator[str]:
    """Yield what is wrong with a wheel that should hold these source files and its metadata."""
    with zipfile.ZipFile(wheel) as archive:
        names = {name for name in archive.namelist() if not name.endswith("/")}
    inside = {name for name in names if ".dist-info/" not in name}
    yield from (f"{wheel.name} lacks {name}" for name in sorted({*source} - inside))
    yield from (f"{wheel.name} holds {name}, which git does not know" for name in sorted(inside - {*source}))
    if not any(name.endswith("/licenses/LICENSE") for name in names):
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


def try_wheel(wheel: Path) -> None:
    """Install the wheel into a new environment, far from the source, and type what a new user types."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        run(sys.executable, "-m", "venv", folder / "venv")
        python, vecuq = folder / "venv" / "bin" / "python", folder / "venv" / "bin" / "vecuq"
        run(python, "-m", "pip", "install", "--quiet", wheel)
        run(python, "-m", "pip", "check")
        for words in FIRST_COMMANDS:
            print(f"$ vecuq {' '.join(words)}", flush=True)
            run(vecuq, *words, folder=folder)


if __name__ == "__main__":
    sys.exit(main())
