"""From log-likelihoods of given choices to a table of classifier measures, in bounded memory."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from vecuq.errors import SettingError, TableError
from vecuq.measures import find_measures
from vecuq.measures import measure as compute
from vecuq.outputs import ClassifierOutputs
from vecuq.table import PathLike, write_batches
from vecuq.workflows.places import refuse_place
from vecuq.workflows.watch import NOBODY, Watch

if TYPE_CHECKING:
    import pyarrow as pa

    from vecuq.answers import ChoiceReader, ChoiceRow

CHOICE_MEASURES = ("msp", "entropy", "margin", "max_logit", "energy")
_ROWS = 4096
_ENDINGS = (".jsonl", ".jsonl.gz", ".ndjson", ".ndjson.gz", ".json", ".json.gz")


@dataclass(frozen=True)
class MeasuredChoices:
    """A table of scores on disk: its rows, how many are wrong (None if no label is known), and what was left out."""

    n_rows: int
    n_errors: int | None
    n_choices: tuple[int, ...]
    columns: tuple[str, ...]
    n_skipped: int
    n_copies: int
    problems: tuple[str, ...]


def holds_choices(path: PathLike) -> bool:
    """Whether a file begins with log-likelihoods of given choices, and is measured as a classifier."""
    from vecuq import answers

    found = Path(path)
    return found.is_file() and found.name.lower().endswith(_ENDINGS) and answers.holds_choices(found)


def measure_choices(
    answers: Sequence[PathLike],
    out: PathLike,
    *,
    measures: Sequence[str] = CHOICE_MEASURES,
    strict: bool = False,
    formulas: bool = True,
    force: bool = False,
    watch: Watch = NOBODY,
) -> MeasuredChoices:
    """Measure the softmax over the log-likelihoods of each document's choices, as one classifier's prediction.

    The columns: ``id``, the measures, and ``label``, ``prediction`` and ``wrong``, of which those are missing that a
    document does not have. Documents may have different numbers of choices.
    """
    from vecuq.answers import read_choices

    _refuse_fitted(measures)
    refuse_place(out, reads=list(answers), force=force)
    reader = read_choices([str(path) for path in answers], strict=strict)
    tally = _Tally()
    names = [measure.name for measure in find_measures(measures)]
    write_batches(out, _batches(reader, measures, tally, watch), formulas=formulas)
    return MeasuredChoices(
        tally.n_rows,
        tally.n_errors if tally.n_labelled else None,
        tuple(sorted(tally.n_choices)),
        tuple(names),
        reader.n_skipped,
        reader.n_copies,
        tuple(reader.problems),
    )


def _refuse_fitted(measures: Sequence[str]) -> None:
    trained = [measure.name for measure in find_measures(measures) if measure.needs == "training"]
    if trained:
        raise SettingError(f"The measures {trained} need embeddings of training rows, which logs of lm-eval lack.")


class _Tally:
    """What is counted on the way."""

    def __init__(self) -> None:
        self.n_rows = self.n_errors = self.n_labelled = 0
        self.n_choices: set[int] = set()

    def count(self, rows: Sequence[ChoiceRow]) -> None:
        self.n_rows += len(rows)
        self.n_choices.update(len(row.logprobs) for row in rows)
        self.n_labelled += sum(row.wrong is not None for row in rows)
        self.n_errors += sum(row.wrong is True for row in rows)


def _batches(reader: ChoiceReader, measures: Sequence[str], tally: _Tally, watch: Watch) -> Iterator[pa.RecordBatch]:
    rows = iter(reader)
    while some := list(islice(rows, _ROWS)):
        tally.count(some)
        yield _batch(some, measures)
        if watch.rows is not None:
            watch.rows(len(some))
    if not tally.n_rows:
        first = f" The first problem: {reader.problems[0]}" if reader.problems else ""
        raise TableError(f"No document could be read.{first}")


def _batch(rows: Sequence[ChoiceRow], measures: Sequence[str]) -> pa.RecordBatch:
    """Return some rows; those with the same number of choices are measured together."""
    import pyarrow as pa

    names = [measure.name for measure in find_measures(measures)]
    values = np.empty((len(rows), len(names)))
    sizes = np.array([len(row.logprobs) for row in rows])
    for size in np.unique(sizes):
        places = np.flatnonzero(sizes == size).tolist()
        logits = np.array([rows[place].logprobs for place in places])
        values[places] = compute(ClassifierOutputs.of(logits=logits), measures).values
    columns: dict[str, Any] = {name: pa.array(values[:, k]) for k, name in enumerate(names)}
    wrong = [None if row.wrong is None else int(row.wrong) for row in rows]
    return pa.RecordBatch.from_pydict(
        {
            "id": pa.array([row.id for row in rows], pa.string()),
            **columns,
            "label": pa.array([row.label for row in rows], pa.int64()),
            "prediction": pa.array([row.prediction for row in rows], pa.int64()),
            "wrong": pa.array(wrong, pa.int8()),
        }
    )
