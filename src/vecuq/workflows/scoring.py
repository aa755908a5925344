"""From a model and a table to a ranked table: reading, scoring and writing overlap."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from vecuq._check import Array, in_range, one_of, wanted_columns, whole_number
from vecuq._run import ahead
from vecuq.conformal import flagged, largest_selected
from vecuq.errors import ColumnError, MissingValueWarning, ModelFileError, SettingError, TableError
from vecuq.outputs import read_outputs
from vecuq.ranker import MISSING_CHOICES, Ranker
from vecuq.table import (
    CONTRIBUTION,
    RESERVED,
    STDOUT_FORMATS,
    ScoreTable,
    TableLike,
    TableReader,
    is_stdio,
    is_text_table,
    write_batches,
)
from vecuq.workflows.places import load_any_model, refuse_place
from vecuq.workflows.watch import NOBODY, PathLike, Watch

if TYPE_CHECKING:
    import pyarrow as pa

    from vecuq.pipeline import VecUQPipeline

# The third choice of Ranker.select, "none", is the column `flagged`.
SELECT = ("bh", "by")
_OURS = (*RESERVED, "selected", "why")


@dataclass(frozen=True)
class Scored:
    """A ranked table on disk: how many rows were scored, and how many of them are what."""

    n_rows: int
    n_missing: int  # rows without a score; the column `flagged` is true for them
    n_flagged: int | None  # rows that are flagged for their p-value
    n_selected: int | None = None
    n_written: int | None = None  # rows in the table, if only the most uncertain are

    def to_dict(self) -> dict[str, int | None]:
        """Return the counts by name; those of selected and written rows only where they say something."""
        optional = ("n_selected", "n_written")
        return {name: count for name, count in vars(self).items() if name not in optional or count is not None}


@dataclass(frozen=True)
class Wanted:
    """What is added to every row, what becomes of rows with missing scores, and the order of the rows."""

    alpha: float | None = None
    explain: bool = False
    missing: str = "nan"
    select: str | None = None
    replace: bool = False
    sort: bool = False
    top: int | None = None

    def __post_init__(self) -> None:
        one_of("missing", self.missing, MISSING_CHOICES)
        if self.alpha is not None:
            in_range("alpha", self.alpha, 0.0, 1.0, ends="()")
        if self.top is not None:
            whole_number("top", self.top, 1)
        if self.select is not None:
            one_of("select", self.select, SELECT)
            if self.alpha is None:
                raise SettingError(
                    f"select={self.select!r} needs a rate. Give alpha=0.1, say: the share of selected rows that may be "
                    f"wrong."
                )

    def refuse(self, ranker: Ranker) -> None:
        """Raise, before any row is read, for what the model cannot deliver."""
        if self.alpha is not None:
            ranker.threshold(self.alpha)
        if self.missing == "marginal":
            ranker.require_kept_rows()
        if self.explain:
            ranker.baseline  # noqa: B018 - old models keep no medians

    def added(self, ranker: Ranker) -> list[str]:
        """Return the columns that a table gets."""
        names = ["uncertainty", *(["p_value"] if ranker.diagnostics.n_held else [])]
        names += [name for name, wanted in (("flagged", self.alpha), ("selected", self.select)) if wanted is not None]
        return [*names, "why", *(CONTRIBUTION + name for name in ranker.columns)] if self.explain else names


PLAIN = Wanted()


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
    watch: Watch = NOBODY,
) -> Scored:
    """Score a table in pieces of bounded size.

    Parameters
    ----------
    model
        A saved ranker; or a saved pipeline, for which ``new`` is a file of a classifier's outputs, whose measures are
        written too.
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
        Write that many of the most uncertain rows only, in this order; no more than these are held in memory.
    stdout_format
        ``"jsonl"`` or ``"arrow"`` (a stream).
    watch
        Called as rows are scored.
    """
    one_of("stdout_format", stdout_format, tuple(STDOUT_FORMATS))
    wanted = Wanted(alpha, explain, missing, select, replace, sort, top)
    found = load_any_model(model)
    refuse_place(out, reads=[model, new])
    ranker = found if isinstance(found, Ranker) else _pipeline(found, model).ranker_
    wanted.refuse(ranker)
    # From csv to csv, the other columns stay the very text that they are.
    typed = is_stdio(out) or not is_text_table(out)
    rows = TableReader(new, columns=ranker.columns, typed=typed) if found is ranker else _Measures(found, new)
    scoring = _Scoring.of(ranker, wanted, rows.schema.names)
    if select is not None:
        scoring = scoring.with_cutoff(ahead(rows.batches()))
    tally = _Tally()
    ranked = tally.counted(ahead(map(scoring.ranked, ahead(rows.batches()))), watch)
    write_batches(out, _ordered(ranked, sort=sort, top=top), stdout_format=stdout_format)
    done = tally.scored(wanted)
    _warn(done, scoring.absent)
    return done


def _pipeline(found: Any, model: PathLike) -> VecUQPipeline:
    """Return what was loaded if it is a pipeline; scikit-learn is imported only for one."""
    from vecuq.pipeline import VecUQPipeline

    if not isinstance(found, VecUQPipeline):
        raise ModelFileError(f"{model} holds a {type(found).__name__}; a model or a pipeline is needed here.")
    return found


@dataclass(frozen=True)
class _Scoring:
    """How every batch of one table is scored: its columns were matched once."""

    ranker: Ranker
    wanted: Wanted
    absent: tuple[str, ...]  # score columns that the table lacks
    dropped: tuple[str, ...]  # columns of an earlier scoring
    cutoff: float | None = None  # the largest p-value of a row that is selected, once all rows were seen

    @staticmethod
    def of(ranker: Ranker, wanted: Wanted, present: Sequence[str]) -> _Scoring:
        """Match the columns of a table with those of the model."""
        absent = tuple(name for name in ranker.columns if name not in present)
        if absent and (wanted.missing != "marginal" or len(absent) == len(ranker.columns)):
            wanted_columns(ranker.columns, present, purpose="needed as score columns")
        ours = {*RESERVED, *wanted.added(ranker)} if not wanted.replace else set()
        taken = [name for name in present if name in ours]
        if taken:
            raise ColumnError(
                f"The table has columns {taken} already, which scoring adds. Rename or drop them, or replace them with "
                f"replace=True."
            )
        return _Scoring(ranker, wanted, absent, tuple(filter(_is_ours, present)) if wanted.replace else ())

    def with_cutoff(self, batches: Iterable[pa.RecordBatch]) -> _Scoring:
        """Find the largest p-value of a row that is selected among all rows of all batches."""
        counts: Counter[float] = Counter()
        n_rows = 0
        for batch in batches:
            p_values = np.asarray(self._rank(self._table_of(batch)).p_values)
            found, times = np.unique(p_values[~np.isnan(p_values)], return_counts=True)
            counts.update(dict(zip(found.tolist(), times.tolist(), strict=True)))
            n_rows += len(batch)
        method = str(self.wanted.select)
        rate = self.ranker.rate_of(self.wanted.alpha, method=method, n_rows=n_rows)
        values = np.array(sorted(counts))
        times = np.array([counts[value] for value in values], dtype=np.intp)
        return replace(self, cutoff=largest_selected(values, times, rate, method))

    def ranked(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """Return the batch with its scores added; a row without a score has nulls there."""
        table = self._table_of(batch)
        ranking = self._rank(table)
        added, flags = {"uncertainty": _nullable(ranking.uncertainty)}, None
        if ranking.p_values is not None:
            added["p_value"] = _nullable(ranking.p_values)
            if self.wanted.alpha is not None:
                flags = flagged(ranking.p_values, self.wanted.alpha)
                added["flagged"] = _nullable(flags)
            if self.cutoff is not None:
                added["selected"] = _nullable(ranking.p_values <= self.cutoff)
        if self.wanted.explain:
            added |= self._reasons(table, flags)
        batch = batch.drop_columns(list(self.dropped)) if self.dropped else batch
        for name, column in added.items():
            batch = batch.append_column(name, column)
        return batch

    def _table_of(self, batch: pa.RecordBatch) -> ScoreTable:
        """Convert a batch, once: into the model's columns and direction."""
        columns, flipped = self.ranker.columns, self.ranker.flipped
        if not self.absent:
            return ScoreTable.of(batch, columns=columns, flip=flipped)
        present = [name for name in columns if name not in self.absent]
        values = np.full((len(batch), len(columns)), np.nan)
        found = ScoreTable.of(batch, columns=present, flip=flipped & set(present)).values
        values[:, [columns.index(name) for name in present]] = found
        return ScoreTable(columns, values, flipped=flipped)

    def _rank(self, table: ScoreTable) -> Any:
        # One count for the whole table, instead of one warning per piece.
        return self.ranker.rank(table, missing=self.wanted.missing, n_jobs=-1, warn=False)

    def _reasons(self, table: ScoreTable, flags: NDArray[np.bool_] | None) -> dict[str, Any]:
        """Return the columns that say why: a sentence for flagged rows, and every column's contribution."""
        import pyarrow as pa

        missing = self.wanted.missing
        contributions = self.ranker.explain(table, missing=missing, n_jobs=-1)
        chosen = np.ones(len(table), dtype=bool) if flags is None else flags
        sentences = iter(self.ranker.reasons(table.values[chosen], contributions[chosen], missing=missing))
        added = {"why": pa.array([next(sentences) if one else None for one in chosen], type=pa.string())}
        names = enumerate(self.ranker.columns)
        return added | {CONTRIBUTION + name: _nullable(contributions[:, k]) for k, name in names}


