"""Everything in one go: fit, score, evaluate and report into one folder."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from vecuq._check import wanted_columns
from vecuq._files import atomic_folder, write_atomic
from vecuq.errors import TableError
from vecuq.evaluation import Bootstrap, evaluate
from vecuq.ranker import Ranker, Settings
from vecuq.table import ScoreTable, kind_of, read_batches
from vecuq.workflows.fitting import Fitted, fit
from vecuq.workflows.labels import Labels, label_columns, read_whole
from vecuq.workflows.places import load_model, refuse_place
from vecuq.workflows.scoring import Scored, score
from vecuq.workflows.watch import NOBODY, PathLike, Watch


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
    named = labels.named().values() if labels else ()
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

    Errors are looked for among in-distribution rows only: on out-of-distribution rows every answer is wrong.
    """
    table = read_whole(ranked)
    names = (*ranker.columns, "uncertainty")
    scores = ScoreTable.of(table, columns=names, flip=ranker.flipped).values
    found = evaluate(
        {name: np.where(np.isfinite(scores[:, k]), scores[:, k], np.nan) for k, name in enumerate(names)},
        **label_columns(table, labels, scores=ranker.columns),
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
    done = rank(calibration, new, folder, columns=DEMO_SCORES, labels=Labels(error="is_error", ood="is_ood"))
    for source, name in ((calibration, "calibration.csv"), (new, "new.csv")):
        write_atomic(Path(folder) / name, source.read_bytes())
    return done
