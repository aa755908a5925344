"""How anything is written safely: whole or not at all, and with a checksum. Knows nothing of what it means."""

from vecuq._files.atomic import atomic_folder, atomic_path, refuse_unwritable, write_atomic
from vecuq._files.header import AtLeastOne, Count, Names, NotNegative, Positive, Rate, Share, checked_header
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
    "atomic_folder",
    "atomic_path",
    "between",
    "check_arrays",
    "checked_header",
    "place_of",
    "read_tensors",
    "refuse",
    "refuse_unwritable",
    "saved_header",
    "saved_kind",
    "tensor_bytes",
    "under",
    "write_atomic",
    "write_tensors",
]
