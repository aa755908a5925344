"""The whole jobs, paths in and paths out: fit, score, rank, report, demo, reproduce."""

from __future__ import annotations

import csv
import io
import os
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from vecuq._check import Array, one_of
from vecuq.errors import ColumnError, MissingValueWarning, TableError
from vecuq.evaluation import roc_auc
from vecuq.ranker import Ranker, Settings, fit_ranker, load
from vecuq.table import RESERVED, ScoreTable, read_batches, read_table, write_atomic, write_batches

if TYPE_CHECKING:
    import pyarrow as pa

    from vecuq.paper import Study

__all__ = ["Fitted", "Ranked", "Scored", "demo", "fit", "rank", "report", "reproduce", "score"]

PathLike = str | os.PathLike[str]
Advance = Callable[[int], None]


@dataclass(frozen=True)
class Fitted:
    """A model on disk, and the columns of its table that were set aside."""

    ranker: Ranker
    set_aside: tuple[str, ...]


@dataclass(frozen=True)
class Scored:
    """A ranked table on disk."""

    n_rows: int
    n_missing: int
    n_flagged: int | None


@dataclass(frozen=True)
class Ranked:
    """A folder with a model, a ranked table and a report, and what the labels say if there are any."""

    fitted: Fitted
    scored: Scored
    evaluation: tuple[dict[str, Any], ...]


def fit(
    calibration: PathLike,
    model: PathLike,
    settings: Settings | None = None,
    *,
    columns: Sequence[str] | None = None,
    flip: Sequence[str] = (),
) -> Fitted:
    """Fit a ranker to a table file and save it."""
    table = read_table(calibration, columns=columns, flip=flip)
    ranker = fit_ranker(table, settings)
    ranker.save(model)
    return Fitted(ranker, _names(table.others))


def _names(frame: Any) -> tuple[str, ...]:
    return tuple(getattr(frame, "column_names", ()))


def score(
    model: PathLike, new: PathLike, out: PathLike, *, alpha: float | None = None, advance: Advance | None = None
) -> Scored:
    """Score a table file in pieces of bounded size; ``alpha`` adds a column ``flagged``."""
    ranker = load(model)
    if alpha is not None:
        ranker.threshold(alpha)  # refuse what cannot be delivered before any row is read
    n_rows = n_missing = n_flagged = 0
    with write_batches(out) as write, warnings.catch_warnings():
        # One count for the whole file, in the result, instead of one warning per piece.
        warnings.simplefilter("ignore", MissingValueWarning)
        for batch in read_batches(new, columns=ranker.columns):
            ranked = ranked_batch(ranker, batch, alpha)
            write(ranked)
            n_rows += len(batch)
            n_missing += ranked["uncertainty"].null_count
            n_flagged += sum(ranked["flagged"].to_pylist()) if alpha is not None else 0
            if advance is not None:
                advance(len(batch))
    return Scored(n_rows, n_missing, n_flagged if alpha is not None else None)


def ranked_batch(ranker: Ranker, batch: pa.RecordBatch, alpha: float | None = None) -> pa.RecordBatch:
    """Return the batch with its scores added; a row without a score has nulls there."""
    import pyarrow as pa

    taken = [name for name in RESERVED if name in batch.schema.names]
    if taken:
        raise ColumnError(f"The table has columns {taken} already, which scoring adds. Rename or drop them.")
    table = ScoreTable.of(pa.Table.from_batches([batch]), columns=ranker.columns, flip=ranker.flipped)
    ranking = ranker.rank(table)
    added = {"uncertainty": _nullable(ranking.uncertainty)}
    if ranking.p_values is not None:
        added["p_value"] = _nullable(ranking.p_values)
    if alpha is not None and ranking.p_values is not None:
        # A row that could not be scored is flagged: nothing says that it is in-distribution.
        added["flagged"] = pa.array(~(ranking.p_values > alpha * (1 + 1e-12)))
    for name, column in added.items():
        batch = batch.append_column(name, column)
    return batch


def _nullable(values: Array) -> Any:
    import pyarrow as pa

    return pa.array(values, from_pandas=True)


def report(model: PathLike, new: PathLike, out: PathLike, *, evaluation: Sequence[dict[str, Any]] = ()) -> None:
    """Write a self-contained HTML page about a ranker and the rows it ranks."""
    import pyarrow as pa

    from vecuq.report import build_report

    ranker = load(model)
    table = pa.Table.from_batches(list(read_batches(new, columns=ranker.columns)))
    if not len(table):
        raise TableError(f"{new} has no rows to report on.")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", MissingValueWarning)
        ranking = ranker.rank(ScoreTable.of(table, columns=ranker.columns, flip=ranker.flipped))
    page = build_report(ranker, table, ranking, title=Path(new).stem, evaluation=list(evaluation) or None)
    write_atomic(out, page.encode())


def rank(
    calibration: PathLike,
    new: PathLike,
    folder: PathLike,
    settings: Settings | None = None,
    *,
    columns: Sequence[str] | None = None,
    flip: Sequence[str] = (),
    labels: Sequence[str] = (),
) -> Ranked:
    """Fit, score and report in one go: a model, a ranked table and a page in ``folder``."""
    out = Path(folder)
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise TableError(f"The folder {out} cannot be made: {error.strerror}.") from None
    fitted = fit(calibration, out / "model.vecuq", settings, columns=columns, flip=flip)
    kind = Path(new).suffix.lower()
    ranked = out / f"ranked{kind}"
    scored = score(out / "model.vecuq", new, ranked)
    evaluation = evaluate_labels(ranked, fitted.ranker, labels) if labels else ()
    report(out / "model.vecuq", new, out / "report.html", evaluation=evaluation)
    return Ranked(fitted, scored, evaluation)


def evaluate_labels(ranked: PathLike, ranker: Ranker, labels: Sequence[str]) -> tuple[dict[str, Any], ...]:
    """Return, for every score column and the uncertainty, the ROC-AUC of telling each label apart."""
    names = (*ranker.columns, "uncertainty")
    values = read_table(ranked, columns=[*names, *labels], flip=ranker.flipped).values
    values = values[np.isfinite(values).all(axis=1)]
    rows = []
    for k, name in enumerate(names):
        aucs = {f"ROC-AUC {label}": roc_auc(values[:, k], values[:, len(names) + j]) for j, label in enumerate(labels)}
        rows.append({"score": name, **aucs})
    return tuple(rows)


def demo(folder: PathLike) -> Ranked:
    """Run the whole job on the bundled example: an ensemble on handwritten digits."""
    from vecuq.data import demo_files

    calibration, new = demo_files()
    columns = ("entropy", "mutual_information", "mahalanobis", "knn")
    return rank(calibration, new, folder, columns=columns, labels=("is_error", "is_ood"))


def reproduce(name: str, folder: PathLike | None = None) -> tuple[Study, ...]:
    """Run one of the paper's studies, or all; write their tables as csv into ``folder`` if there is one."""
    from vecuq.paper import STUDIES

    chosen = tuple(STUDIES) if name == "all" else (one_of("study", name, (*STUDIES, "all")),)
    studies = tuple(STUDIES[study]() for study in chosen)
    for study in studies if folder is not None else ():
        Path(folder or ".").mkdir(parents=True, exist_ok=True)
        write_atomic(Path(folder or ".") / f"{study.name}.csv", _csv_bytes(study.rows))
    return studies


def _csv_bytes(rows: Sequence[dict[str, Any]]) -> bytes:
    text = io.StringIO()
    writer = csv.DictWriter(text, fieldnames=list(rows[0]))
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue().encode()
