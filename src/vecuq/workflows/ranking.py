"""Everything in one go: fit, score, evaluate and report into one folder."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from vecuq._check import Array, wanted_columns
from vecuq.errors import ColumnError, TableError
from vecuq.evaluation import roc_auc
from vecuq.ranker import Ranker, Settings
from vecuq.table import ScoreTable, atomic_folder, kind_of, read_batches, write_atomic
from vecuq.workflows.fitting import Fitted, fit
from vecuq.workflows.scoring import Scored, score
from vecuq.workflows.watch import NOBODY, PathLike, Watch, load_model, refuse_place

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["Labels", "Ranked", "demo", "evaluate_labels", "rank", "report"]


@dataclass(frozen=True)
class Labels:
    """Columns of the new table that say, by 0 / 1 or true / false, which rows are errors and which are foreign."""

    error: str | None = None
    ood: str | None = None


@dataclass(frozen=True)
class Ranked:
    """A folder with a model, a ranked table and a report, and what the labels say if there are any."""

    fitted: Fitted
    scored: Scored
    evaluation: tuple[dict[str, Any], ...]


def rank(
    calibration: PathLike,
    new: PathLike,
    folder: PathLike,
    settings: Settings | None = None,
    *,
    columns: Sequence[str] | None = None,
    flip: Sequence[str] = (),
    labels: Labels | None = None,
    watch: Watch = NOBODY,
) -> Ranked:
    """Fit, score and report in one go: a model, a ranked table and a page in ``folder``."""
    _refuse_absent(labels, new)
    with atomic_folder(folder) as part:
        fitted = fit(calibration, part / "model.vecuq", settings, columns=columns, flip=flip, watch=watch)
        ranked = part / f"ranked{kind_of(new)}"
        scored = score(part / "model.vecuq", new, ranked, watch=watch)
        evaluation = evaluate_labels(ranked, fitted.ranker, labels) if labels else ()
        report(part / "model.vecuq", new, part / "report.html", evaluation=evaluation)
    return Ranked(fitted, scored, evaluation)


def _refuse_absent(labels: Labels | None, new: PathLike) -> None:
    """Raise, before any long work, if a label column is not there."""
    named = [name for name in (labels.error, labels.ood) if name] if labels else []
    if named:
        wanted_columns(dict.fromkeys(named), next(read_batches(new)).schema.names, purpose="named as a label")


def report(model: PathLike, new: PathLike, out: PathLike, *, evaluation: Sequence[dict[str, Any]] = ()) -> None:
    """Write a self-contained HTML page about a ranker and the rows it ranks."""
    import pyarrow as pa

    from vecuq.report import build_report

    refuse_place(out, "A report")
    ranker = load_model(model)
    table = pa.Table.from_batches(list(read_batches(new, columns=ranker.columns)))
    if not len(table):
        raise TableError(f"{new} has no rows to report on.")
    ranking = ranker.rank(ScoreTable.of(table, columns=ranker.columns, flip=ranker.flipped), warn=False)
    page = build_report(ranker, table, ranking, title=Path(new).stem, evaluation=list(evaluation) or None)
    write_atomic(out, page.encode())


def evaluate_labels(ranked: PathLike, ranker: Ranker, labels: Labels) -> tuple[dict[str, Any], ...]:
    """Return, for every score column and the uncertainty, the ROC-AUC of each task that has labels.

    Errors are looked for among in-distribution rows only: on foreign rows every answer is wrong.
    """
    import pyarrow as pa

    table = pa.Table.from_batches(list(read_batches(ranked, columns=ranker.columns)))
    names = (*ranker.columns, "uncertainty")
    scores = ScoreTable.of(table, columns=names, flip=ranker.flipped).values
    scored = np.isfinite(scores).all(axis=1)
    tasks = _tasks(table, ranker.columns, labels)
    return tuple(
        {
            "score": name,
            **{task: roc_auc(scores[rows & scored, k], truth[rows & scored]) for task, (truth, rows) in tasks.items()},
        }
        for k, name in enumerate(names)
    )


def _tasks(table: pa.Table, scores: Sequence[str], labels: Labels) -> dict[str, tuple[Array, NDArray[np.bool_]]]:
    """Return for each task the truth, and on which rows it counts."""
    tasks: dict[str, tuple[Array, NDArray[np.bool_]]] = {}
    own = np.ones(len(table), dtype=bool)
    if labels.ood is not None:
        foreign = label_values(table, labels.ood, scores)
        tasks["ROC-AUC out-of-distribution"] = foreign, np.isfinite(foreign)
        own = foreign == 0
    if labels.error is not None:
        wrong = label_values(table, labels.error, scores)
        tasks = {"ROC-AUC errors": (wrong, np.isfinite(wrong) & own), **tasks}
    return tasks


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
    return rank(calibration, new, folder, columns=columns, labels=Labels(error="is_error", ood="is_ood"))
