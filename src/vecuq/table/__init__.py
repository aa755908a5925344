"""Score tables in memory and on disk."""

from vecuq.table.cells import python_cells, without_formulas
from vecuq.table.choice import CONTRIBUTION, QUALITY, RESERVED, is_added
from vecuq.table.doubts import warn_of_columns
from vecuq.table.draws import id_hashes, place_hashes
from vecuq.table.front import TakesScores
from vecuq.table.matching import Matching
from vecuq.table.prints import MOST_HASHES, Fingerprints, Hashes, row_hashes
from vecuq.table.reading import TableLike, TableReader, count_rows, read_batches, read_table
from vecuq.table.score_table import ScoreTable
from vecuq.table.source import (
    BATCH_ROWS,
    EXTENSIONS,
    PartFile,
    PathLike,
    TableSource,
    is_stdio,
    is_table_name,
    is_text_table,
    kind_of,
    stands_for,
)
from vecuq.table.suspicions import Suspicion, find_suspicions
from vecuq.table.widths import unfolded
from vecuq.table.writing import STDOUT_FORMATS, write_batches

__all__ = [
    "BATCH_ROWS",
    "CONTRIBUTION",
    "EXTENSIONS",
    "MOST_HASHES",
    "QUALITY",
    "RESERVED",
    "STDOUT_FORMATS",
    "Fingerprints",
    "Hashes",
    "Matching",
    "PartFile",
    "PathLike",
    "ScoreTable",
    "Suspicion",
    "TableLike",
    "TableReader",
    "TableSource",
    "TakesScores",
    "count_rows",
    "find_suspicions",
    "id_hashes",
    "is_added",
    "is_stdio",
    "is_table_name",
    "is_text_table",
    "kind_of",
    "place_hashes",
    "python_cells",
    "read_batches",
    "read_table",
    "row_hashes",
    "stands_for",
    "unfolded",
    "warn_of_columns",
    "without_formulas",
    "write_batches",
]
