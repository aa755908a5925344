"""Which rows to label: a random sample, because only that certifies anything about the rows it was drawn from."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from vecuq._check import whole_number
from vecuq.errors import TableError
from vecuq.table import PathLike, TableLike, TableReader, write_batches
from vecuq.workflows.places import refuse_place

if TYPE_CHECKING:
    import pyarrow as pa

# The number of a row in the table it was drawn from, so that labels find their way back.
ROW = "row"


@dataclass(frozen=True)
class Sampled:
    """How many rows there were, and how many were drawn."""

    n_rows: int
    n_drawn: int


def sample(new: TableLike, out: PathLike, n: int, *, random_state: int | None = None, force: bool = False) -> Sampled:
    """Draw n rows at random, each set of n rows with the same probability, in the order of the table.

    The table is read twice in pieces of bounded size. A column ``row`` with the place of each row is added, unless
    there is one.
    """
    whole_number("n", n, 1)
    refuse_place(out, reads=[new], force=force)
    reader = TableReader(new, typed=True)
    n_rows = sum(len(batch) for batch in reader.batches())
    if n > n_rows:
        raise TableError(f"{n:,} rows are wanted and the table has {n_rows:,}. Take all of them, or give more rows.")
    drawn = np.random.default_rng(random_state or 0).choice(n_rows, n, replace=False, shuffle=False)
    write_batches(out, _chosen(reader.batches(), np.sort(drawn)))
    return Sampled(n_rows, n)


def _chosen(batches: Iterator[pa.RecordBatch], drawn: np.ndarray) -> Iterator[pa.RecordBatch]:
    """Yield the drawn rows of every batch, with their places."""
    import pyarrow as pa

    start = 0
    for batch in batches:
        here = drawn[(drawn >= start) & (drawn < start + len(batch))]
        chosen = batch.take(pa.array(here - start))
        if ROW not in batch.schema.names:
            chosen = chosen.append_column(ROW, pa.array(here))
        yield chosen
        start += len(batch)
