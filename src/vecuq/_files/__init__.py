"""How anything is written safely: whole or not at all, locked, with a checksum. Knows nothing of what it means."""

from vecuq._files.atomic import atomic_files, atomic_folder, atomic_path, refuse_unwritable, write_atomic
from vecuq._files.header import AtLeastOne, Count, Names, NotNegative, Positive, Rate, Share, checked_header
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
    "NOT_NEGATIVE",
    "POSITIVE",
    "RISING",
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
    "locked",
    "place_of",
    "read_tensors",
    "refuse",
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
