"""How anything is written safely: whole or not at all, and with a checksum. Knows nothing of what it means."""

from vecuq._files.atomic import atomic_folder, atomic_path, refuse_unwritable, write_atomic
from vecuq._files.tensors import (
    Source,
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
    "atomic_folder",
    "atomic_path",
    "place_of",
    "read_tensors",
    "refuse_unwritable",
    "saved_header",
    "saved_kind",
    "tensor_bytes",
    "under",
    "write_atomic",
    "write_tensors",
]
