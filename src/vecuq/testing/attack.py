"""One hostile input as plain data, so that it can be written down, tried in another process, and kept."""

from __future__ import annotations

import base64
import hashlib
import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any


class BrokenPromiseError(AssertionError):
    """Something that vecuq promises did not hold; ``what`` names the promise in a word or two."""

    def __init__(self, what: str, message: str) -> None:
        super().__init__(f"{what}: {message}")
        self.what = what


# Longer files are shown by their size.
_SHOWN = 300


@dataclass(frozen=True, repr=False)
class Attack:
    """What is tried: the files of a folder, the words of a command line, and what else the check needs to know.

    Parameters
    ----------
    target
        What is attacked, such as ``"table .csv"`` or ``"command score"``; :func:`vecuq.testing.targets` lists all.
    files
        The content of each file by its name.
    words
        The words of a command line, without the program.
    facts
        Plain values that the check reads: how a file was made, which part of it lies.
    """

    target: str
    files: dict[str, bytes] = field(default_factory=dict)
    words: tuple[str, ...] = ()
    facts: dict[str, Any] = field(default_factory=dict)

    def __repr__(self) -> str:
        files = {
            name: content if len(content) < _SHOWN else f"<{len(content):,} bytes>"
            for name, content in self.files.items()
        }
        return f"Attack({self.target!r}, {files}, {self.words!r}, {self.facts!r})"

    def keep(self, folder: Path, found: str) -> Path:
        """Write the attack into a folder of finds, from which the next long run replays it; return its place."""
        folder.mkdir(parents=True, exist_ok=True)
        name = hashlib.sha256(f"{self.target} {found}".encode()).hexdigest()[:12]
        path = folder / f"{self.target.replace(' ', '-')}-{name}.json"
        self.save(path, found=found)
        return path

    def save(self, path: Path, *, found: str = "") -> None:
        """Write the attack as JSON, with what was found."""
        files = {name: base64.b64encode(content).decode() for name, content in self.files.items()}
        plain = {"target": self.target, "found": found, "words": self.words, "facts": self.facts, "files": files}
        path.write_text(json.dumps(plain, indent=1))

    @staticmethod
    def load(path: Path) -> Attack:
        """Read what :meth:`save` wrote."""
        plain = json.loads(path.read_text())
        files = {name: base64.b64decode(content) for name, content in plain["files"].items()}
        return Attack(plain["target"], files, tuple(plain["words"]), plain["facts"])

    def lay_out(self, folder: Path) -> None:
        """Write the files into a folder."""
        for name, content in self.files.items():
            (folder / name).write_bytes(content)
