"""The whole job on the bundled example: fit, score, evaluate and report into one folder."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from vecuq._files import atomic_folder, write_atomic
from vecuq.errors import TableError
from vecuq.evaluation import Bootstrap, evaluate
from vecuq.ranker import Ranker
from vecuq.table import PathLike, ScoreTable, TableReader, TableSource
from vecuq.workflows.fitting import Fitted, fit
from vecuq.workflows.labels import Labels, label_columns
from vecuq.workflows.places import refuse_folder_name, refuse_names
from vecuq.workflows.report_inputs import About, ReportModel, ReportRows, facts_of_file
from vecuq.workflows.reporting import origin_of, page_of, subject_of, title_of
from vecuq.workflows.scored_rows import Scored
from vecuq.workflows.scoring import score

_MODEL, _RANKED, _PAGE = "model.vecuq", "ranked.csv", "report.html"
_LABELS = Labels(error="is_error", ood="is_ood")
_HEADS = {"error roc_auc": "ROC-AUC errors", "ood roc_auc": "ROC-AUC out-of-distribution"}


@dataclass(frozen=True)
class Demonstrated:
    """A folder with a model, a ranked table and a report, and what the labels say."""

    fitted: Fitted
    scored: Scored
    evaluation: tuple[dict[str, Any], ...]


def demo(folder: PathLike, *, force: bool = False) -> Demonstrated:
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
    refuse_names(folder, {_MODEL: "model", _RANKED: "table", _PAGE: "page"}, force=force)
    with atomic_folder(folder) as part:
        for name, source in tables.items():
            (part / name).write_bytes(source.read_bytes())
        fitted = fit(calibration, part / _MODEL, columns=DEMO_SCORES)
        scored = score(part / _MODEL, new, part / _RANKED)
        evaluation = _areas(part / _RANKED, fitted.ranker)
        write_atomic(part / _PAGE, _page(part / _MODEL, fitted.ranker, Path(folder), tables))
    return Demonstrated(fitted, scored, evaluation)


def _page(model: Path, ranker: Ranker, folder: Path, tables: dict[str, Path]) -> bytes:
    """Return the report; its commands name the files in ``folder``."""
    about = About(_LABELS, calibration=TableSource.of(tables["calibration.csv"]))
    origin = replace(
        origin_of(about, folder / _MODEL, (str(folder / "new.csv"),)),
        calibration=str(folder / "calibration.csv"),
        page=str(folder / _PAGE),
        facts=facts_of_file(model),
    )
    rows = ReportRows(ReportModel(ranker), TableSource.of(tables["new.csv"]), about)
    return page_of(subject_of(rows, origin), title=title_of(origin.new))


def _areas(ranked: Path, ranker: Ranker) -> tuple[dict[str, Any], ...]:
    """Return, for every score column and the uncertainty, the ROC-AUC of errors and of out-of-distribution rows."""
    table = TableReader(ranked).whole()
    scores = ScoreTable.of(table, columns=ranker.columns, flip=ranker.flipped)
    uncertainty = ScoreTable.of(table, columns=["uncertainty"]).values[:, 0]
    found = evaluate(
        {
            name: np.where(np.isfinite(values), values, np.nan)
            for name, values in {**scores.by_name(), "uncertainty": uncertainty}.items()
        },
        **label_columns(table, _LABELS, scores=scores.columns),
        metrics=list(_HEADS),
        bootstrap=Bootstrap(resamples=0),
    )
    return tuple(
        {"score": row["method"], **{_HEADS[key]: value for key, value in row.items() if key != "method"}}
        for row in found.wide_rows()
    )
