"""Record what the product does, and say what changed since the recording in ``contract/``: ``make contract``.

The recorder is ``../shared/contract``, whose README says how a case is written; without it nothing is done. The cases
of ``contract/cases`` are added to its own. Every difference must be declared in ``contract/intended.toml``.
"""

from __future__ import annotations

import argparse
import fnmatch
import json
import lzma
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
SHARED = ROOT.parent / "shared" / "contract"
OWN = ROOT / "contract"
RECORDED = OWN / "recorded.json.xz"
# What is changed in the copy of the recorder: seconds, for the machine may be busy; records of msgspec, which it takes
# for something unknown, are shown as those of pydantic were.
FIELDS = """def fields_of(value):
    if hasattr(value, "__struct_fields__"):
        found = {name: getattr(value, name) for name in value.__struct_fields__}
        return {name: fields_of(one) for name, one in found.items() if one is not None}
    return [fields_of(one) for one in value] if isinstance(value, (list, tuple)) else value


def plain("""
SHOWN = """    if hasattr(value, "__struct_fields__"):
        return {"<": type(value).__name__} | plain(fields_of(value), depth + 1)
    if hasattr(value, "model_dump"):"""
CHANGES = {
    "record": {"LIMIT = 120": "LIMIT = 900", "timeout=300": "timeout=3000"},
    "inside.py": {"def plain(": FIELDS, '    if hasattr(value, "model_dump"):': SHOWN},
}
SKIPPED = "skipped: "  # a Python case with such a value could not run here


def arguments() -> argparse.Namespace:
    """Return the options."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", default="*", help="cases of these names, such as 'cli/score/*'")
    parser.add_argument("--vecuq", type=Path, default=Path(sys.executable).with_name("vecuq"), help="another product")
    parser.add_argument("--out", type=Path, help="keep what was recorded in this JSON file")
    parser.add_argument("--jobs", default="2", help="cases at once [2]")
    parser.add_argument("--all", action="store_true", help="print declared differences too")
    parser.add_argument("--record", action="store_true", help="compare, then write the cases into contract/")
    return parser.parse_args()


@contextmanager
def recorder() -> Iterator[Path]:
    """Yield a folder with the shared recorder and all cases."""
    with tempfile.TemporaryDirectory(prefix="vecuq-contract-") as place:
        folder = Path(place) / "contract"
        shutil.copytree(SHARED, folder, ignore=shutil.ignore_patterns("recorded", "__pycache__"), copy_function=plain)
        for name, changes in CHANGES.items():
            script = (folder / name).read_text("utf-8")
            for old, new in changes.items():
                script = script.replace(old, new)
            (folder / name).write_text(script, "utf-8")
        for path in sorted((OWN / "cases").glob("*.toml")):
            with open(folder / "cases" / path.name, "a", encoding="utf-8") as file:
                file.write("\n" + path.read_text("utf-8"))
        shutil.copytree(OWN / "data", folder / "data", dirs_exist_ok=True)
        yield folder


def plain(source: str, target: str) -> None:
    """Copy a file without its modes: what is shared may be read-only."""
    shutil.copyfile(source, target)


def run(*words: str | Path, silent: str | None = None) -> int:
    """Run one of the two scripts, print its lines but those that begin so, and return its exit code."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("CONTRACT_")}
    with subprocess.Popen([sys.executable, *map(str, words)], env=kept, stdout=subprocess.PIPE, text=True) as process:  # noqa: S603
        for line in process.stdout or ():
            if silent is None or not line.startswith(silent):
                print(line, end="", flush=True)
    return process.returncode


def recording(path: Path) -> dict[str, Any]:
    """Read a recording, compressed or not."""
    with (lzma.open if path.suffix == ".xz" else open)(path, "rt", encoding="utf-8") as file:
        return json.load(file)


def written(found: dict[str, Any]) -> str:
    """Return a recording as text, one case per line."""
    cases = [json.dumps(name) + ":" + json.dumps(case, separators=(",", ":")) for name, case in found["cases"].items()]
    return f'{{"vecuq":{json.dumps(found["vecuq"])},"cases":{{\n' + ",\n".join(sorted(cases)) + "\n}}\n"


def is_skipped(case: dict[str, Any]) -> bool:
    """Whether a case could not run, for want of a package."""
    return str(case.get("value", "")).startswith(SKIPPED)


def without_skipped(old: dict[str, Any], new: dict[str, Any]) -> None:
    """Take out of both recordings what ran in one of them only, and name it."""
    for found in (old, new):
        for name in [name for name, case in found["cases"].items() if is_skipped(case)]:
            print(f"not compared: {name} ({found['cases'][name]['value']}, with {found['vecuq']})")
            old["cases"].pop(name, None)
            new["cases"].pop(name, None)


def compare(folder: Path, old: dict[str, Any], new: dict[str, Any], given: argparse.Namespace) -> int:
    """Print the differences of two recordings; 1 if one of them is not declared."""
    old, new = ({**one, "cases": dict(one["cases"])} for one in (old, new))
    without_skipped(old, new)
    files = folder.parent / "old.json", folder.parent / "new.json"
    for path, found in zip(files, (old, new), strict=True):
        path.write_text(written(found), "utf-8")
    more = ["--all"] if given.all else []
    asked = [*files, "--intended", OWN / "intended.toml", "--only", given.only, *more]
    # Of some cases it cannot be said that a declared change never happens.
    return run(folder / "compare", *asked, silent=None if given.only == "*" else "note: declared, but nothing")


def keep(old: dict[str, Any], new: dict[str, Any], only: str) -> None:
    """Write the new cases over the old ones that have the names asked for."""
    kept = {name: case for name, case in old["cases"].items() if not fnmatch.fnmatch(name, only)}
    run_here = {name: case for name, case in new["cases"].items() if not is_skipped(case)}
    skipped = {name: old["cases"][name] for name in new["cases"] if name not in run_here and name in old["cases"]}
    text = written({"vecuq": new["vecuq"], "cases": kept | skipped | run_here})
    fresh = RECORDED.with_suffix(".new")
    fresh.write_bytes(lzma.compress(text.encode(), preset=9 | lzma.PRESET_EXTREME))
    fresh.replace(RECORDED)
    print(f"recorded: {RECORDED.relative_to(ROOT)}, {RECORDED.stat().st_size / 1e3:.0f} kB")


def main() -> int:
    """Record, compare, and on request keep the recording."""
    given = arguments()
    if not SHARED.is_dir():
        print(f"contract: skipped, for there is no recorder at {SHARED}")
        return 0
    old = recording(RECORDED) if RECORDED.exists() else {"vecuq": "nothing", "cases": {}}
    with recorder() as folder:
        out = given.out or folder.parent / "out.json"
        asked = ["--vecuq", given.vecuq.absolute(), "-o", out, "--only", given.only, "--jobs", given.jobs]
        if run(folder / "record", *asked):
            return 2
        new = recording(out)
        found = compare(folder, old, new, given)
    if given.record:
        keep(old, new, given.only)
    return found


if __name__ == "__main__":
    sys.exit(main())
