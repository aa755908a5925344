"""Score tables in memory and on disk."""

from vecuq.table.files import EXTENSIONS, count_rows, kind_of, read_batches, read_table, write_batches
from vecuq.table.front import TakesScores
from vecuq.table.matching import Matching, is_named
from vecuq.table.score_table import CONTRIBUTION, QUALITY, RESERVED, ScoreTable

__all__ = [
    "CONTRIBUTION",
    "EXTENSIONS",
    "QUALITY",
    "RESERVED",
    "Matching",
    "ScoreTable",
    "TakesScores",
    "count_rows",
    "is_named",
    "kind_of",
    "read_batches",
    "read_table",
    "write_batches",
]
