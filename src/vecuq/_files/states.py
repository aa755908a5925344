"""A file that is loaded, changed and saved again: what somebody else saved in between is not lost."""

from __future__ import annotations

import os
from collections.abc import Container
from pathlib import Path
from typing import Any

from vecuq._check import Array
from vecuq._files.atomic import write_atomic
from vecuq._files.locks import locked
from vecuq._files.tensors import saved_header, tensor_bytes
from vecuq.errors import ModelFileError


def write_state(
    path: str | os.PathLike[str],
    kind: str,
    header: dict[str, Any],
    arrays: dict[str, Array],
    *,
    known: Container[object],
    force: bool = False,
) -> str:
    """Write a state under its lock, whole or not at all, and return its checksum.

    A file that is there is replaced if its checksum is ``known``: the state was loaded from it, or saved as it before.
    Any other would be lost and is an error, unless ``force`` is given.
    """
    content = tensor_bytes(kind, header, arrays)
    with locked(path, nested=True):
        if not (force or _is_known(path, content, known)):
            raise ModelFileError(
                f"{path} holds something that this {kind} was not loaded from: somebody else wrote it, perhaps since. "
                f"Load it and go on from there, choose another name, or replace it with force=True."
            )
        write_atomic(path, content)
        return str(saved_header(path)["checksum"])


def _is_known(path: str | os.PathLike[str], content: bytes, known: Container[object]) -> bool:
    there = Path(path)
    if not there.is_file() or not there.stat().st_size:
        return True  # what cannot be a file, the writing itself refuses
    return saved_header(there).get("checksum") in known or there.read_bytes() == content
