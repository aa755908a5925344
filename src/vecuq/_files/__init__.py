"""How anything is written safely: whole or not at all, locked, with a checksum. Knows nothing of what it means."""

from vecuq._files.atomic import atomic_files, atomic_folder, atomic_path, refuse_unwritable, write_atomic
from vecuq._files.locks import locked
from vecuq._files.states import write_state
from vecuq._files.sweeping import temporary_folder
from vecuq._files.tensors import (
    Source,
    checksum_of,
    place_of,
    read_tensors,
    saved_header,
    saved_kind,
    tensor_bytes,
    under,
    write_tensors,
)

__all__ = [
    "Source",
    "atomic_files",
    "atomic_folder",
    "atomic_path",
    "checksum_of",
    "locked",
    "place_of",
    "read_tensors",
    "refuse_unwritable",
    "saved_header",
    "saved_kind",
    "temporary_folder",
    "tensor_bytes",
    "under",
    "write_atomic",
    "write_state",
    "write_tensors",
]
