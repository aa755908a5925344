"""How anything is written safely: whole or not at all, locked, with a checksum. Knows nothing of what it means."""

from vecuq._files.arrays import load_arrays
from vecuq._files.atomic import atomic_files, atomic_folder, atomic_path, refuse_unwritable, write_atomic
from vecuq._files.header import AtLeastOne, Count, Names, NotNegative, Positive, Rate, Share, checked_header
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
from vecuq._files.locks import locked
from vecuq._files.sense import (
    NOT_NEGATIVE,
    POSITIVE,
    RISING,
    SORTED,
    WHOLE,
    Numbers,
    Rule,
    between,
    check_arrays,
    refuse,
)
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
    "BATCH_BYTES",
    "LINE_BYTES",
    "MOST_LEVELS",
    "NOT_NEGATIVE",
    "POSITIVE",
    "RISING",
    "ROW_BYTES",
    "SORTED",
    "WHOLE",
    "AtLeastOne",
    "Count",
    "Names",
    "NotNegative",
    "Numbers",
    "Positive",
    "Rate",
    "Rule",
    "Share",
    "Source",
    "atomic_files",
    "atomic_folder",
    "atomic_path",
    "between",
    "check_arrays",
    "checked_header",
    "checksum_of",
    "load_arrays",
    "locked",
    "place_of",
    "read_tensors",
    "refuse",
    "refuse_bomb",
    "refuse_flood",
    "refuse_names",
    "refuse_unwritable",
    "refuse_width",
    "saved_header",
    "saved_kind",
    "temporary_folder",
    "tensor_bytes",
    "under",
    "write_atomic",
    "write_state",
    "write_tensors",
]
