"""Arrays from npz files: never a pickle, and never more than the file may hold in memory."""

from __future__ import annotations

import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from vecuq._check import one_line, unique_names
from vecuq._files.limits import refuse_bomb, refuse_width
from vecuq.errors import TableError, VecuqError


def _every(name: str) -> bool:
    return True


def load_arrays(path: Path, *, shown: object = None, wanted: Callable[[str], bool] = _every) -> dict[str, Any]:
    """Return the arrays of an npz file by name; those that are not wanted are None, and not unpacked.

    What the archive states is checked against the limits before anything is unpacked.
    """
    place = path if shown is None else shown
    try:
        with path.open("rb") as file:
            names = _checked_names(file, place, wanted)
            with np.load(file, allow_pickle=False) as archive:
                return {name: _array(archive, name, place, path) if wanted(name) else None for name in names}
    except VecuqError:
        raise
    # NumPy and zipfile raise almost anything for a file that was made to be wrong.
    except Exception as error:
        raise TableError(f"{place} cannot be read as npz (pickled objects are refused): {one_line(error)}") from None


def _checked_names(file: BinaryIO, place: object, wanted: Callable[[str], bool]) -> tuple[str, ...]:
    """Return the names of the arrays, once all that are wanted fit."""
    if file.read(6) == b"\x93NUMPY":
        raise TableError(f"{place} is a single npy array; save named columns with np.savez.")
    with zipfile.ZipFile(file) as archive:
        sizes = {part.filename.removesuffix(".npy"): part.file_size for part in archive.infolist()}
        names = unique_names(part.filename.removesuffix(".npy") for part in archive.infolist())
    refuse_width(place, len(names))
    n_bytes = file.seek(0, 2)
    refuse_bomb(place, sum(size for name, size in sizes.items() if wanted(name)), n_bytes)
    file.seek(0)
    return names


def _array(archive: Any, name: str, place: object, path: Path) -> NDArray[Any]:
    array = archive[name]
    if not isinstance(array, np.ndarray):
        raise ValueError(f"{name} is not an array")
    # Texts of length 0 take no bytes, however many there are.
    refuse_bomb(place, 8 * array.size, path.stat().st_size)
    return array
