"""Everything in one go: fit, score, evaluate and report into one folder."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from vecuq._check import Array, one_of, wanted_columns
from vecuq._files import atomic_folder, write_atomic
from vecuq.errors import TableError
from vecuq.evaluation import Bootstrap, evaluate
from vecuq.ranker import Ranker, Settings
from vecuq.table import PathLike, ScoreTable, TableLike, TableReader, TableSource, is_stdio
from vecuq.workflows.fitting import FIT_MISSING, Fitted, fit
from vecuq.workflows.labels import Labels, label_columns
from vecuq.workflows.places import load_model, refuse_overwriting, refuse_place, refuse_stdout
from vecuq.workflows.scored_batches import PLAIN, Wanted
from vecuq.workflows.scoring import Scored, score_rows
from vecuq.workflows.watch import NOBODY, Watch

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True)
class Ranked:
    """A folder with a model, a ranked table and a report, and what the labels say if there are any."""

    fitted: Fitted
    scored: Scored
    evaluation: tuple[dict[str, Any], ...]


def rank(
    calibration: TableLike,
    new: TableLike,
    folder: PathLike,
    settings: Settings | None = None,
    *,
    columns: Sequence[str] | None = None,
    flip: Sequence[str] | None = None,
    labels: Labels | None = None,
    wanted: Wanted = PLAIN,
    calibration_missing: str = "error",
    watch: Watch = NOBODY,
) -> Ranked:
    """Fit, score and report in one go: a model, a ranked table and a page in ``folder``.

    ``wanted`` is what :func:`score` adds to the table, and in which order; its alpha is the report's too.
    ``calibration_missing="drop"`` drops incomplete calibration rows, as :func:`fit` does by ``missing="drop"``.
    """
    one_of("calibration_missing", calibration_missing, FIT_MISSING)
    _refuse_one_input(calibration, new)
    refuse_stdout(folder, "A folder")
    refuse_overwriting(Path(folder) / "report.html", [calibration, new])
    rows = TableSource.of(new)
    refuse_overwriting(Path(folder) / f"ranked{rows.kind}", [calibration, rows])
    _refuse_absent(labels, rows)
    with atomic_folder(folder) as part:
        ranked = part / f"ranked{rows.kind}"
        fitted = fit(
            calibration,
            part / "model.vecuq",
            settings,
            columns=columns,
            flip=flip,
            missing=calibration_missing,
            drop_hint="calibration_missing='drop'",
            watch=watch,
        )
        scored = score_rows(fitted.ranker, rows, ranked, wanted, watch=watch)
        evaluation = evaluate_labels(ranked, fitted.ranker, labels) if labels else ()
        write_report(
            fitted.ranker, rows, part / "report.html", alpha=wanted.alpha, missing=wanted.missing, evaluation=evaluation
        )
    return Ranked(fitted, scored, evaluation)


def _refuse_one_input(calibration: TableLike, new: TableLike) -> None:
    if is_stdio(calibration) and is_stdio(new):
        raise TableError("Standard input can be the calibration rows or the new rows, not both.")


def _refuse_absent(labels: Labels | None, new: TableSource) -> None:
    """Raise, before any long work, if a label column is not there."""
    named = labels.named().values() if labels else ()
    if named:
        wanted_columns(dict.fromkeys(named), TableReader(new, typed=False).schema.names, purpose="named as a label")


def report(
    model: PathLike,
    new: TableLike,
    out: PathLike,
    *,
    alpha: float | None = None,
    missing: str = "nan",
    labels: Labels | None = None,
) -> None:
    """Write a self-contained HTML page about a ranker and the rows it ranks.

    ``alpha`` is the false-alarm rate of the threshold, by default that of the model; for ``missing`` see
    :meth:`vecuq.Ranker.rank`. With ``labels``, the page says how well each score finds what it should.
    """
    ranker = load_model(model)
    refuse_place(out, what="A report", reads=[model, new])
    Wanted(alpha=alpha, missing=missing).refuse(ranker)
    write_report(ranker, TableSource.of(new), out, alpha=alpha, missing=missing, labels=labels)


def write_report(
    ranker: Ranker,
    new: TableSource,
    out: PathLike,
    *,
    alpha: float | None = None,
    missing: str = "nan",
    labels: Labels | None = None,
    evaluation: Sequence[dict[str, Any]] = (),
) -> None:
    """Rank the rows once more and write the page."""
    from vecuq.report import build_report

    if alpha is not None:
        ranker = replace(ranker, settings=replace(ranker.settings, alpha=alpha))
    table = TableReader(new, columns=ranker.columns).whole()
    if missing == "marginal":
        table = _with_every_column(table, ranker)
    scores = ScoreTable.of(table, columns=ranker.columns, flip=ranker.flipped)
    ranking = ranker.rank(scores, missing=missing, warn=False)
    if labels is not None:
        evaluation = _areas(table, scores, ranking.uncertainty, labels)
    page = build_report(ranker, table, ranking, title=_title(new), evaluation=list(evaluation) or None)
    write_atomic(out, page.encode())


def _with_every_column(table: pa.Table, ranker: Ranker) -> pa.Table:
    """Return the table with nothing but missing values in the columns that it lacks."""
    import pyarrow as pa

    for name in ranker.columns:
        if name not in table.column_names:
            table = table.append_column(name, pa.nulls(len(table), pa.float64()))
    return table


def _title(new: TableSource) -> str:
    return Path(str(new)).name.partition(".")[0] or str(new)


def evaluate_labels(ranked: PathLike, ranker: Ranker, labels: Labels) -> tuple[dict[str, Any], ...]:
    """Return, for every score column and the uncertainty, the ROC-AUC of each task that has labels.

    Errors are looked for among in-distribution rows only: on out-of-distribution rows every answer is wrong.
    """
    table = TableReader(ranked).whole()
    scores = ScoreTable.of(table, columns=ranker.columns, flip=ranker.flipped)
    return _areas(table, scores, ScoreTable.of(table, columns=["uncertainty"]).values[:, 0], labels)


def _areas(table: pa.Table, scores: ScoreTable, uncertainty: Array, labels: Labels) -> tuple[dict[str, Any], ...]:
    """Return the ROC-AUC of every score column and of the uncertainty, by what the labels say."""
    methods = scores.by_name() | {"uncertainty": uncertainty}
    found = evaluate(
        {name: np.where(np.isfinite(values), values, np.nan) for name, values in methods.items()},
        **label_columns(table, labels, scores=scores.columns),
        metrics=["error roc_auc", "ood roc_auc"],
        bootstrap=Bootstrap(resamples=0),
    )
    heads = {"error roc_auc": "ROC-AUC errors", "ood roc_auc": "ROC-AUC out-of-distribution"}
    return tuple(
        {"score": row["method"], **{heads[key]: value for key, value in row.items() if key != "method"}}
        for row in found.wide_rows()
    )


def demo(folder: PathLike) -> Ranked:
    """Run the whole job on the bundled example, an ensemble on handwritten digits, and leave its tables in ``folder``.

    ``calibration.csv`` and ``new.csv`` are there to try other commands on.
    """
    from vecuq.data import DEMO_SCORES, demo_files

    calibration, new = demo_files()
    tables = {Path(folder) / "calibration.csv": calibration, Path(folder) / "new.csv": new}
    for path, source in tables.items():
        if path.exists() and path.read_bytes() != source.read_bytes():
            raise TableError(f"{path} is there and is not the bundled table. Choose another folder for the demo.")
    done = rank(calibration, new, folder, columns=DEMO_SCORES, labels=Labels(error="is_error", ood="is_ood"))
    for path, source in tables.items():
        write_atomic(path, source.read_bytes())
    return done
