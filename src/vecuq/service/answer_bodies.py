"""Files of answers as bodies: measured, decided and, if that is wanted, with their texts."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import islice
from typing import TYPE_CHECKING, Any

from vecuq.service.jobs import Job
from vecuq.service.options import bad_option
from vecuq.service.table_bodies import TableToScore, Texts
from vecuq.service.wire import encode
from vecuq.workflows import AnswerFiles, AnswersToScore, answers_to_score

if TYPE_CHECKING:
    import pyarrow as pa

    from vecuq.answers import AnswerRecord
    from vecuq.pipeline import AnswerPipeline


@contextmanager
def opened_answers(job: Job, pipeline: AnswerPipeline) -> Iterator[TableToScore]:
    """Measure the answers of a body; their rows are those of `vecuq score`."""
    asked = job.options
    files = _with_ids(AnswerFiles([job.body], map=_mapped(asked.map)), asked.id)
    with answers_to_score(pipeline, files, asked) as made:
        rows = _WithTexts(made, files) if asked.texts else made.rows
        yield TableToScore(rows, made.deciding, made.beside, _texts(made, files) if job.is_recorded else None)


def _with_ids(files: AnswerFiles, field: str) -> AnswerFiles:
    """Return files whose lines are called by their field of ids, if they have it and the map names no other."""
    if not files.map or "id" in files.map or not files.reader().has_name(field):
        return files
    return replace(files, map={"id": field, **files.map})


def _mapped(given: str | None) -> dict[str, str] | None:
    """Return which fields hold what, as ``vecuq score --map`` takes it."""
    if given is None:
        return None
    pairs = [part.partition("=") for part in given.split(",")]
    if not all(key.strip() and field.strip() for key, _, field in pairs):
        raise bad_option(f"The option map is written as answer=reply,samples=drawn; got {given[:40]!r}.")
    return {key.strip(): field.strip() for key, _, field in pairs}


def text_of(record: AnswerRecord) -> dict[str, Any]:
    """Return question, answer and samples of a record as texts."""
    greedy = None if record.greedy is None else record.greedy.text
    return {"question": record.question, "answer": greedy, "samples": [one.text for one in record.samples]}


def _texts(made: AnswersToScore, files: AnswerFiles) -> Iterator[Texts]:
    """Yield the texts of every batch as JSON, and its ids; the answers are read once more, in the same order.

    The number of a line is no id: the next file has the same numbers.
    """
    reader = files.reader()
    records = iter(reader)
    for batch in made.rows.batches():
        about = [
            (encode(text_of(record)).decode(), record.id if reader.is_named else None)
            for record in islice(records, len(batch))
        ]
        yield Texts([text for text, _ in about], [name for _, name in about])


@dataclass(frozen=True)
class _WithTexts:
    """Measured answers with their texts in front of the measures."""

    made: AnswersToScore
    files: AnswerFiles

    @property
    def schema(self) -> pa.Schema:
        """Names and types of the columns."""
        return next(self.batches()).schema

    def batches(self) -> Iterator[pa.RecordBatch]:
        """Yield the rows in batches of bounded length."""
        import pyarrow as pa

        records = iter(self.files.reader())
        for batch in self.made.rows.batches():
            texts = [text_of(record) for record in islice(records, len(batch))]
            columns = {
                "question": [one["question"] for one in texts],
                "answer": [one["answer"] for one in texts],
                "samples": [encode(one["samples"]).decode() for one in texts],
            }
            for k, (name, cells) in enumerate(columns.items()):
                batch = batch.add_column(1 + k, name, pa.array(cells, pa.string()))  # noqa: PLW2901
            yield batch