def _is_ours(name: str) -> bool:
    return name in _OURS or name.startswith(CONTRIBUTION)


def _nullable(values: Array | NDArray[np.bool_]) -> Any:
    import pyarrow as pa

    return pa.array(values, from_pandas=True)


class _Measures:
    """The measures of a file of outputs, read like a table."""

    def __init__(self, pipeline: VecUQPipeline, new: Any) -> None:
        import pyarrow as pa

        outputs = read_outputs(new, temperature=pipeline.temperature_)
        table = pipeline.measure(outputs)
        ids = np.arange(len(table)) if outputs.ids is None else outputs.ids
        self._table = pa.table({"id": ids, **{name: table.values[:, k] for k, name in enumerate(table.columns)}})
        self.schema = self._table.schema

    def batches(self) -> Iterator[pa.RecordBatch]:
        """Yield the rows in batches of bounded length."""
        yield from self._table.to_batches(max_chunksize=65_536)


class _Tally:
    """What went by: rows, rows without a score, flagged and selected ones."""

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()

    def counted(self, batches: Iterable[pa.RecordBatch], watch: Watch) -> Iterator[pa.RecordBatch]:
        """Pass the ranked batches on, and count their rows."""
        for batch in batches:
            self.counts["rows"] += len(batch)
            self.counts["missing"] += batch["uncertainty"].null_count
            for name in ("flagged", "selected"):
                self.counts[name] += batch[name].true_count if name in batch.schema.names else 0
            yield batch
            if watch.rows is not None:
                watch.rows(len(batch))
        if not self.counts["rows"]:
            raise TableError("The new table has no rows, so there is nothing to score.")

    def scored(self, wanted: Wanted) -> Scored:
        """Return the counts that say something."""
        n_rows, n_missing = self.counts["rows"], self.counts["missing"]
        return Scored(
            n_rows,
            n_missing,
            self.counts["flagged"] - n_missing if wanted.alpha is not None else None,
            self.counts["selected"] if wanted.select is not None else None,
            min(wanted.top, n_rows) if wanted.top is not None else None,
        )


