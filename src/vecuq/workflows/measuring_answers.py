"""What is computed of every answer of a language model, chunk by chunk, in bounded memory."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from vecuq._check import one_of
from vecuq.errors import TableError
from vecuq.measures import QUALITIES, Measure, find_measures, text
from vecuq.table import QUALITY, PathLike
from vecuq.workflows.tally_of_answers import NO_VERDICT, AnswerTally
from vecuq.workflows.watch import Watch

if TYPE_CHECKING:
    import pyarrow as pa

    from vecuq.answers import AnswerReader, AnswerRecord

# Answers that one process measures at a time.
CHUNK = 256
_CHUNKS_TOGETHER = 64


def is_answers(path: PathLike) -> bool:
    """Whether a file is read as answers: all but npy and npz files are, and npz files with texts and no logits."""
    suffix = Path(path).suffix.lower()
    if suffix != ".npz":
        return suffix != ".npy"
    from vecuq.answers import holds_answers

    return holds_answers(Path(path))


def files_of_answers(paths: Sequence[PathLike]) -> list[Path]:
    """Return files, and in place of a folder the files in it by name, but for hidden ones."""
    found: list[Path] = []
    for path in map(Path, paths):
        if str(path) == "-":
            raise TableError("Outputs and answers are read from files, not from stdin; write them to a file first.")
        inner = sorted(file for file in path.iterdir() if not file.name.startswith(".")) if path.is_dir() else [path]
        if not inner:
            raise TableError(f"{path} is a folder without files.")
        found += inner
    return found


@dataclass(frozen=True)
class WantedOfAnswers:
    """What to compute of every answer. A name that is not known, or that needs a missing package, is refused at once.

    Parameters
    ----------
    measures
        Text measures or compositions of them; all by default.
    settings
        How texts are compared, see :class:`vecuq.measures.text.TextSettings`.
    quality
        How answers are judged against their references: one of ``vecuq.measures.QUALITIES``, or None.
    """

    measures: Sequence[str] | None = None
    settings: text.TextSettings = field(default_factory=text.TextSettings)
    quality: str | None = None

    def __post_init__(self) -> None:
        _ = self.found
        if self.quality is not None:
            QUALITIES[one_of("quality", self.quality, tuple(QUALITIES))]("1", "1")

    @cached_property
    def found(self) -> tuple[Measure, ...]:
        """The measures, each once."""
        return find_measures(self.measures, modality="text")

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of all columns of numbers; the last is the quality, which a table has only if some answer has one."""
        return (*(measure.name for measure in self.found), QUALITY)

    def __getstate__(self) -> dict[str, Any]:
        # Functions of other packages may not survive pickling; a worker process finds them again by their names.
        return {name: value for name, value in vars(self).items() if name != "found"}


def chunks_of(reader: AnswerReader) -> Iterator[list[AnswerRecord]]:
    """Yield the answers in chunks of which one process measures one at a time."""
    stream = iter(reader)
    while chunk := list(islice(stream, CHUNK)):
        yield chunk


def gathered(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Yield fewer and longer batches: each becomes a row group of the file, and many small ones are slow to read."""
    import pyarrow as pa

    stream = iter(batches)
    while some := list(islice(stream, _CHUNKS_TOGETHER)):
        yield from pa.Table.from_batches(some).combine_chunks().to_batches()


def counted(
    chunks: Iterable[tuple[pa.RecordBatch, AnswerTally]], tally: AnswerTally, watch: Watch
) -> Iterator[pa.RecordBatch]:
    """Yield the rows of the chunks, and count them."""
    for batch, counts in chunks:
        tally.add(counts)
        if watch.rows is not None:
            watch.rows(len(batch))
        yield batch


def measure_chunk(wanted: WantedOfAnswers, records: Sequence[AnswerRecord]) -> tuple[pa.RecordBatch, AnswerTally]:
    """Return the rows of some answers, and what is missing in them; each answer is measured by itself."""
    import pyarrow as pa

    tally = AnswerTally(wanted.columns)
    values = np.empty((len(records), len(wanted.columns)))
    asked_before = wanted.settings.n_asked
    for place, record in enumerate(records):
        found = text.measure_record(record, wanted.found, wanted.settings)
        values[place, : len(wanted.found)] = list(found.values.values())
        values[place, -1] = _judged(record, found, wanted)
        tally.count(found)
        tally.n_unfound += _lacks_the_part(found, wanted.settings)
    tally.n_asked = wanted.settings.n_asked - asked_before
    columns = {name: pa.array(values[:, k]) for k, name in enumerate(wanted.columns)}
    ids = pa.array([record.id for record in records], pa.string())
    return pa.RecordBatch.from_pydict({"id": ids, **columns}), tally


def _lacks_the_part(found: text.MeasuredAnswer, settings: text.TextSettings) -> bool:
    """Whether the part of the answer that should be compared is not there."""
    said = None if settings.extract is None or found.answer is None else found.answer.text
    return said is not None and settings.preparation is not None and settings.preparation(said) is None


def _judged(record: AnswerRecord, found: text.MeasuredAnswer, wanted: WantedOfAnswers) -> float:
    """Return the quality of the answer, or of the part of it that is compared; or the verdict in its file."""
    if wanted.quality is None:
        if record.quality is None:
            found.reasons[QUALITY] = NO_VERDICT
        return math.nan if record.quality is None else record.quality
    said, prepare = None if found.answer is None else found.answer.text, wanted.settings.preparation
    part = said if said is None or prepare is None else prepare(said)
    quality = QUALITIES[wanted.quality](said if part is None else part, record.references)
    if math.isnan(quality):
        found.reasons[QUALITY] = "no text of the answer" if said is None else "no references"
    return quality
