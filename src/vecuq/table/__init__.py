"""Score tables in memory and on disk."""

from vecuq.table.atomic import atomic_folder, atomic_path, refuse_unwritable, write_atomic
from vecuq.table.files import EXTENSIONS, count_rows, kind_of, read_batches, read_table, write_batches
from vecuq.table.matching import Matching, is_named
from vecuq.table.score_table import RESERVED, ScoreTable

__all__ = [
    "EXTENSIONS",
    "RESERVED",
    "Matching",
    "ScoreTable",
    "atomic_folder",
    "atomic_path",
    "count_rows",
    "is_named",
    "kind_of",
    "read_batches",
    "read_table",
    "refuse_unwritable",
    "write_atomic",
    "write_batches",
]
