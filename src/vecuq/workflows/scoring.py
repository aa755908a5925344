"""From a model and a table to a ranked table: reading, scoring and writing overlap."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from copy import copy
from typing import TYPE_CHECKING, Any, Protocol

from vecuq._check import one_of
from vecuq._run import ahead
from vecuq.decide import Deciding
from vecuq.errors import ModelFileError, SettingError, TableError
from vecuq.gate import Gate
from vecuq.options import PLAIN, ScoreOptions
from vecuq.outputs import read_outputs
from vecuq.ranker import Ranker
from vecuq.table import (
    BATCH_ROWS,
    STDOUT_FORMATS,
    PathLike,
    TableLike,
    TableReader,
    is_stdio,
    is_text_table,
    write_batches,
)
from vecuq.workflows.decided_tables import ALONE, Beside, DecidedTable
from vecuq.workflows.places import ANSWERS, kind_word, load_any_model, refuse_place
from vecuq.workflows.row_order import ordered
from vecuq.workflows.scored_rows import RowCounts, Scored, warn_of_missing
from vecuq.workflows.watch import NOBODY, Watch

if TYPE_CHECKING:
    import pyarrow as pa

    from vecuq.pipeline import VecUQPipeline


def score(
    model: PathLike,
    new: TableLike,
    out: PathLike,
    asked: ScoreOptions | None = None,
    *,
    stdout_format: str = "jsonl",
    force: bool = False,
    watch: Watch = NOBODY,
    **options: Any,
) -> Scored:
    """Score a table in pieces of bounded size.

    Parameters
    ----------
    model
        A saved ranker; or a saved pipeline, for which ``new`` is a file of a classifier's outputs, whose measures are
        written too; or a gate on either, which adds ``accept`` and ``p_wrong``. For a pipeline of answers see
        :func:`score_answers`.
    new
        A file, several, a folder of part files, a pattern, or ``-`` for standard input.
    out
        Where the rows go, with columns added; ``-`` is standard output, as ``stdout_format`` says.
    asked
        What is added to the rows; or the fields of :class:`vecuq.options.ScoreOptions` by name, as ``options``. With
        ``select``, or a gate that decides batches, the table is read twice. With ``sort`` all rows are held in memory,
        with ``top`` no more than these.
    stdout_format
        ``"jsonl"`` or ``"arrow"`` (a stream).
    force
        Whether ``out`` may replace a file that the job reads, or one that holds no table.
    watch
        Called as rows are scored.
    """
    one_of("stdout_format", stdout_format, tuple(STDOUT_FORMATS))
    if stdout_format != "jsonl" and not is_stdio(out):
        raise SettingError(f"stdout_format={stdout_format!r} is for standard output (-); {out} says its own format.")
    asked = ScoreOptions(**options) if asked is None else asked
    found = load_any_model(model)
    refuse_place(out, reads=[model, new], force=force)
    if kind_word(found) == ANSWERS:
        from vecuq.workflows.answer_rows import AnswerFiles
        from vecuq.workflows.scoring_answers import score_answers

        how: dict[str, Any] = {"stdout_format": stdout_format, "force": force, "watch": watch}
        return score_answers(found, AnswerFiles.of(new), out, asked, **how)[0]
    return score_rows(found, model, new, out, asked, stdout_format=stdout_format, watch=watch)


def score_rows(
    found: Any, name: PathLike, new: TableLike, out: PathLike, asked: ScoreOptions = PLAIN, **how: Any
) -> Scored:
    """Score a table with a model in memory, called ``name``, as :func:`score` does with a saved one."""
    model, gate = scorers_in(found, name)
    ranker = model if isinstance(model, Ranker) else model.ranker_
    deciding = Deciding(ranker, asked, gate, n_jobs=-1)
    # From csv to csv, the other columns stay the very text that they are.
    typed = is_stdio(out) or not is_text_table(out)
    rows = (
        TableReader(new, columns=ranker.columns, typed=typed)
        if isinstance(model, Ranker)
        else MeasuredOutputs(model, new)
    )
    return write_scored(deciding, rows, out, **how)


class Rows(Protocol):
    """Rows that can be read in batches, several times."""

    @property
    def schema(self) -> pa.Schema:
        """Names and types of the columns."""

    def batches(self) -> Iterator[pa.RecordBatch]:
        """Yield the rows in batches of bounded length."""


def write_scored(
    deciding: Deciding,
    rows: Rows,
    out: PathLike,
    *,
    beside: Beside = ALONE,
    stdout_format: str = "jsonl",
    watch: Watch = NOBODY,
) -> Scored:
    """Score rows batch by batch and write them; reading, scoring and writing overlap."""
    asked = deciding.options
    table = DecidedTable.of(deciding, rows.schema.names, beside)
    if deciding.needs_all_rows:
        table = table.settled(ahead(rows.batches()))
    counts = RowCounts(deciding)
    decided = ahead(map(table.scored, ahead(rows.batches())))
    ranked = _not_empty(counts.counted(decided, watch), counts)
    write_batches(
        out, ordered(ranked, sort=asked.sort, top=asked.top), stdout_format=stdout_format, formulas=asked.formulas
    )
    done = counts.scored()
    warn_of_missing(done, table.absent)
    counts.warn_unlike()
    return done


def scorers_in(found: Any, name: PathLike) -> tuple[Ranker | VecUQPipeline, Gate | None]:
    """Return what was loaded as what scores, and the gate on it if there is one."""
    gate = found if isinstance(found, Gate) else None
    return scoring_model(found if gate is None else gate.model, name), gate


def scoring_model(found: Any, model: PathLike) -> Ranker | VecUQPipeline:
    """Return what was loaded if it can score; scikit-learn is imported only for a pipeline."""
    if isinstance(found, Ranker):
        return found
    from vecuq.pipeline import VecUQPipeline

    if not isinstance(found, VecUQPipeline):
        raise ModelFileError(f"{model} holds a {kind_word(found)}; a model or a pipeline is needed here.")
    return found


class MeasuredOutputs:
    """The measures of a file of outputs, read like a table; with ``labels``, also what they say of each row."""

    def __init__(self, pipeline: VecUQPipeline, new: Any, *, labels: bool = False) -> None:
        import pyarrow as pa

        from vecuq.workflows.measuring import columns_of_labels, plain_ids

        outputs = read_outputs(new, temperature=pipeline.temperature_)
        table = pipeline.measure(outputs)
        known = columns_of_labels(outputs) if labels else {}
        self._table = pa.table({"id": plain_ids(outputs), **table.by_name(), **known})
        self.schema = self._table.schema

    def only(self, names: Sequence[str]) -> MeasuredOutputs:
        """Return the same with some of the columns."""
        narrow = copy(self)
        narrow._table = self._table.select(list(names))
        narrow.schema = narrow._table.schema
        return narrow

    def whole(self) -> pa.Table:
        """Return all rows at once."""
        return self._table

    def batches(self) -> Iterator[pa.RecordBatch]:
        """Yield the rows in batches of bounded length."""
        yield from self._table.to_batches(max_chunksize=BATCH_ROWS)


def _not_empty(batches: Iterable[pa.RecordBatch], counts: RowCounts) -> Iterator[pa.RecordBatch]:
    """Pass the batches on; raise in the end if they have no rows."""
    yield from batches
    if not counts.counts["rows"]:
        raise TableError("The new table has no rows, so there is nothing to score.")
