"""From files of a language model's answers to a table of scores, in bounded memory."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import numpy as np

from vecuq._check import one_of, whole_number
from vecuq._run import in_order
from vecuq.errors import TableError
from vecuq.measures import QUALITIES, find_measures, measures_of
from vecuq.table import QUALITY, read_batches, write_batches
from vecuq.workflows.places import refuse_place
from vecuq.workflows.tally_of_answers import MeasuredAnswers, MeasuredChunk, Tally
from vecuq.workflows.watch import NOBODY, PathLike, Watch

if TYPE_CHECKING:
    import pyarrow as pa

    from vecuq.answers import AnswerReader, AnswerRecord
    from vecuq.measures import text

# Answers that are worked on at once.
CHUNK = 256
_CHUNKS_TOGETHER = 64
# How files of answers are named; pickles are taken for answers too, to be refused with a word on how to export them.
_ENDINGS = (".jsonl", ".jsonl.gz", ".ndjson", ".ndjson.gz", ".json", ".json.gz", ".man", ".pkl", ".pickle")


def is_answers(path: PathLike) -> bool:
    """Whether a file is named as answers of a language model are, or is an npz file that holds texts and no logits."""
    if Path(path).suffix.lower() != ".npz":
        return Path(path).name.lower().endswith(_ENDINGS)
    from vecuq.answers import holds_answers

    return holds_answers(Path(path))


@dataclass(frozen=True)
class WantedOfAnswers:
    """What to compute of every answer.

    Parameters
    ----------
    names
        Text measures or compositions of them; all by default.
    settings
        How texts are compared, see :class:`vecuq.measures.text.TextSettings`.
    quality
        How answers are judged beside their references: one of ``vecuq.measures.quality.QUALITIES``, or None.
    """

    names: Sequence[str] | None = None
    settings: text.TextSettings | None = None
    quality: str | None = None

    @property
    def measures(self) -> tuple[str, ...]:
        """Names of the measures, once each."""
        asked = tuple(measures_of("text")) if self.names is None else self.names
        return tuple(found.name for found in find_measures(asked, modality="text"))

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of all columns of numbers."""
        return self.measures if self.quality is None else (*self.measures, QUALITY)

    def check(self) -> None:
        """Raise for a measure or a quality that is not known, or that needs a package that is not installed."""
        _ = self.measures
        if self.quality is not None:
            QUALITIES[one_of("quality", self.quality, tuple(QUALITIES))]("1", "1")


def measure_answers(
    answers: Sequence[PathLike],
    out: PathLike,
    wanted: WantedOfAnswers | None = None,
    *,
    samples: Sequence[PathLike] = (),
    kind: str = "auto",
    strict: bool = False,
    renormalise: bool = False,
    complete: bool = False,
    jobs: int = 1,
    watch: Watch = NOBODY,
) -> MeasuredAnswers:
    """Measure the answers in some files and write the scores as a table: ``id``, the measures, perhaps ``quality``.

    ``samples``, ``kind``, ``strict`` and ``renormalise`` are those of :func:`vecuq.answers.read_answers`. A column that
    no answer allows is not written; single cells may be missing, unless ``complete`` leaves such rows out. With more
    than one of ``jobs``, processes share the work; the rows keep their order.
    """
    from vecuq.answers import read_answers

    wanted = WantedOfAnswers() if wanted is None else wanted
    wanted.check()
    whole_number("jobs", jobs, 1)
    refuse_place(out, reads=[*answers, *samples])
    reader = read_answers(answers, samples=samples, kind=kind, strict=strict, renormalise=renormalise)
    reader.progress = watch.read
    tally = Tally(wanted.columns)
    # Only after the last answer is it known which columns there are, so the table waits beside until then.
    with TemporaryDirectory(prefix="vecuq-") as folder:
        laid = Path(folder) / "scores.parquet"
        chunks = in_order(partial(measure_chunk, wanted), _chunks(reader), jobs=jobs)
        write_batches(laid, _gathered(tally.noted(chunk, watch) for chunk in chunks))
        tally.refuse_empty(wanted.measures)
        left_out = _write_kept(laid, out, tally, wanted.measures if complete else ())
    return tally.told(reader, left_out)


def _chunks(reader: AnswerReader) -> Iterator[list[AnswerRecord]]:
    stream = iter(reader)
    while chunk := list(islice(stream, CHUNK)):
        yield chunk


def _gathered(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Yield fewer and longer batches: each becomes a group of rows in the file, and many small ones are a burden."""
    import pyarrow as pa

    stream = iter(batches)
    while some := list(islice(stream, _CHUNKS_TOGETHER)):
        yield from pa.Table.from_batches(some).combine_chunks().to_batches()


def measure_chunk(wanted: WantedOfAnswers, records: Sequence[AnswerRecord]) -> MeasuredChunk:
    """Measure some answers; each by itself, so that it makes no difference which ones come together."""
    from vecuq.measures import text

    reasons: Counter[tuple[str, str]] = Counter()
    values, names = np.empty((len(records), len(wanted.columns))), wanted.measures
    for place, record in enumerate(records):
        found = text.measure_answer(text.output_of(record), names, wanted.settings)
        values[place, : len(names)] = [found.values[name] for name in names]
        reasons.update(found.reasons.items())
        if wanted.quality is not None:
            values[place, -1] = _judged(record, wanted.quality, reasons)
    said = [record.greedy for record in records if record.greedy is not None]
    truncated = {(one.entropy_top_k, one.entropy_renormalised) for one in said if one.entropy_top_k is not None}
    return MeasuredChunk([record.id for record in records], values, reasons, truncated)


def _judged(record: AnswerRecord, kind: str, reasons: Counter[tuple[str, str]]) -> float:
    quality = QUALITIES[kind](None if record.greedy is None else record.greedy.text, record.references)
    if math.isnan(quality):
        reasons[QUALITY, "no references" if record.greedy is not None else "no text of the answer"] += 1
    return quality


def _write_kept(laid: Path, out: PathLike, tally: Tally, needed: Sequence[str]) -> int:
    """Write the columns that have cells, and rows that have all needed ones; return how many rows were left out."""
    n_before, n_after, columns = 0, 0, tally.kept

    def batches() -> Iterator[pa.RecordBatch]:
        nonlocal n_before, n_after
        for batch in read_batches(laid):
            whole = _complete(batch.select(["id", *columns]), [name for name in columns if name in needed])
            n_before, n_after = n_before + len(batch), n_after + len(whole)
            yield whole.replace_schema_metadata(tally.metadata)
        if not n_after:
            raise TableError(f"None of the {n_before:,} answers has all measures; name fewer, or keep rows with gaps.")

    write_batches(out, batches())
    return n_before - n_after


def _complete(batch: pa.RecordBatch, needed: Sequence[str]) -> pa.RecordBatch:
    """Return the rows that have a number in every needed column."""
    import pyarrow as pa

    whole = np.ones(len(batch), dtype=bool)
    for name in needed:
        whole &= np.isfinite(batch[name].to_numpy(zero_copy_only=False))
    return batch if whole.all() else batch.filter(pa.array(whole))
