"""One safetensors file with a checked JSON header: how models and sketches are kept. No pickle, written whole."""

from __future__ import annotations

import hashlib
import json
import os
from pathlib import Path
from typing import Any

import numpy as np

from vecuq._check import Array, existing_file
from vecuq._files.atomic import write_atomic
from vecuq._version import __version__
from vecuq.errors import ModelFileError

# 2: calibration medians, held-back rows and tails in models.
FORMAT = 2
_KEY = "vecuq"


def write_tensors(path: str | os.PathLike[str], kind: str, header: dict[str, Any], arrays: dict[str, Array]) -> None:
    """Write arrays and header to ``path``, whole or not at all."""
    from safetensors.numpy import save

    kept = {name: np.ascontiguousarray(array) for name, array in arrays.items()}
    full = {"format": FORMAT, "kind": kind, "library": __version__, **header}
    full["checksum"] = _checksum(full, kept)
    write_atomic(path, save(kept, metadata={_KEY: json.dumps(full, sort_keys=True)}))


def saved_kind(path: str | os.PathLike[str]) -> str | None:
    """Return what a file of ours holds, by its header alone; None for any other file."""
    from safetensors import SafetensorError, safe_open

    try:
        with safe_open(existing_file(path), framework="numpy") as opened:
            header = json.loads((opened.metadata() or {}).get(_KEY, "{}"))
    except (SafetensorError, OSError, ValueError, TypeError, RecursionError):
        return None
    return header.get("kind") if isinstance(header, dict) else None


def read_tensors(path: str | os.PathLike[str], kind: str) -> tuple[dict[str, Any], dict[str, Array]]:
    """Read what :func:`write_tensors` wrote; refuse anything else with one clear line."""
    from safetensors import SafetensorError, safe_open

    file = existing_file(path)
    try:
        with safe_open(file, framework="numpy") as opened:
            text = (opened.metadata() or {}).get(_KEY)
            arrays = {name: opened.get_tensor(name) for name in opened.keys()}  # noqa: SIM118 - not a mapping
    except (SafetensorError, OSError, ValueError, TypeError) as error:
        raise ModelFileError(f"{file} is not a vecuq {kind}, or is cut or damaged: {error}") from None
    header = _read_header(file, text, arrays)
    if header.get("kind") != kind:
        raise ModelFileError(f"{file} holds a vecuq {header.get('kind')}, not a {kind}.")
    return header, arrays


def _read_header(file: Path, text: str | None, arrays: dict[str, Array]) -> dict[str, Any]:
    if text is None:
        raise ModelFileError(f"{file} is a safetensors file, but not a vecuq file.")
    try:
        header: dict[str, Any] = json.loads(text)
        version, stated = int(header["format"]), header.pop("checksum")
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        raise ModelFileError(f"{file} is damaged: its header cannot be read.") from None
    if version > FORMAT:
        raise ModelFileError(
            f"{file} has format {version}, written by vecuq {header.get('library')}; this is vecuq {__version__}, "
            f"which reads up to format {FORMAT}. Upgrade vecuq."
        )
    if stated != _checksum(header, arrays):
        raise ModelFileError(f"{file} was altered or damaged: its checksum does not match. Save it again.")
    return header


def _checksum(header: dict[str, Any], arrays: dict[str, Array]) -> str:
    digest = hashlib.sha256(json.dumps(header, sort_keys=True).encode())
    for name in sorted(arrays):
        array = arrays[name]
        digest.update(f"{name}{array.dtype.str}{array.shape}".encode())
        digest.update(np.ascontiguousarray(array).tobytes())
    return digest.hexdigest()
