"""Partial fits made by Dask's workers and added in a tree, in the order of the parts."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from vecuq._run import memory_kept
from vecuq.cluster.dask.client import RETRIES, cancelled_on_error, results_as_done
from vecuq.cluster.dask.groups import branches, grouped
from vecuq.errors import TableError, VecuqError
from vecuq.ranker import PartialFit
from vecuq.table import BATCH_ROWS, ScoreTable, TableReader
from vecuq.workflows import Bad, BadPartError, Part, rows_of


@dataclass(frozen=True)
class Gathered:
    """What some neighbouring parts leave behind, and which of them cannot be read."""

    partial: PartialFit
    bad: tuple[Bad, ...] = ()

    def __add__(self, other: Gathered) -> Gathered:
        return Gathered(self.partial + other.partial, (*self.bad, *other.bad))


@dataclass(frozen=True)
class Rows:
    """A part and the number of its first row among all; None where rows are counted within the part."""

    part: Part
    number: int
    first_row: int | None
    n_rows: int | None

    def follows(self, before: Rows) -> bool:
        """Whether the rows are numbered on from those of another part."""
        return self.first_row is not None and self.first_row == (before.first_row or 0) + (before.n_rows or 0)


@dataclass(frozen=True)
class FromFiles:
    """Reads the score columns of parts and makes one partial fit of each."""

    reader: TableReader
    columns: tuple[str, ...]
    flip: tuple[str, ...]
    ids: str | None
    skip_bad: bool

    def __call__(self, start: PartialFit, some: Sequence[Rows]) -> Gathered:
        """Return what the parts leave behind, added in their order; small neighbours are summarised together."""
        total = Gathered(start.empty())
        for together in self._neighbours(some):
            total = total + (self._one(start, together[0]) if len(together) == 1 else self._few(start, together))
        return total

    def _neighbours(self, some: Sequence[Rows]) -> Iterator[list[Rows]]:
        """Yield parts that follow each other and have few rows together; a summary costs as much for few rows."""
        waiting: list[Rows] = []
        n_rows = 0
        for rows in some:
            if waiting and not (rows.follows(waiting[-1]) and n_rows + (rows.n_rows or 0) <= BATCH_ROWS):
                yield waiting
                waiting, n_rows = [], 0
            waiting.append(rows)
            n_rows += rows.n_rows or 0
        if waiting:
            yield waiting

    def _few(self, start: PartialFit, together: Sequence[Rows]) -> Gathered:
        """Summarise the rows of several parts at once; one by one if anything is wrong, to say with which."""
        import pyarrow as pa

        try:
            batches = [batch for rows in together for batch in self._all(rows)]
            made = start.empty()
            if batches:
                (whole,) = pa.Table.from_batches(batches).combine_chunks().to_batches()
                self._update(made, whole, together[0].first_row)
            return Gathered(made)
        except VecuqError:
            total = Gathered(start.empty())
            for rows in together:
                total = total + self._one(start, rows)
            return total

    def _all(self, rows: Rows) -> list[Any]:
        with rows_of(self.reader, rows.part) as batches:
            return [batch for batch in batches if len(batch)]

    def _one(self, start: PartialFit, rows: Rows) -> Gathered:
        made = start.empty()
        made.part = 0 if rows.first_row is not None else rows.number
        try:
            self._take(made, rows)
        except BadPartError as error:
            if not self.skip_bad:
                words = str(error).rstrip(".")
                raise TableError(f"{words}. Correct the file, or leave it out with skip_bad=True.") from None
            return Gathered(start.empty(), (Bad(rows.part.source, str(error)),))
        except VecuqError as error:
            raise type(error)(f"{rows.part.source}: {error}") from None
        return Gathered(made)

    def _take(self, made: PartialFit, rows: Rows) -> None:
        place = rows.first_row or 0
        with rows_of(self.reader, rows.part) as batches:
            for batch in batches:
                if len(batch):
                    self._update(made, batch, place)
                    place += len(batch)

    def _update(self, made: PartialFit, batch: Any, place: int | None) -> None:
        table = ScoreTable.of(batch, columns=self.columns, flip=self.flip).stated()
        made.update(table, ids=None if self.ids is None else batch[self.ids], first_row=place)


@dataclass(frozen=True)
class FromFrame:
    """Makes a partial fit of one partition of a frame."""

    columns: tuple[str, ...]
    flip: tuple[str, ...]
    ids: str | None

    def __call__(self, start: PartialFit, number: int, frame: Any) -> Gathered:
        """Return what the partition leaves behind."""
        made = start.empty()
        made.part = number
        try:
            if len(frame):
                table = ScoreTable.of(frame[list(self.columns)], columns=self.columns, flip=self.flip).stated()
                made.update(table, ids=None if self.ids is None else frame[self.ids].to_numpy())
        except VecuqError as error:
            raise type(error)(f"Partition {number:,}: {error}") from None
        return Gathered(made)


def gather_files(
    client: Any, work: FromFiles, rows: Sequence[Rows], start: PartialFit, advance: Callable[[int], None] | None
) -> Gathered:
    """Return what all files leave behind; groups depend on sizes alone, so the sum has the same bits everywhere."""
    groups = grouped(rows, [one.part.size for one in rows])
    with cancelled_on_error(client) as futures:
        shared = client.submit(_pair, work, start, pure=False, retries=RETRIES)
        leaves = [client.submit(_gathered, shared, group, pure=False, retries=RETRIES) for group in groups]
        return _sum(client, futures, leaves, advance)


def gather_frame(
    client: Any, work: FromFrame, frame: Any, start: PartialFit, advance: Callable[[int], None] | None
) -> Gathered:
    """Return what all partitions leave behind; each is let go as soon as it was summarised."""
    from dask.delayed import delayed

    shared, one = delayed(_pair, pure=False)(work, start), delayed(_gathered_partition, pure=False)
    parts = [one(shared, number, partition) for number, partition in enumerate(frame.to_delayed())]
    with cancelled_on_error(client) as futures:
        return _sum(client, futures, client.compute(parts, retries=RETRIES), advance)


def _sum(client: Any, futures: list[Any], leaves: list[Any], advance: Callable[[int], None] | None) -> Gathered:
    """Add what futures will hold in a tree; a future is let go as soon as it was added, for there may be many."""
    counts = [client.submit(_count, leaf, pure=False) for leaf in leaves]
    level = list(leaves)
    while len(level) > 1:
        level = [client.submit(_added, some, pure=False) for some in branches(level)]
    root: Gathered
    futures += [*level, *counts]
    del leaves[:]
    for _, n_rows in results_as_done(client, counts):
        if advance is not None:
            advance(n_rows)
    (last,) = level
    root = last.result()
    return root


def _pair(work: Any, start: PartialFit) -> tuple[Any, PartialFit]:
    return work, start


def _gathered(shared: tuple[FromFiles, PartialFit], group: Sequence[Rows]) -> Gathered:
    work, start = shared
    with memory_kept():
        return work(start, group)


def _gathered_partition(shared: tuple[FromFrame, PartialFit], number: int, frame: Any) -> Gathered:
    work, start = shared
    with memory_kept():
        return work(start, number, frame)


def _added(some: Sequence[Gathered]) -> Gathered:
    total, *others = some
    for other in others:
        total = total + other
    return total


def _count(gathered: Gathered) -> int:
    return gathered.partial.count + gathered.partial.n_dropped
