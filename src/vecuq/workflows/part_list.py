"""The list of a job over part files: what was made of which input. It is read back like any file of a stranger."""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta, Struct

from vecuq._check import one_line
from vecuq._version import __version__
from vecuq.errors import SettingError
from vecuq.workflows.part_files import Bad, Made, Part, PartJob, is_inside

# In the folder of the outputs.
LIST = "_vecuq_manifest.json"
# A list has some hundred bytes per part; what is larger is none of ours.
_BYTES, _BYTES_PER_PART = 2**20, 2**14
_NO_WAITING = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
_Count = Annotated[int, Meta(ge=0)]


class _Entry(Struct):
    """A finished part."""

    input: str
    output: str
    size: _Count
    stamp: str
    counts: dict[str, _Count]
    output_size: _Count
    sha256: str
    notes: tuple[str, ...]


class _Skipped(Struct):
    """An input that could not be read."""

    input: str
    reason: str


class PartList(Struct):
    """What a job says of itself and its parts; only names that the present job has too are ever used as names."""

    vecuq_manifest: Literal[1]
    vecuq: str
    job: str
    model: dict[str, str] | None
    options: dict[str, Any]
    shared: str
    parts: tuple[_Entry, ...]
    skipped: tuple[_Skipped, ...]

    def made(self, parts: Sequence[Part]) -> dict[str, Made]:
        """Return what was made of those inputs that are still the same, by name of the output."""
        entries = {entry.output: entry for entry in self.parts}
        same = (part.name for part in parts if part.name in entries and _facts(entries[part.name]) == part.facts)
        return {name: _made(entries[name]) for name in same}

    def reasons(self) -> dict[str, str]:
        """Return why inputs were left out."""
        return {one.input: one.reason for one in self.skipped}


def list_bytes(job: PartJob, made: Sequence[Made], skipped: Sequence[Bad]) -> bytes:
    """Return what a job says of itself; nothing in it depends on when, where or in how many runs it was done."""
    parts = {part.name: part for part in job.parts}
    found = {
        "vecuq_manifest": 1,
        **_settings(job),
        "counts": dict(job.total(made)),
        "parts": [
            {
                **parts[one.name].facts,
                "counts": one.counts,
                "output_size": one.size,
                "sha256": one.sha256,
                "notes": list(one.notes),
            }
            for one in made
        ],
        "skipped": [{"input": bad.source, "reason": bad.reason} for bad in skipped],
    }
    return f"{json.dumps(found, indent=1)}\n".encode()


def read_list(folder: Path, job: PartJob) -> PartList | None:
    """Return the list in a folder, None if there is none; refuse one that is odd, or of a job with other settings."""
    try:
        content = _content(folder / LIST, _BYTES + _BYTES_PER_PART * len(job.parts))
        found = msgspec.json.decode(content, type=PartList)
        if not all(is_inside(entry.output) for entry in found.parts):
            raise ValueError("it names a file outside the folder")
    except FileNotFoundError:
        return None
    except (OSError, ValueError, RecursionError) as error:
        reason = one_line(error).rstrip(".")
        raise SettingError(
            f"{folder / LIST} is no list of finished parts: {reason}. Nothing was changed; delete that folder, or "
            f"choose another one for the outputs."
        ) from None
    other = _difference(found, _settings(job))
    if other is not None:
        raise SettingError(
            f"{folder} holds a job with {other}, so it cannot go on with this one. Give it the same again, choose "
            f"another folder, or start again with force=True and without resume=True."
        )
    return found


def _content(path: Path, most: int) -> bytes:
    """Return what a regular file of bounded size holds; neither follow a link nor wait for a pipe."""
    with os.fdopen(os.open(path, os.O_RDONLY | _NO_WAITING), "rb") as file:
        facts = os.fstat(file.fileno())
        if not stat.S_ISREG(facts.st_mode) or facts.st_size > most:
            raise ValueError(f"it must be a regular file of at most {most:,} bytes")
        return file.read(most)


def _facts(entry: _Entry) -> dict[str, Any]:
    return {"input": entry.input, "output": entry.output, "size": entry.size, "stamp": entry.stamp}


def _made(entry: _Entry) -> Made:
    return Made(entry.output, entry.counts, entry.output_size, entry.sha256, entry.notes)


def _settings(job: PartJob) -> dict[str, Any]:
    """Return what must be the same for a job to go on; as JSON gives it back."""
    found = {
        "vecuq": __version__,
        "job": job.verb,
        "model": job.model,
        "options": job.options,
        "shared": job.shared,
    }
    return dict(json.loads(json.dumps(found)))


def _difference(begun: PartList, now: Mapping[str, Any]) -> str | None:
    if begun.vecuq != now["vecuq"]:
        return f"vecuq {one_line(begun.vecuq)}, and this is {now['vecuq']}"
    if begun.job != now["job"]:
        return f"`vecuq {one_line(begun.job)}`"
    if begun.model != now["model"]:
        return "another model"
    options = now["options"]
    other = [name for name in {**begun.options, **options} if begun.options.get(name) != options.get(name)]
    if other:
        before, after = one_line(begun.options.get(other[0])), options.get(other[0])
        return f"other options ({one_line(other[0])} was {before}, now {after})"
    return None if begun.shared == now["shared"] else "other columns in its inputs"
