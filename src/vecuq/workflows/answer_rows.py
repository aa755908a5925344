"""Answers in files as rows of a table: their measures, and fields of their lines such as a label or a topic."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from vecuq._check import wanted_columns
from vecuq._files import temporary_folder
from vecuq._run import in_order, resolve_jobs
from vecuq.errors import TableError
from vecuq.table import QUALITY, PathLike, read_batches, write_batches
from vecuq.workflows.measuring_answers import WantedOfAnswers, chunks_of, counted, gathered, measure_chunk
from vecuq.workflows.tally_of_answers import AnswerTally, MeasuredAnswers
from vecuq.workflows.watch import NOBODY, Watch

if TYPE_CHECKING:
    import pyarrow as pa

    from vecuq.answers import AnswerReader, AnswerRecord

# In the file between, every field has two columns: only after the last answer is it known whether all are numbers.
_NUMBER, _TEXT = "number of ", "text of "
_LINES = "Every line of these files"


@dataclass(frozen=True)
class AnswerFiles:
    """Files of answers and how they are read: the arguments of :func:`vecuq.answers.read_answers`, and processes."""

    paths: Sequence[PathLike]
    samples: Sequence[PathLike] = ()
    kind: str = "auto"
    strict: bool = False
    renormalise: bool = False
    n_jobs: int | None = None

    @staticmethod
    def of(given: Any) -> AnswerFiles:
        """Return one file or several as files of answers."""
        return AnswerFiles([given] if isinstance(given, str | os.PathLike) else list(given))

    def reader(self) -> AnswerReader:
        """Return the answers, one by one."""
        from vecuq.answers import read_answers

        how: dict[str, Any] = {name: getattr(self, name) for name in ("samples", "kind", "strict", "renormalise")}
        return read_answers(self.paths, **how)


@dataclass(frozen=True)
class AnswerRows:
    """Measured answers, read like a table: ``id``, the fields of the lines, and the measures."""

    waiting: Path
    wanted: WantedOfAnswers
    fields: dict[str, bool]  # whether a field holds text, by name
    measured: MeasuredAnswers

    @property
    def schema(self) -> pa.Schema:
        """Names and types of the columns."""
        return next(self.batches()).schema

    def batches(self) -> Iterator[pa.RecordBatch]:
        """Yield the rows in batches of bounded length."""
        import pyarrow as pa

        for batch in read_batches(self.waiting):
            kept = {name: batch[(_TEXT if is_text else _NUMBER) + name] for name, is_text in self.fields.items()}
            numbers = {name: batch[name] for name in self.wanted.columns if name not in kept}
            yield pa.RecordBatch.from_pydict({"id": batch["id"], **kept, **numbers})

    def whole(self) -> pa.Table:
        """Return all rows at once."""
        import pyarrow as pa

        return pa.Table.from_batches(self.batches())


@contextmanager
def answer_rows(
    files: AnswerFiles,
    wanted: WantedOfAnswers,
    fields: Sequence[str] = (),
    *,
    texts: Sequence[str | None] = (),
    watch: Watch = NOBODY,
) -> Iterator[AnswerRows]:
    """Measure every answer once, in bounded memory; the rows wait in a temporary file as long as they are needed.

    A field is looked for among the other fields of a line; ``quality`` is what ``wanted`` computes, else the verdict
    that the file holds. One that no answer has is an error. ``texts`` are fields whose numbers become text, since they
    name something.
    """
    reader, tally = files.reader(), AnswerTally(wanted.columns, settings=wanted.settings.to_dict())
    reader.progress = watch.read
    named = tuple(
        dict.fromkeys(name for name in (*fields, *filter(None, texts)) if name != QUALITY or wanted.quality is None)
    )
    seen = _Seen()
    work = partial(_chunk, wanted, named)
    with temporary_folder() as folder:
        chunks = in_order(work, chunks_of(reader), n_jobs=resolve_jobs(files.n_jobs))
        write_batches(folder / "rows.parquet", gathered(counted(seen.passed(chunks, named), tally, watch)))
        tally.refuse_empty([measure.name for measure in wanted.found])
        wanted_columns(named, sorted(seen.names | seen.filled), purpose="named as fields", where=_LINES)
        is_text = {name: name in texts or name in seen.texts for name in named}
        yield AnswerRows(folder / "rows.parquet", wanted, is_text, tally.result(reader, 0))


@dataclass
class _Seen:
    """Which fields the lines have, which have a value, and which hold text."""

    names: set[str] = field(default_factory=set)
    filled: set[str] = field(default_factory=set)
    texts: set[str] = field(default_factory=set)

    def passed(self, chunks: Any, named: Sequence[str]) -> Iterator[tuple[pa.RecordBatch, AnswerTally]]:
        """Pass the chunks on, and note their fields."""
        for batch, tally, names in chunks:
            self.names |= names
            self.filled |= {name for name in named if batch[_TEXT + name].null_count < len(batch)}
            self.texts |= {name for name in named if batch[_NUMBER + name].null_count > batch[_TEXT + name].null_count}
            yield batch, tally


def _chunk(
    wanted: WantedOfAnswers, fields: Sequence[str], records: Sequence[AnswerRecord]
) -> tuple[pa.RecordBatch, AnswerTally, set[str]]:
    """Return the rows of some answers with the fields of their lines, and which fields the first line has."""
    import pyarrow as pa

    batch, tally = measure_chunk(wanted, records)
    for name in fields:
        values = [_field(record, name) for record in records]
        numbers = [float(value) if isinstance(value, bool | int | float) else None for value in values]
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


def kind_of_answers(paths: Sequence[PathLike]) -> str | None:
    """Return the format of the first file if all hold answers, by content; None if all are something else.

    Answers beside something else are an error.
    """
    from vecuq.answers import recognised_kind

    found = [recognised_kind(Path(path)) if Path(path).is_file() else None for path in paths]
    if any(found) and not all(found):
        answers, other = (paths[[bool(one) for one in found].index(is_one)] for is_one in (True, False))
        raise TableError(f"{answers} holds answers of a language model, and {other} does not; fit one at a time.")
    return found[0] if found else None
