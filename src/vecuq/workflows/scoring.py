"""From a model and a table to a ranked table: reading, scoring and writing overlap."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from copy import copy
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from vecuq._check import one_of, warn_user
from vecuq._run import ahead
from vecuq.errors import MissingValueWarning, ModelFileError, SettingError, TableError
from vecuq.gate import Gate
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
from vecuq.workflows.judging import Judge
from vecuq.workflows.places import ANSWERS, kind_word, load_any_model, refuse_place
from vecuq.workflows.row_order import ordered
from vecuq.workflows.scored_batches import BatchScorer, Wanted
from vecuq.workflows.watch import NOBODY, Watch

if TYPE_CHECKING:
    import pyarrow as pa

    from vecuq.pipeline import VecUQPipeline


@dataclass(frozen=True)
class Scored:
    """A ranked table on disk: how many rows were scored, and how many of them are what."""

    n_rows: int
    n_missing: int  # rows without a score; the column `flagged` is true for them, and `top` leaves them out
    n_flagged: int | None  # rows that are flagged for their p-value
    n_selected: int | None = None
    n_written: int | None = None  # rows in the table, if only the most uncertain are
    n_accepted: int | None = None  # rows that a gate accepts
    n_uncovered: int | None = None  # answers that are not accepted for another number of samples, if there are any

    def to_dict(self) -> dict[str, int | None]:
        """Return the counts by name; those of selected and written rows only where they say something."""
        optional = ("n_selected", "n_written", "n_accepted", "n_uncovered")
        return {name: count for name, count in vars(self).items() if name not in optional or count is not None}


def score(
    model: PathLike,
    new: TableLike,
    out: PathLike,
    *,
    alpha: float | None = None,
    explain: bool = False,
    missing: str = "nan",
    select: str | None = None,
    replace: bool = False,
    sort: bool = False,
    top: int | None = None,
    stdout_format: str = "jsonl",
    by: str | None = None,
    formulas: bool = True,
    force: bool = False,
    watch: Watch = NOBODY,
    confidence: float | None = None,
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
    alpha
        Adds a column ``flagged``.
    explain
        Adds one contribution per score column and, for flagged rows (for all of them without an alpha), the sentence
        ``why``.
    missing
        See :meth:`vecuq.Ranker.rank`.
    select
        ``"bh"`` or ``"by"`` adds a column ``selected``: the out-of-distribution rows of the whole table at
        false-discovery rate ``alpha``, as :meth:`vecuq.Ranker.select` names them. That depends on all rows, so the
        table is read and scored twice. In between only the different p-values are kept, of which there are hardly more
        than held-back rows.
    replace
        Whether columns of an earlier scoring are replaced; otherwise they are an error.
    sort
        Whether the most uncertain rows come first; all rows are then held in memory.
    top
        Write that many of the most uncertain rows only, in this order, none without a score; no more than these are
        held in memory.
    stdout_format
        ``"jsonl"`` or ``"arrow"`` (a stream).
    by
        For a gate with categories: the column that holds them.
    formulas
        Whether texts that a spreadsheet would compute stay as they are in csv and tsv files; otherwise they get an
        apostrophe in front.
    force
        Whether ``out`` may replace a file that the job reads, or one that holds no table.
    watch
        Called as rows are scored.
    confidence
        Of ``alpha`` for this calibration set, instead of on average; see :meth:`vecuq.Ranker.flag`.
    """
    one_of("stdout_format", stdout_format, tuple(STDOUT_FORMATS))
    if stdout_format != "jsonl" and not is_stdio(out):
        raise SettingError(f"stdout_format={stdout_format!r} is for standard output (-); {out} says its own format.")
    wanted = Wanted(alpha, explain, missing, select, replace, sort, top, formulas, confidence)
    found = load_any_model(model)
    refuse_place(out, reads=[model, new], force=force)
    if kind_word(found) == ANSWERS:
        return _score_answers(found, new, out, wanted, by=by, stdout_format=stdout_format, force=force, watch=watch)
    judge = Judge(found, by) if isinstance(found, Gate) else None
    if judge is None and by is not None:
        raise SettingError("by= is for a gate with categories; this is a model without a gate.")
    inside = found if judge is None else judge.gate.model
    return score_rows(
        scoring_model(inside, model), new, out, wanted, stdout_format=stdout_format, judge=judge, watch=watch
    )


def _score_answers(pipeline: Any, new: TableLike, out: PathLike, wanted: Wanted, **how: Any) -> Scored:
    """Decide answers as :func:`score_answers` does, read as they come."""
    from vecuq.workflows.answer_rows import AnswerFiles
    from vecuq.workflows.scoring_answers import score_answers

    return score_answers(pipeline, AnswerFiles.of(new), out, wanted, **how)[0]


