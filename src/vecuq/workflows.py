"""The whole jobs, paths in and paths out: fit, score, rank, report, demo, reproduce."""

from __future__ import annotations

import csv
import io
import os
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from vecuq._check import Array, one_of, wanted_columns
from vecuq.errors import CalibrationWarning, ColumnError, MissingValueWarning, TableError
from vecuq.evaluation import roc_auc
from vecuq.ranker import Ranker, Settings, fit_ranker, load
from vecuq.table import (
    EXTENSIONS,
    RESERVED,
    ScoreTable,
    atomic_folder,
    kind_of,
    read_batches,
    read_table,
    refuse_unwritable,
    write_atomic,
    write_batches,
)

if TYPE_CHECKING:
    import pyarrow as pa

    from vecuq.paper import Study

__all__ = ["Fitted", "Ranked", "Scored", "Watch", "demo", "fit", "rank", "ranked_batch", "report", "reproduce", "score"]

PathLike = str | os.PathLike[str]


@dataclass(frozen=True)
class Watch:
    """Whom to tell how far a long job is: every sweep and its marginal error, every piece of scored rows."""

    sweep: Callable[[int, float], None] | None = None
    rows: Callable[[int], None] | None = None


NOBODY = Watch()


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
    watch: Watch = NOBODY,
) -> Fitted:
    """Fit a ranker to a table file and save it."""
    _refuse_place(model, "A model")
    table = read_table(calibration, columns=columns, flip=flip)
    _doubt_direction(table)
    ranker = fit_ranker(table, settings, progress=watch.sweep)
    ranker.save(model)
    return Fitted(ranker, tuple(getattr(table.others, "column_names", ())))


def _doubt_direction(table: ScoreTable) -> None:
    """Warn of a confidence that is taken for an uncertainty; only the user can know."""
    doubtful = [name for name in table.columns if "confidence" in name.lower() and name not in table.flipped]
    if doubtful:
        warnings.warn(
            f"Higher is taken for more uncertain in every score column, and {doubtful} sounds like the contrary. "
            f"If so, name it in flip.",
            CalibrationWarning,
            stacklevel=3,
        )


def _refuse_place(path: PathLike, what: str) -> None:
    """Raise, before any long work, if ``path`` cannot be written or would overwrite a table."""
    if Path(path).suffix.lower() in EXTENSIONS:
        raise TableError(f"{what} is not a table, and {path} is the name of one; choose another name.")
    refuse_unwritable(path)


def _load(model: PathLike) -> Ranker:
    if Path(model).suffix.lower() in EXTENSIONS:
        raise TableError(f"{model} is a table; a model is needed here, and the table comes after it.")
    return load(model)


def score(
    model: PathLike, new: PathLike, out: PathLike, *, alpha: float | None = None, watch: Watch = NOBODY
) -> Scored:
    """Score a table file in pieces of bounded size; ``alpha`` adds a column ``flagged``."""
    ranker = _load(model)
    if alpha is not None:
        ranker.threshold(alpha)  # refuse what cannot be delivered before any row is read
    pieces: list[Scored] = []
    # From csv to csv, the other columns stay the very text that they are.
    batches = read_batches(new, columns=ranker.columns, typed=kind_of(out) != ".csv")
    write_batches(out, _ranked_batches(ranker, batches, alpha, pieces, watch))
    done = Scored(
        sum(piece.n_rows for piece in pieces),
        sum(piece.n_missing for piece in pieces),
        sum(piece.n_flagged or 0 for piece in pieces) if alpha is not None else None,
    )
    if done.n_missing:
        warnings.warn(
            f"{done.n_missing:,} of {done.n_rows:,} rows have missing or infinite scores and got no uncertainty.",
            MissingValueWarning,
            stacklevel=2,
        )
    return done


