"""From a model and a table file to a ranked table file: reading, scoring and writing overlap."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from vecuq._check import Array, one_of
from vecuq._run import ahead
from vecuq.conformal import flagged, largest_selected
from vecuq.errors import ColumnError, MissingValueWarning, ModelFileError, SettingError, TableError
from vecuq.outputs import read_outputs
from vecuq.pipeline import VecUQPipeline
from vecuq.ranker import MISSING_CHOICES, Ranker
from vecuq.table import CONTRIBUTION, RESERVED, Matching, ScoreTable, kind_of, read_batches, write_batches
from vecuq.workflows.places import load_any_model
from vecuq.workflows.watch import NOBODY, PathLike, Watch

if TYPE_CHECKING:
    import pyarrow as pa

# The third choice of Ranker.select, "none", is the column `flagged`.
SELECT = ("bh", "by")


@dataclass(frozen=True)
class Scored:
    """A ranked table on disk."""

    n_rows: int
    n_missing: int
    n_flagged: int | None
    n_selected: int | None = None

    def to_dict(self) -> dict[str, int | None]:
        """Return the counts by name; that of selected rows only if a selection was asked for."""
        return {name: count for name, count in vars(self).items() if name != "n_selected" or count is not None}


@dataclass(frozen=True)
class Wanted:
    """What is added to every row, and what becomes of rows with missing scores."""

    alpha: float | None = None
    explain: bool = False
    missing: str = "nan"
    select: str | None = None
    cutoff: float | None = None  # the largest p-value of a row that is selected, once all rows were seen

    def refuse(self, ranker: Ranker) -> None:
        """Raise, before any row is read, for what the model cannot deliver."""
        one_of("missing", self.missing, MISSING_CHOICES)
        if self.select is not None:
            one_of("select", self.select, SELECT)
            if self.alpha is None:
                raise SettingError(f"select={self.select!r} needs alpha, the share of selected rows that may be wrong.")
        if self.alpha is not None:
            ranker.threshold(self.alpha)
        if self.missing == "marginal":
            ranker.require_kept_rows()
        if self.explain:
            ranker.baseline  # noqa: B018 - old models keep no medians


PLAIN = Wanted()


def score(
    model: PathLike,
    new: PathLike,
    out: PathLike,
    *,
    alpha: float | None = None,
    explain: bool = False,
    missing: str = "nan",
    select: str | None = None,
    watch: Watch = NOBODY,
) -> Scored:
    """Score a table file in pieces of bounded size.

    ``alpha`` adds a column ``flagged``; ``explain`` adds one contribution per score column and, for flagged rows (for
    all of them without an alpha), the sentence ``why``. For ``missing`` see :meth:`vecuq.Ranker.rank`.

    ``select``, ``"bh"`` or ``"by"``, adds a column ``selected``: the foreign rows of the whole file at false-discovery
    rate ``alpha``, as :meth:`vecuq.Ranker.select` names them. That depends on all rows, so the file is read and scored
    twice. In between only the different p-values are kept, of which there are hardly more than held-back rows.

    With a saved pipeline for a model, ``new`` is a file of a classifier's outputs, and its measures are written too.
    """
    found = load_any_model(model)
    pipeline = found if isinstance(found, VecUQPipeline) else None
    ranker = found if pipeline is None else pipeline.ranker_
    if not isinstance(ranker, Ranker):
        raise ModelFileError(f"{model} holds a {type(found).__name__}; a model or a pipeline is needed here.")
    wanted = Wanted(alpha, explain, missing, select)
    wanted.refuse(ranker)
    read = _reader(pipeline, ranker, new, text=kind_of(out) == ".csv")
    if select is not None:
        wanted = replace(wanted, cutoff=_cutoff(ranker, read(), wanted))
    pieces: list[Scored] = []
    absent: set[str] = set()
    ranked = (ranked_batch(ranker, batch, wanted) for batch in _looked_at(read(), ranker, absent))
    write_batches(out, _noted(ahead(ranked), pieces, watch))
    done = Scored(
        sum(piece.n_rows for piece in pieces),
        sum(piece.n_missing for piece in pieces),
        sum(piece.n_flagged or 0 for piece in pieces) if alpha is not None else None,
        sum(piece.n_selected or 0 for piece in pieces) if select is not None else None,
    )
    if absent:
        told = f"The table lacks {sorted(absent)}; rows are scored without, as missing='marginal' asks."
        warnings.warn(told, MissingValueWarning, stacklevel=2)
    if done.n_missing:
        warnings.warn(
            f"{done.n_missing:,} of {done.n_rows:,} rows have missing or infinite scores and got no uncertainty.",
            MissingValueWarning,
            stacklevel=2,
        )
    return done


def _reader(
    pipeline: VecUQPipeline | None, ranker: Ranker, new: PathLike, *, text: bool
) -> Callable[[], Iterator[pa.RecordBatch]]:
    """Return what reads the rows from the beginning, every time it is called."""
    if pipeline is not None:
        measured = list(_measured_batches(pipeline, new))
        return lambda: iter(measured)
    # From csv to csv, the other columns stay the very text that they are.
    return lambda: ahead(read_batches(new, columns=ranker.columns, typed=not text))


def _cutoff(ranker: Ranker, batches: Iterable[pa.RecordBatch], wanted: Wanted) -> float:
    """Return the largest p-value of a row that is selected among all rows of all batches."""
    counts: Counter[float] = Counter()
    n_rows = 0
    for batch in batches:
        p_values = ranker.p_values(_table_of(ranker, batch, wanted), missing=wanted.missing, warn=False)
        found, times = np.unique(p_values[~np.isnan(p_values)], return_counts=True)
        counts.update(dict(zip(found.tolist(), times.tolist(), strict=True)))
        n_rows += len(batch)
    method = str(wanted.select)
    rate = ranker.rate_of(wanted.alpha, method=method, n_rows=n_rows)
    values = np.array(sorted(counts))
    return largest_selected(values, np.array([counts[value] for value in values], dtype=np.intp), rate, method)


def _looked_at(batches: Iterable[pa.RecordBatch], ranker: Ranker, absent: set[str]) -> Iterator[pa.RecordBatch]:
    """Pass the batches on, and note in ``absent`` which score columns they lack."""
    for batch in batches:
        absent.update(_by_name(ranker).absent_from(batch))
        yield batch


def _measured_batches(pipeline: VecUQPipeline, new: PathLike) -> Iterator[pa.RecordBatch]:
    """Yield the measures of a file of outputs."""
    import pyarrow as pa

    outputs = read_outputs(new, temperature=pipeline.temperature_)
    table = pipeline.measure(outputs)
    ids = np.arange(len(table)) if outputs.ids is None else outputs.ids
    columns = {name: table.values[:, k] for k, name in enumerate(table.columns)}
    yield from pa.table({"id": ids, **columns}).to_batches(max_chunksize=65_536)


def ranked_batch(ranker: Ranker, batch: pa.RecordBatch, wanted: Wanted = PLAIN) -> pa.RecordBatch:
    """Return the batch with its scores added; a row without a score has nulls there."""
    table = _table_of(ranker, batch, wanted)
    # One count for the whole table, instead of one warning per piece.
    ranking = ranker.rank(table, missing=wanted.missing, warn=False)
    added = {"uncertainty": _nullable(ranking.uncertainty)}
    flags = None
    if ranking.p_values is not None:
        added["p_value"] = _nullable(ranking.p_values)
    if wanted.alpha is not None and ranking.p_values is not None:
        flags = flagged(ranking.p_values, wanted.alpha)
        added["flagged"] = _nullable(flags)
    if wanted.cutoff is not None and ranking.p_values is not None:
        added["selected"] = _nullable(ranking.p_values <= wanted.cutoff)
    if wanted.explain:
        added |= _reasons(ranker, table, flags, wanted.missing)
    _refuse_taken({*RESERVED, *added}, batch.schema.names)
    for name, column in added.items():
        batch = batch.append_column(name, column)
    return batch


def _table_of(ranker: Ranker, batch: pa.RecordBatch, wanted: Wanted) -> ScoreTable:
    return ranker.as_table(_by_name(ranker).values_of(batch, fill=wanted.missing == "marginal"))


def _by_name(ranker: Ranker) -> Matching:
    """Match by name, even a model that was fitted on an array: files have names."""
    return Matching(ranker.columns, named=True, flipped=ranker.flipped)


def _reasons(ranker: Ranker, table: ScoreTable, flags: NDArray[np.bool_] | None, missing: str) -> dict[str, Any]:
    """Return the columns that say why: a sentence for flagged rows, and every column's contribution."""
    contributions = ranker.explain(table, missing=missing)
    told = np.ones(len(table), dtype=bool) if flags is None else flags
    sentences = iter(ranker.reasons(table.values[told], contributions[told], missing=missing))
    added = {"why": _texts([next(sentences) if tell else None for tell in told])}
    return added | {CONTRIBUTION + name: _nullable(contributions[:, k]) for k, name in enumerate(ranker.columns)}


def _refuse_taken(ours: set[str], present: Sequence[str]) -> None:
    taken = [name for name in present if name in ours]
    if taken:
        raise ColumnError(f"The table has columns {taken} already, which scoring adds. Rename or drop them.")


def _noted(batches: Iterable[pa.RecordBatch], pieces: list[Scored], watch: Watch) -> Iterator[pa.RecordBatch]:
    """Pass the ranked batches on, and note in ``pieces`` what went by."""
    for batch in batches:
        names = batch.schema.names
        flagged, chosen = (batch[name].true_count if name in names else None for name in ("flagged", "selected"))
        pieces.append(Scored(len(batch), batch["uncertainty"].null_count, flagged, chosen))
        yield batch
        if watch.rows is not None:
            watch.rows(len(batch))
    if not any(piece.n_rows for piece in pieces):
        raise TableError("The new table has no rows, so there is nothing to score.")


def _nullable(values: Array | NDArray[np.bool_]) -> Any:
    import pyarrow as pa

    return pa.array(values, from_pandas=True)


def _texts(values: list[str | None]) -> Any:
    import pyarrow as pa

    return pa.array(values, type=pa.string())
