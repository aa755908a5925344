"""One safetensors file with a checked JSON header: how everything that is fitted is kept. No pickle, written whole."""

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

# 2: calibration medians and held-back rows in models.
FORMAT = 2
_KEY = "vecuq"
# What safetensors itself allows a header to have.
_MOST_HEADER = 100_000_000
Source = str | os.PathLike[str] | bytes


def tensor_bytes(kind: str, header: dict[str, Any], arrays: dict[str, Array]) -> bytes:
    """Return arrays and header as the bytes of one file; the same parts give the same bytes."""
    from safetensors.numpy import save

    kept = {name: np.ascontiguousarray(array) for name, array in arrays.items()}
    full = {"format": FORMAT, "kind": kind, "library": __version__, **header}
    full["checksum"] = checksum_of(full, kept)
    return bytes(save(kept, metadata={_KEY: json.dumps(full, sort_keys=True)}))


def write_tensors(path: str | os.PathLike[str], kind: str, header: dict[str, Any], arrays: dict[str, Array]) -> None:
    """Write arrays and header to ``path``, whole or not at all."""
    write_atomic(path, tensor_bytes(kind, header, arrays))


def saved_header(path: str | os.PathLike[str]) -> dict[str, Any]:
    """Return the header of a file of ours, unchecked and without its arrays; empty for any other file."""
    with existing_file(path).open("rb") as file:
        length = int.from_bytes(file.read(8), "little")
        text = file.read(length) if length <= _MOST_HEADER else b""
    try:
        header = json.loads(json.loads(text)["__metadata__"][_KEY])
    except (ValueError, KeyError, TypeError, RecursionError):
        return {}
    return header if isinstance(header, dict) else {}


def saved_kind(path: str | os.PathLike[str]) -> str | None:
    """Return what a file of ours holds, by its header alone; None for any other file."""
    kind = saved_header(path).get("kind")
    return kind if isinstance(kind, str) else None


def under(prefix: str, arrays: dict[str, Array]) -> dict[str, Array]:
    """Return the arrays whose names begin with a prefix, by the rest of their names: one thing saved inside another."""
    return {name.removeprefix(prefix): array for name, array in arrays.items() if name.startswith(prefix)}


def place_of(source: Source) -> str:
    """Return how messages call a source: by its path, or as bytes."""
    return f"The source of {len(source):,} bytes" if isinstance(source, bytes) else str(source)


def read_tensors(source: Source) -> tuple[dict[str, Any], dict[str, Array]]:
    """Read what :func:`write_tensors` or :func:`tensor_bytes` wrote; refuse anything else with one clear line."""
    from safetensors import SafetensorError
    from safetensors.numpy import load

    source = bytes(source) if isinstance(source, bytearray | memoryview) else source
    place, data = place_of(source), source if isinstance(source, bytes) else _content(existing_file(source))
    try:
        arrays = load(data)
        text = json.loads(data[8 : 8 + int.from_bytes(data[:8], "little")]).get("__metadata__", {}).get(_KEY)
    except (SafetensorError, ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        raise ModelFileError(f"{place} is not a file of vecuq, or is cut or damaged: {error}") from None
    return _checked_header(place, text, arrays), arrays


def _content(file: Path) -> bytes:
    try:
        return file.read_bytes()
    except OSError as error:
        raise ModelFileError(f"{file} cannot be read: {error}") from None


def _checked_header(place: str, text: str | None, arrays: dict[str, Array]) -> dict[str, Any]:
    if text is None:
        raise ModelFileError(f"{place} is a safetensors file, but not a file of vecuq.")
    try:
        header: dict[str, Any] = json.loads(text)
        version, stated = int(header["format"]), header.pop("checksum")
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        raise ModelFileError(f"{place} is damaged: its header cannot be read.") from None
    if version > FORMAT:
        raise ModelFileError(
            f"{place} has format {version}, written by vecuq {header.get('library')}; this is vecuq {__version__}, "
            f"which reads up to format {FORMAT}. Upgrade vecuq."
        )
    if stated != checksum_of(header, arrays):
        raise ModelFileError(f"{place} was altered or damaged: its checksum does not match. Save it again.")
    return header


def checksum_of(header: dict[str, Any], arrays: dict[str, Array]) -> str:
    """Return what distinguishes this content from any other; it is in the header of the file."""
    digest = hashlib.sha256(json.dumps(header, sort_keys=True).encode())
    for name in sorted(arrays):
        array = arrays[name]
        digest.update(f"{name}{array.dtype.str}{array.shape}".encode())
        digest.update(np.ascontiguousarray(array).tobytes())
    return digest.hexdigest()