def ranked_batch(ranker: Ranker, batch: pa.RecordBatch, alpha: float | None = None) -> pa.RecordBatch:
    """Return the batch with its scores added; a row without a score has nulls there."""
    import pyarrow as pa

    taken = [name for name in RESERVED if name in batch.schema.names]
    if taken:
        raise ColumnError(f"The table has columns {taken} already, which scoring adds. Rename or drop them.")
    table = ScoreTable.of(batch, columns=ranker.columns, flip=ranker.flipped)
    with warnings.catch_warnings():
        # One count for the whole table, instead of one warning per piece.
        warnings.simplefilter("ignore", MissingValueWarning)
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


def _ranked_batches(
    ranker: Ranker,
    batches: Iterator[pa.RecordBatch],
    alpha: float | None,
    pieces: list[Scored],
    watch: Watch,
) -> Iterator[pa.RecordBatch]:
    """Yield the batches with their scores, and note in ``pieces`` what went by."""
    for batch in batches:
        ranked = ranked_batch(ranker, batch, alpha)
        flagged = ranked["flagged"].true_count if alpha is not None else None
        pieces.append(Scored(len(batch), ranked["uncertainty"].null_count, flagged))
        yield ranked
        if watch.rows is not None:
            watch.rows(len(batch))
    if not any(piece.n_rows for piece in pieces):
        raise TableError("The new table has no rows, so there is nothing to score.")


def _nullable(values: Array) -> Any:
    import pyarrow as pa

    return pa.array(values, from_pandas=True)


def report(model: PathLike, new: PathLike, out: PathLike, *, evaluation: Sequence[dict[str, Any]] = ()) -> None:
    """Write a self-contained HTML page about a ranker and the rows it ranks."""
    import pyarrow as pa

    from vecuq.report import build_report

    _refuse_place(out, "A report")
    ranker = _load(model)
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
    watch: Watch = NOBODY,
) -> Ranked:
    """Fit, score and report in one go: a model, a ranked table and a page in ``folder``."""
    with atomic_folder(folder) as part:
        fitted = fit(calibration, part / "model.vecuq", settings, columns=columns, flip=flip, watch=watch)
        ranked = part / f"ranked{kind_of(new)}"
        scored = score(part / "model.vecuq", new, ranked, watch=watch)
        evaluation = evaluate_labels(ranked, fitted.ranker, labels) if labels else ()
        report(part / "model.vecuq", new, part / "report.html", evaluation=evaluation)
    return Ranked(fitted, scored, evaluation)


def evaluate_labels(ranked: PathLike, ranker: Ranker, labels: Sequence[str]) -> tuple[dict[str, Any], ...]:
    """Return, for every score column and the uncertainty, the ROC-AUC of telling each label apart."""
    import pyarrow as pa

    table = pa.Table.from_batches(list(read_batches(ranked, columns=ranker.columns)))
    names = (*ranker.columns, "uncertainty")
    scores = ScoreTable.of(table, columns=names, flip=ranker.flipped).values
    truth = {label: label_values(table, label, ranker.columns) for label in labels}
    scored = np.isfinite(scores).all(axis=1)
    known = {label: scored & np.isfinite(values) for label, values in truth.items()}
    return tuple(
        {
            "score": name,
            **{f"ROC-AUC {label}": roc_auc(scores[rows, k], truth[label][rows]) for label, rows in known.items()},
        }
        for k, name in enumerate(names)
    )


def label_values(table: pa.Table, name: str, scores: Sequence[str]) -> Array:
    """Return a column of 0 / 1 or true / false as floats, NaN where there is no label."""
    wanted_columns([name], table.column_names, purpose="named as a label")
    if name in scores:
        raise ColumnError(f"{name!r} cannot be a label and a score at once. Name the score columns without it.")
    try:
        values = ScoreTable.of(table.select([name]), columns=[name]).values[:, 0]
    except ColumnError:
        raise ColumnError(f"A label must be 0 or 1, or true or false; {name!r} holds text.") from None
    wrong = values[~np.isin(values, (0.0, 1.0)) & ~np.isnan(values)]
    if len(wrong):
        raise ColumnError(f"A label must be 0 or 1, or true or false; {name!r} holds {wrong[0]:g}.")
    return values


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
