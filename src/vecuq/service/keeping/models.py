"""The models of a service as the keeper sees them: whose file, which gate to audit, which rows to watch."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from vecuq._check import existing_file
from vecuq._files import checksum_of, read_tensors
from vecuq._load import load
from vecuq.errors import ModelFileError, VecuqError
from vecuq.gate import Gate
from vecuq.ranker import Ranker, as_ranker


@dataclass(frozen=True)
class KnownModel:
    """One model file: its checksum, its gate if a promise can be audited, its ranker if rows can be watched."""

    name: str
    checksum: str
    gate: Gate | None
    ranker: Ranker | None


def read_model(name: str, path: Path, supplied: Mapping[str, Any]) -> KnownModel:
    """Load the file of a model; all of it comes from one reading, for the file may be replaced at any time."""
    try:
        data = existing_file(path).read_bytes()
    except OSError as error:
        raise ModelFileError(f"{path} cannot be read: {error.strerror}.") from None
    header, arrays = read_tensors(data)
    found = load(data, **(supplied if header["kind"] == "answer_pipeline" else {}))
    return KnownModel(name, checksum_of(header, arrays), _audited(found), _watched(found))


def read_checksum(path: Path) -> str:
    """Return what distinguishes a model file."""
    return checksum_of(*read_tensors(path))


def signature(path: Path) -> tuple[int, ...]:
    """Return what changes when a file is replaced; nothing if it is not there."""
    try:
        facts = os.stat(path)
    except OSError:
        return ()
    return facts.st_mtime_ns, facts.st_size, facts.st_ino


def gate_in(found: Any) -> Gate | None:
    """Return the gate that decides rows; None if nothing does."""
    gate = found if isinstance(found, Gate) else getattr(found, "gate_", None)
    return gate if isinstance(gate, Gate) else None


def _audited(found: Any) -> Gate | None:
    """Return the gate if it promises an accuracy with confidence: an audit can watch no other promise."""
    gate = gate_in(found)
    return gate if gate is not None and gate.target.kind == "accuracy" and gate.promise == "confidence" else None


def _watched(found: Any) -> Ranker | None:
    """Return the ranker whose held-back rows new ones are compared with; None if there is none."""
    model = found.model if isinstance(found, Gate) else found
    try:
        ranker = as_ranker(model)
        ranker.require_held_back()
    except VecuqError:
        return None
    return ranker
