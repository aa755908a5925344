"""Answers in files as rows of a table: their measures, and fields of their lines such as a label or a topic."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from vecuq._check import wanted_columns
from vecuq._files import temporary_folder
from vecuq._run import in_order, resolve_jobs
from vecuq.decide import Making
from vecuq.table import QUALITY, PathLike, read_batches, write_batches
from vecuq.workflows.measuring_answers import WantedOfAnswers, chunks_of, counted, gathered, measure_chunk
from vecuq.workflows.tally_of_answers import AnswerTally, MeasuredAnswers
from vecuq.workflows.watch import NOBODY, Watch

if TYPE_CHECKING:
    import pyarrow as pa

    from vecuq.answers import AnswerReader, AnswerRecord

# In the file between, every field has two columns: only after the last answer is it known whether all are numbers.
_NUMBER, _TEXT, _WHOLE = "number of ", "text of ", "whole number of "
# How an answer was made, which the file between keeps too.
MAKING = ("vecuq: samples", "vecuq: asked")
_LINES = "Every line of these files"
_PLAIN_NUMBER = re.compile(r"-?(0|[1-9]\d{0,14})(\.\d{1,17})?")
_LARGEST_EXACT = 2**53


@dataclass(frozen=True)
class AnswerFiles:
    """Files of answers and how they are read: the arguments of :func:`vecuq.answers.read_answers`, and processes."""

    paths: Sequence[PathLike]
    samples: Sequence[PathLike] = ()
    kind: str = "auto"
    map: Mapping[str, str] | None = None
    strict: bool = False
    renormalise: bool = False
    n_jobs: int | None = None

    @staticmethod
    def of(given: Any) -> AnswerFiles:
        """Return one file or several as files of answers; what is that already stays as it is."""
        if isinstance(given, AnswerFiles):
            return given
        return AnswerFiles([given] if isinstance(given, str | os.PathLike) else list(given))

    def reader(self) -> AnswerReader:
        """Return the answers, one by one."""
        from vecuq.answers import read_answers

        how: dict[str, Any] = {
            name: getattr(self, name) for name in ("samples", "kind", "map", "strict", "renormalise")
        }
        return read_answers(self.paths, **how)


@dataclass(frozen=True)
class AnswerRows:
    """Measured answers, read like a table: ``id``, the fields of the lines, and the measures."""

    waiting: Path
    wanted: WantedOfAnswers
    fields: dict[str, str]  # whether a field holds text, numbers or whole numbers, by name
    measured: MeasuredAnswers
    read_as: str
    metadata: dict[str, str]
    with_making: bool = False  # whether the batches have the columns of `MAKING`

    @property
    def schema(self) -> pa.Schema:
        """Names and types of the columns."""
        return next(self.batches()).schema

    def batches(self) -> Iterator[pa.RecordBatch]:
        """Yield the rows in batches of bounded length."""
        import pyarrow as pa

        for batch in read_batches(self.waiting):
            kept = {name: _cells(batch, name, holds) for name, holds in self.fields.items()}
            numbers = {name: batch[name] for name in self._numbers if name not in kept}
            made = {name: batch[name] for name in (MAKING if self.with_making else ())}
            yield pa.RecordBatch.from_pydict({"id": batch["id"], **kept, **numbers, **made})

    def making(self) -> Making:
        """Return how each answer was made."""
        parts = [making_in(batch) for batch in read_batches(self.waiting)]
        return Making(
            *(np.concatenate(some) for some in zip(*((one.n_samples, one.asked) for one in parts), strict=True))
        )

    @property
    def _numbers(self) -> tuple[str, ...]:
        """All measures, also one that no answer allows, and the quality if some answer has one."""
        return tuple(name for name in self.wanted.columns if name != QUALITY or name in self.measured.columns)

    def whole(self) -> pa.Table:
        """Return all rows at once."""
        import pyarrow as pa

        return pa.Table.from_batches(self.batches())


def making_in(batch: pa.RecordBatch) -> Making:
    """Return how the answers of a batch were made."""
    return Making(*(batch[name].to_numpy(zero_copy_only=False) for name in MAKING))


@contextmanager
def answer_rows(
    files: AnswerFiles,
    wanted: WantedOfAnswers,
    fields: Sequence[str] = (),
    *,
    texts: Sequence[str | None] = (),
    perhaps: Sequence[str] = (),
    watch: Watch = NOBODY,
) -> Iterator[AnswerRows]:
    """Measure every answer once, in bounded memory; the rows wait in a temporary file as long as they are needed.

    A field is looked for among the other fields of a line; ``quality`` is what ``wanted`` computes, else the verdict
    that the file holds. One that no answer has is an error, unless it stands in ``perhaps`` only. ``texts`` are fields
    whose numbers become text, since they name something.
    """
    reader, tally = files.reader(), AnswerTally(wanted.columns, settings=wanted.settings.to_dict())
    reader.progress = watch.read
    needed, named = _unique(fields, texts, wanted=wanted), _unique(fields, texts, perhaps, wanted=wanted)
    seen = _Seen()
    work = partial(_chunk, wanted, named)
    with temporary_folder() as folder:
        chunks = in_order(work, chunks_of(reader), n_jobs=resolve_jobs(files.n_jobs))
        write_batches(folder / "rows.parquet", gathered(counted(seen.passed(chunks, named), tally, watch)))
        tally.refuse_empty([measure.name for measure in wanted.found], notes=reader.notes)
        wanted_columns(needed, sorted(seen.names | seen.filled), purpose="named as fields", where=_LINES)
        there = [name for name in named if name in needed or name in seen.filled]
        holds = {name: _TEXT if name in texts else seen.holds(name) for name in there}
        done = tally.result(reader, 0)
        yield AnswerRows(folder / "rows.parquet", wanted, holds, done, _read_as(reader), tally.metadata)


def _unique(*names: Sequence[str | None], wanted: WantedOfAnswers) -> tuple[str, ...]:
    """Return every name once; a computed quality is no field of the lines."""
    given = dict.fromkeys(name for some in names for name in some if name is not None)
    return tuple(name for name in given if name != QUALITY or wanted.quality is None)


@dataclass
class _Seen:
    """Which fields the lines have, which have a value, and which hold text or fractions."""

    names: set[str] = field(default_factory=set)
    filled: set[str] = field(default_factory=set)
    texts: set[str] = field(default_factory=set)
    fractions: set[str] = field(default_factory=set)

    def holds(self, name: str) -> str:
        """Return what a field holds."""
        return _TEXT if name in self.texts else _NUMBER if name in self.fractions else _WHOLE

    def passed(self, chunks: Any, named: Sequence[str]) -> Iterator[tuple[pa.RecordBatch, AnswerTally]]:
        """Pass the chunks on, and note their fields."""
        for batch, tally, names in chunks:
            self.names |= names
            self.filled |= {name for name in named if batch[_TEXT + name].null_count < len(batch)}
            self.texts |= {name for name in named if batch[_NUMBER + name].null_count > batch[_TEXT + name].null_count}
            self.fractions |= {name for name in named if _has_fractions(batch[_NUMBER + name])}
            yield batch, tally


def _chunk(
    wanted: WantedOfAnswers, fields: Sequence[str], records: Sequence[AnswerRecord]
) -> tuple[pa.RecordBatch, AnswerTally, set[str]]:
    """Return the rows of some answers with the fields of their lines, and which fields the first line has."""
    import pyarrow as pa

    batch, tally = measure_chunk(wanted, records)
    making = Making.of_records(records)
    for name, column in zip(MAKING, (making.n_samples, making.asked), strict=True):
        batch = batch.append_column(name, pa.array(column))
    for name in fields:
        values = [_field(record, name) for record in records]
        numbers = [_number(value) for value in values]
        texts = [None if value is None else str(value) for value in values]
        batch = batch.append_column(_NUMBER + name, pa.array(numbers, pa.float64()))
        batch = batch.append_column(_TEXT + name, pa.array(texts, pa.string()))
    return batch, tally, set(records[0].meta)


def _field(record: AnswerRecord, name: str) -> Any:
    """Return one field of a line; the verdict of the file's own scorer is called quality."""
    found = record.meta.get(name)
    if found is None and name == QUALITY:
        return record.quality
    return found if isinstance(found, bool | int | float | str) else None


def _number(value: Any) -> float | None:
    """Return the number that a cell is; in a csv all cells are text, and there 007 is a name."""
    if isinstance(value, str):
        said = value.strip().lower()
        value = {"true": True, "false": False}.get(said, value)
        if isinstance(value, str):
            return float(said) if _PLAIN_NUMBER.fullmatch(said) else None
    if isinstance(value, int) and abs(value) > _LARGEST_EXACT:
        return None
    return float(value) if isinstance(value, bool | int | float) else None


def _has_fractions(column: pa.Array) -> bool:
    values = column.drop_null().to_numpy(zero_copy_only=False)
    return bool((values != np.round(values)).any())


def _cells(batch: pa.RecordBatch, name: str, holds: str) -> pa.Array:
    """Return the cells of a field in the type that all of them allow."""
    import pyarrow as pa

    return batch[_NUMBER + name].cast(pa.int64()) if holds == _WHOLE else batch[holds + name]


def _read_as(reader: AnswerReader) -> str:
    """Return the format of the first file in words; of named fields also the names."""
    name, known_by = reader.how(reader.paths[0])
    return f"{name} ({known_by})" if name == "named fields" else name