def score_rows(
    model: Ranker | VecUQPipeline,
    new: TableLike,
    out: PathLike,
    wanted: Wanted,
    *,
    stdout_format: str = "jsonl",
    judge: Judge | None = None,
    watch: Watch = NOBODY,
) -> Scored:
    """Score a table with a model in memory, as :func:`score` does with a saved one."""
    ranker = model if isinstance(model, Ranker) else model.ranker_
    wanted.refuse(ranker)
    # From csv to csv, the other columns stay the very text that they are.
    typed = is_stdio(out) or not is_text_table(out)
    rows = (
        TableReader(new, columns=ranker.columns, typed=typed)
        if isinstance(model, Ranker)
        else MeasuredOutputs(model, new)
    )
    return write_scored(ranker, rows, out, wanted, stdout_format=stdout_format, judge=judge, watch=watch)


class Rows(Protocol):
    """Rows that can be read in batches, several times."""

    @property
    def schema(self) -> pa.Schema:
        """Names and types of the columns."""

    def batches(self) -> Iterator[pa.RecordBatch]:
        """Yield the rows in batches of bounded length."""


def write_scored(
    ranker: Ranker,
    rows: Rows,
    out: PathLike,
    wanted: Wanted,
    *,
    stdout_format: str = "jsonl",
    judge: Judge | None = None,
    watch: Watch = NOBODY,
) -> Scored:
    """Score rows batch by batch and write them; reading, scoring and writing overlap."""
    scoring = BatchScorer.of(ranker, wanted, rows.schema.names, judge)
    if wanted.select is not None:
        scoring = scoring.with_cutoff(ahead(rows.batches()))
    if judge is not None and judge.needs_all_rows:
        scoring = scoring.with_limits(ahead(rows.batches()))
    counts = RowCounts(wanted, judge)
    ranked = _not_empty(counts.counted(ahead(map(scoring.ranked, ahead(rows.batches()))), watch), counts)
    rows_to_write = ordered(ranked, sort=wanted.sort, top=wanted.top)
    write_batches(out, rows_to_write, stdout_format=stdout_format, formulas=wanted.formulas)
    done = counts.scored()
    warn_of_missing(done, scoring.absent)
    if judge is not None:
        judge.warn_unlike()
    return done


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


class RowCounts:
    """What went by: rows, rows without a score, flagged and selected ones."""

    def __init__(self, wanted: Wanted, judge: Judge | None = None) -> None:
        self.wanted, self.judge = wanted, judge
        optional = (("flagged", wanted.alpha), ("selected", wanted.select), ("accept", judge))
        self.names = [name for name, asked in optional if asked is not None]
        self.counts: Counter[str] = Counter()

    def counted(self, batches: Iterable[pa.RecordBatch], watch: Watch) -> Iterator[pa.RecordBatch]:
        """Pass the ranked batches on, and count their rows."""
        for batch in batches:
            self.counts["rows"] += len(batch)
            self.counts["missing"] += batch["uncertainty"].null_count
            for name in self.names:
                self.counts[name] += batch[name].true_count
            yield batch
            if watch.rows is not None:
                watch.rows(len(batch))

    def scored(self) -> Scored:
        """Return the counts that say something."""
        wanted, n_rows, n_missing = self.wanted, self.counts["rows"], self.counts["missing"]
        return Scored(
            n_rows,
            n_missing,
            self.counts["flagged"] - n_missing if wanted.alpha is not None else None,
            self.counts["selected"] if wanted.select is not None else None,
            min(wanted.top, n_rows - n_missing) if wanted.top is not None else None,
            self.counts["accept"] if "accept" in self.names else None,
            (sum(self.judge.uncovered) or None) if self.judge is not None else None,
        )


def warn_of_missing(done: Scored, absent: Sequence[str]) -> None:
    """Warn of columns that the table lacks, and of rows without a score."""
    if absent:
        warn_user(
            f"The table lacks {sorted(absent)}; rows are scored without, by missing='marginal'.", MissingValueWarning
        )
    if done.n_missing:
        warn_user(
            f"{done.n_missing:,} of {done.n_rows:,} rows have missing or infinite scores and got no uncertainty"
            f"{_fate_of_unscored(done)}.",
            MissingValueWarning,
        )


def _fate_of_unscored(done: Scored) -> str:
    if done.n_written is not None:
        return "; they are not among the most uncertain"
    if done.n_flagged is not None:
        return "; `flagged` is true for them, and the number of flagged rows leaves them out"
    return ""
