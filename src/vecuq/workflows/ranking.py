"""Everything in one go: fit, score, evaluate and report into one folder."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from vecuq._check import Array, one_of
from vecuq._files import atomic_folder, write_atomic
from vecuq.errors import TableError
from vecuq.evaluation import Bootstrap, evaluate
from vecuq.ranker import Ranker, Settings
from vecuq.table import PathLike, ScoreTable, TableLike, TableReader, TableSource
from vecuq.workflows.fitting import FIT_MISSING, Fitted, fit
from vecuq.workflows.labels import Labels, label_columns
from vecuq.workflows.places import refuse_folder_name, refuse_names, refuse_stdout
from vecuq.workflows.report_inputs import NO_LABELS, About, ReportModel, ReportRows, facts_of_file, names_of
from vecuq.workflows.reporting import origin_of, page_of, subject_of, title_of
from vecuq.workflows.scored_batches import PLAIN, Wanted
from vecuq.workflows.scoring import Scored, score_rows
from vecuq.workflows.two_tables import doubt_order, doubt_same, refuse_absent, refuse_wrong_tables
from vecuq.workflows.watch import NOBODY, Watch

if TYPE_CHECKING:
    import pyarrow as pa

    from vecuq.report import Origin


_MODEL, _PAGE = "model.vecuq", "report.html"


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
    force: bool = False,
    watch: Watch = NOBODY,
    group: str | None = None,
) -> Ranked:
    """Fit, score and report in one go: a model, a ranked table and a page in ``folder``; all three or nothing.

    ``wanted`` is what :func:`score` adds to the table, and in which order; its alpha is the report's too.
    ``calibration_missing="drop"`` drops incomplete calibration rows, as :func:`fit` does by ``missing="drop"``.
    ``force`` replaces also files that the job reads, or files of another kind. ``group`` is that of :func:`fit`.
    """
    one_of("calibration_missing", calibration_missing, FIT_MISSING)
    refuse_wrong_tables(calibration, new)
    refuse_stdout(folder, "A folder")
    refuse_folder_name(folder)
    rows = TableSource.of(new)
    names = {_MODEL: "model", f"ranked{rows.kind}": "table", _PAGE: "page"}
    refuse_names(folder, names, reads=[calibration, new], force=force)
    known = TableSource.of(calibration)
    refuse_absent(labels, rows, known)
    doubt_same(known, rows)
    fitting = {"columns": columns, "flip": flip, "missing": calibration_missing, "group": group}
    about = About(labels or NO_LABELS, calibration=known, calibration_group=group)
    origin = replace(origin_of(about, Path(folder) / _MODEL, names_of(new)), page=str(Path(folder) / _PAGE))
    with atomic_folder(folder) as part:
        return _rank_into(
            part, known, rows, settings, fitting=fitting, about=about, origin=origin, wanted=wanted, watch=watch
        )


def _rank_into(
    part: Path,
    calibration: TableSource,
    rows: TableSource,
    settings: Settings | None,
    *,
    fitting: dict[str, Any],
    about: About,
    origin: Origin,
    wanted: Wanted = PLAIN,
    watch: Watch = NOBODY,
) -> Ranked:
    """Write model, ranked table and page into a folder; ``origin`` says how the page names them."""
    ranked, hint = part / f"ranked{rows.kind}", "calibration_missing='drop'"
    fitted = fit(calibration, part / _MODEL, settings, **fitting, drop_hint=hint, watch=watch)
    scored = score_rows(fitted.ranker, rows, ranked, wanted, watch=watch)
    evaluation = evaluate_labels(ranked, fitted.ranker, about.labels) if about.labels.named() else ()
    new = ReportRows(ReportModel(fitted.ranker).at(wanted.alpha), rows, about, wanted.missing)
    subject = subject_of(new, replace(origin, facts=facts_of_file(part / _MODEL)))
    write_atomic(part / _PAGE, page_of(subject, title=title_of(origin.new)))
    doubt_order(fitted.ranker, subject.uncertainty)
    return Ranked(fitted, scored, evaluation)


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


def demo(folder: PathLike, *, force: bool = False) -> Ranked:
    """Run the whole job on the bundled example, an ensemble on handwritten digits, and leave its tables in ``folder``.

    ``calibration.csv`` and ``new.csv`` are there to try other commands on. ``force`` replaces whatever is there.
    """
    from vecuq.data import DEMO_SCORES, demo_files

    refuse_folder_name(folder)
    calibration, new = demo_files()
    tables = {"calibration.csv": calibration, "new.csv": new}
    for name, source in tables.items():
        path = Path(folder) / name
        if not force and path.exists() and path.read_bytes() != source.read_bytes():
            raise TableError(
                f"{path} is there and is not the bundled table. Choose another folder for the demo, or replace it with "
                f"force=True."
            )
    refuse_names(folder, {_MODEL: "model", "ranked.csv": "table", _PAGE: "page"}, force=force)
    known, rows = TableSource.of(calibration), TableSource.of(new)
    with atomic_folder(folder) as part:
        for name, source in tables.items():
            (part / name).write_bytes(source.read_bytes())
        about = About(Labels(error="is_error", ood="is_ood"), calibration=known)
        origin = origin_of(about, Path(folder) / _MODEL, (str(Path(folder) / "new.csv"),))
        origin = replace(origin, calibration=str(Path(folder) / "calibration.csv"), page=str(Path(folder) / _PAGE))
        return _rank_into(part, known, rows, None, fitting={"columns": DEMO_SCORES}, about=about, origin=origin)
