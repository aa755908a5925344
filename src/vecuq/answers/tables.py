"""Tables of texts: csv, parquet, feather and Arrow with one question per row, read in batches."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from vecuq.answers.lines import Entry
from vecuq.table import is_table_name, kind_of, read_batches

# Rows that become Python values at once.
_ROWS = 256
_NOT_HERE = (".npz", ".jsonl", ".jsonl.gz")


def is_table_of_texts(path: Path) -> bool:
    """Whether a file has the name of a table that may hold texts; jsonl and npz are read in other ways."""
    return is_table_name(path) and kind_of(path) not in _NOT_HERE


def table_entries(path: Path) -> Iterator[Entry]:
    """Yield the rows of a table as entries; an empty cell is None, and a csv cell is text, whatever it holds."""
    number = 0
    for batch in read_batches(path, typed=False):
        for start in range(0, len(batch), _ROWS):
            for row in batch.slice(start, _ROWS).to_pylist():
                number += 1
                cells = {name: None if cell == "" else cell for name, cell in row.items()}
                yield Entry(number, f"{path}, row {number}", cells)
