"""How anything is written safely: whole or not at all, and with a checksum. Knows nothing of what it means."""

from vecuq._files.atomic import atomic_folder, atomic_path, refuse_unwritable, write_atomic
from vecuq._files.tensors import FORMAT, read_tensors, saved_kind, write_tensors

__all__ = [
    "FORMAT",
    "atomic_folder",
    "atomic_path",
    "read_tensors",
    "refuse_unwritable",
    "saved_kind",
    "write_atomic",
    "write_tensors",
]
