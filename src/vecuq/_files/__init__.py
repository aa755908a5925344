"""How anything is written safely: whole or not at all, and with a checksum. Knows nothing of what it means."""

from vecuq._files.arrays import load_arrays
from vecuq._files.atomic import atomic_folder, atomic_path, refuse_unwritable, write_atomic
from vecuq._files.limits import (
    BATCH_BYTES,
    LINE_BYTES,
    MOST_LEVELS,
    ROW_BYTES,
    refuse_bomb,
    refuse_flood,
    refuse_names,
    refuse_width,
)
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
    "BATCH_BYTES",
    "LINE_BYTES",
    "MOST_LEVELS",
    "ROW_BYTES",
    "Source",
    "atomic_folder",
    "atomic_path",
    "load_arrays",
    "place_of",
    "read_tensors",
    "refuse_bomb",
    "refuse_flood",
    "refuse_names",
    "refuse_unwritable",
    "refuse_width",
    "saved_header",
    "saved_kind",
    "tensor_bytes",
    "under",
    "write_atomic",
    "write_tensors",
]
