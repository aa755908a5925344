"""One safetensors file with a checked JSON header: how everything that is fitted is kept. No pickle, written whole."""

from __future__ import annotations

import hashlib
import json
import os
from io import BytesIO
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from vecuq._check import Array, existing_file, one_line
from vecuq._files.atomic import write_atomic
from vecuq._files.header import Envelope, Origin, checked_header, header_text, parsed_header
from vecuq._version import __version__
from vecuq.errors import ModelFileError

# 2: calibration medians and held-back rows in models.
FORMAT = 2
# 3: arrays that a reader of format 2 would overlook, and decide otherwise. Files without any stay at 2.
_NEWEST, _OF_NEWEST = 3, ("kept.groups",)
_KEY = "vecuq"
# Column names and settings take a few thousand bytes; a header is read into Python objects, many times its size.
_MOST_HEADER = 4 * 2**20
# What NumPy itself has. The eight-bit and brain floats of safetensors are never ours.
_DTYPES = {"F64", "F32", "F16", "I64", "U64", "I32", "U32", "I16", "U16", "I8", "U8", "BOOL", "C64"}
_Known = TypeVar("_Known", bound=Origin)
Source = str | os.PathLike[str] | bytes


def tensor_bytes(kind: str, header: dict[str, Any], arrays: dict[str, Array]) -> bytes:
    """Return arrays and header as the bytes of one file; the same parts give the same bytes."""
    from safetensors.numpy import save

    kept = {name: np.ascontiguousarray(array) for name, array in arrays.items()}
    newest = any(name.endswith(_OF_NEWEST) for name in kept)
    full = {"format": _NEWEST if newest else FORMAT, "kind": kind, "library": __version__, **header}
    full["checksum"] = checksum_of(full, kept)
    made = bytes(save(kept, metadata={_KEY: header_text(full)}))
    if _header_length(made) > _MOST_HEADER:
        raise ModelFileError(
            f"The column names are too long to be saved: they make a header of {_header_length(made):,} bytes, and "
            f"{_MOST_HEADER:,} is the most. Give shorter names."
        )
    return made


def write_tensors(path: str | os.PathLike[str], kind: str, header: dict[str, Any], arrays: dict[str, Array]) -> None:
    """Write arrays and header to ``path``, whole or not at all."""
    write_atomic(path, tensor_bytes(kind, header, arrays))


def saved_header(source: Source) -> dict[str, Any]:
    """Return the header of a file of ours, or of its bytes, unchecked and without its arrays; empty for any other."""
    with BytesIO(source) if isinstance(source, bytes) else existing_file(source).open("rb") as file:
        length = _header_length(file.read(8))
        text = file.read(length) if length <= _MOST_HEADER else b""
    try:
        return parsed_header(json.loads(text)["__metadata__"][_KEY])
    except (ValueError, KeyError, TypeError, RecursionError):
        return {}


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
    source = bytes(source) if isinstance(source, bytearray | memoryview) else source
    place = place_of(source)
    data = source if isinstance(source, bytes) else _content(existing_file(source))
    text, arrays = _opened(place, data)
    if text is None:
        raise ModelFileError(f"{place} is a safetensors file, but not a file of vecuq.")
    return _checked(place, text, arrays), arrays


def _content(file: Path) -> bytes:
    """Return the bytes of a file; of one that cannot be ours, whose header would not fit into it, only the first."""
    try:
        with file.open("rb") as opened:
            first = opened.read(8)
            if _header_length(first) > min(_MOST_HEADER, file.stat().st_size):
                return first
            return first + opened.read()
    except OSError as error:
        raise ModelFileError(f"{file} cannot be read: {error}") from None


def _opened(place: str, data: bytes) -> tuple[str | None, dict[str, Array]]:
    """Return the text of our header, if there is one, and the arrays, whose sizes are those of the bytes."""
    from safetensors import SafetensorError
    from safetensors.numpy import load

    try:
        text = _our_text(data)
        return text, load(data)
    except (SafetensorError, ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        reason = one_line(error)
    raise ModelFileError(f"{place} is not a file of vecuq, or is cut or damaged: {reason}")


def _our_text(data: bytes) -> str | None:
    length = _header_length(data)
    if length > min(_MOST_HEADER, len(data)):
        raise ValueError("it does not begin with the length of a header")
    outline = json.loads(data[8 : 8 + length])
    other = {entry["dtype"] for name, entry in outline.items() if name != "__metadata__"} - _DTYPES
    if other:
        raise ValueError(f"it holds numbers of the type {', '.join(sorted(other))}")
    text = outline.get("__metadata__", {}).get(_KEY)
    return text if isinstance(text, str) else None


def _header_length(data: bytes) -> int:
    return int.from_bytes(data[:8], "little")


def _checked(place: str, text: str, arrays: dict[str, Array]) -> dict[str, Any]:
    """Return the header, once it is known to be whole, and readable by this version."""
    try:
        header = parsed_header(text)
    except (ValueError, RecursionError) as error:
        raise ModelFileError(f"{place} is damaged: its header cannot be read ({one_line(error)}).") from None
    # Of a newer format nothing else is known, not even what its header must have.
    _refuse_newer(place, _declared(place, header, Origin))
    known = _declared(place, header, Envelope)
    del header["checksum"]
    if known.checksum != checksum_of(header, arrays):
        raise ModelFileError(f"{place} was altered or damaged: its checksum does not match. Save it again.")
    return header


def _declared(place: str, header: dict[str, Any], kind: type[_Known]) -> _Known:
    try:
        return checked_header(header, kind)
    except ValueError as error:
        raise ModelFileError(f"{place} is damaged: {one_line(error)}.") from None


def _refuse_newer(place: str, known: Origin) -> None:
    if known.format > _NEWEST:
        raise ModelFileError(
            f"{place} has format {known.format}, written by vecuq {one_line(known.library, most=20)}; this is vecuq "
            f"{__version__}, which reads up to format {_NEWEST}. Upgrade vecuq."
        )


def checksum_of(header: dict[str, Any], arrays: dict[str, Array]) -> str:
    """Return what distinguishes this content from any other; it is in the header of the file."""
    digest = hashlib.sha256(json.dumps(header, sort_keys=True).encode())
    for name in sorted(arrays):
        array = np.ascontiguousarray(arrays[name])
        digest.update(f"{name}{array.dtype.str}{arrays[name].shape}".encode())
        digest.update(array.reshape(-1).view(np.uint8).data)
    return digest.hexdigest()