def _ordered(batches: Iterable[pa.RecordBatch], *, sort: bool, top: int | None) -> Iterable[pa.RecordBatch]:
    """Return the rows as they come, all of them with the most uncertain first, or so many of the most uncertain."""
    if top is not None:
        return _most_uncertain(batches, top)
    return _sorted(batches) if sort else batches


def _sorted(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    import pyarrow as pa

    yield from _first_rows(pa.Table.from_batches(list(batches)), None).to_batches(max_chunksize=65_536)


def _most_uncertain(batches: Iterable[pa.RecordBatch], top: int) -> Iterator[pa.RecordBatch]:
    """Keep the best so far, and compare every batch with them."""
    import pyarrow as pa

    best = None
    for batch in batches:
        some = _first_rows(pa.Table.from_batches([batch]), top)
        best = some if best is None else _first_rows(pa.concat_tables([best, some]), top)
    if best is not None:
        yield from best.to_batches(max_chunksize=65_536)


def _first_rows(table: pa.Table, most: int | None) -> pa.Table:
    """Return the rows with the most uncertain first, equals in their order, and those without a score last."""
    import pyarrow.compute as pc

    order = pc.sort_indices(table, sort_keys=[("uncertainty", "descending")])
    return table.take(order[:most])


def _warn(done: Scored, absent: Sequence[str]) -> None:
    if absent:
        warnings.warn(
            f"The table lacks {sorted(absent)}; rows are scored without, by missing='marginal'.",
            MissingValueWarning,
            stacklevel=3,
        )
    if done.n_missing:
        also = "" if done.n_flagged is None else "; they count as flagged"
        warnings.warn(
            f"{done.n_missing:,} of {done.n_rows:,} rows have missing or infinite scores and got no uncertainty{also}.",
            MissingValueWarning,
            stacklevel=3,
        )
