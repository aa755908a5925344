"""What Dask fits to: part files or partitions of a frame, behind the same verbs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from vecuq.cluster.dask.gathering import FromFiles, FromFrame, Gathered, Rows, gather_files, gather_frame
from vecuq.errors import TableError
from vecuq.ranker import PartialFit
from vecuq.table import ScoreTable, TableReader
from vecuq.workflows import PartInputs, common_reader, rows_of

Advance = Callable[[int], None] | None
# So many rows of a frame say which columns are scores.
_FIRST_ROWS = 10_000


class Calibration(Protocol):
    """Rows to fit to."""

    @property
    def n_rows(self) -> int | None:
        """How many rows there are, if that is known beforehand."""

    @property
    def bad(self) -> Sequence[str]:
        """Files that are known beforehand to be unreadable."""

    def first_rows(self, columns: Sequence[str] | None) -> Any:
        """Return some rows, which say what columns there are."""

    def gather(self, start: PartialFit, table: ScoreTable, ids: str | None, advance: Advance) -> Gathered:
        """Return what all rows leave behind, in the columns and directions of a table."""


@dataclass(frozen=True)
class Files:
    """Part files that all workers can reach."""

    client: Any
    inputs: PartInputs
    reader: TableReader
    unreadable: dict[str, str]
    skip_bad: bool

    @staticmethod
    def of(client: Any, where: Any, columns: Sequence[str] | None, *, skip_bad: bool) -> Files:
        """Find the files and the columns that they share; refuse those that cannot be opened, or skip them."""
        inputs = PartInputs.of(where)
        reader, bad = common_reader(inputs.source, columns or (), typed=False)
        if bad and not skip_bad:
            raise TableError(
                f"{next(iter(bad.values())).rstrip('.')}. Correct the file, or leave it out with skip_bad=True."
            )
        return Files(client, inputs, reader, bad, skip_bad)

    @property
    def n_rows(self) -> int | None:
        """How many rows the footers of parquet files state."""
        counts = self.inputs.n_rows
        return None if counts is None else sum(counts)

    @property
    def bad(self) -> Sequence[str]:
        """Files that cannot be opened."""
        return list(self.unreadable)

    def first_rows(self, columns: Sequence[str] | None) -> Any:
        """Return the first batch with rows; that there is none is an error."""
        for part in self.inputs.parts:
            if part.source not in self.unreadable:
                with rows_of(self.reader, part) as batches:
                    found = next((batch for batch in batches if len(batch)), None)
                if found is not None:
                    return found
        raise TableError(f"{self.inputs.source} has no rows to fit.")

    def gather(self, start: PartialFit, table: ScoreTable, ids: str | None, advance: Advance) -> Gathered:
        """Let workers summarise the files."""
        names = [*table.columns, *([] if ids is None else [ids])]
        reader, _ = common_reader(self.inputs.source, table.columns, typed=ids is not None)
        work = FromFiles(reader.only(names), table.columns, tuple(sorted(table.flipped)), ids, self.skip_bad)
        return gather_files(self.client, work, self._rows(), start, advance)

    def _rows(self) -> list[Rows]:
        counts = self.inputs.n_rows or [None] * len(self.inputs.parts)
        first = 0 if self.inputs.n_rows else None
        found = []
        for number, (part, n_rows) in enumerate(zip(self.inputs.parts, counts, strict=True)):
            if part.source not in self.unreadable:
                found.append(Rows(part, number, first, n_rows))
            first = None if first is None or n_rows is None else first + n_rows
        return found


@dataclass(frozen=True)
class Frame:
    """A Dask DataFrame."""

    client: Any
    frame: Any

    n_rows = None
    bad = ()

    def first_rows(self, columns: Sequence[str] | None) -> Any:
        """Return rows of the first partition that has any."""
        for number in range(self.frame.npartitions):
            found = self.client.compute(self.frame.get_partition(number)).result()[:_FIRST_ROWS]
            if len(found):
                return found
        raise TableError("The frame has no rows to fit.")

    def gather(self, start: PartialFit, table: ScoreTable, ids: str | None, advance: Advance) -> Gathered:
        """Let workers summarise the partitions."""
        names = [*table.columns, *([] if ids is None else [ids])]
        work = FromFrame(table.columns, tuple(sorted(table.flipped)), ids)
        return gather_frame(self.client, work, self.frame[names], start, advance)
