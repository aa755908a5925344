"""From tables with labels to numbers: what each score is worth, and which way to combine them is best."""

from __future__ import annotations

import warnings
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from vecuq import evaluation
from vecuq._check import Array, wanted_columns
from vecuq._draw import FORMATS, Sheet
from vecuq._files import refuse_unwritable, write_atomic
from vecuq.errors import ColumnError, MissingValueWarning, SettingError, TableError, VecuqError, VecuqWarning
from vecuq.evaluation import Bootstrap, Evaluation, SelectiveCurves
from vecuq.ranker import Settings, fit_ranker
from vecuq.table import RESERVED, ScoreTable, read_batches, write_batches
from vecuq.workflows.watch import PathLike

if TYPE_CHECKING:
    import pyarrow as pa

# One metric per task decides a comparison; the first of each that has labels.
DECIDING = (
    "ood roc_auc",
    "error roc_auc",
    "selective accuracy_coverage_area",
    "generation prediction_rejection_ratio",
)
# How curves are written: as a picture or as numbers.
CURVES = ("png", "svg", "csv")


@dataclass(frozen=True)
class Labels:
    """Columns that say what is true of a row: wrong, foreign (0 / 1 or true / false), or how good the answer is."""

    error: str | None = None
    ood: str | None = None
    quality: str | None = None

    def named(self) -> dict[str, str]:
        """Return the columns that were named, by what they say."""
        return {task: column for task, column in vars(self).items() if column}


@dataclass(frozen=True)
class Compared:
    """Every way to combine the scores, fitted on calibration rows and evaluated on test rows."""

    evaluation: Evaluation
    sheet: Sheet
    components: tuple[str, ...]
    failed: dict[str, str]  # methods that could not be fitted, with the reason


def evaluate(
    table: PathLike,
    labels: Labels,
    *,
    columns: Sequence[str] | None = None,
    flip: Sequence[str] = (),
    metrics: Sequence[str] | None = None,
    bootstrap: Bootstrap | None = None,
    curves: PathLike | None = None,
) -> Evaluation:
    """Evaluate every score column of a table with labels, and its ``uncertainty`` if it has one.

    With ``curves``, how selective use pays is written there too; see :func:`write_curves`.
    """
    if curves is not None:
        curves_ending(curves, labels, taken=[table])
        refuse_unwritable(curves)
    whole = read_whole(table)
    truth = label_columns(whole, labels, scores=columns or ())
    scores = _scores(whole, labels, columns, flip)
    methods = {name: scores.values[:, k] for k, name in enumerate(scores.columns)}
    if columns is None:
        _tell_unread(whole, {*scores.columns, *labels.named().values()})
    if columns is None and "uncertainty" in {*whole.column_names} - {*labels.named().values()}:
        methods["uncertainty"] = ScoreTable.of(whole, columns=["uncertainty"]).values[:, 0]
    found = evaluation.evaluate(methods, **truth, metrics=metrics, bootstrap=bootstrap)
    if curves is not None:
        write_curves(evaluation.selective_curves(methods, **truth), curves)
    return found


def compare(
    calibration: PathLike,
    test: PathLike,
    labels: Labels,
    *,
    columns: Sequence[str] | None = None,
    flip: Sequence[str] = (),
    bootstrap: Bootstrap | None = None,
) -> Compared:
    """Fit vecuq and every baseline on the calibration rows alone, and evaluate them all on the test rows."""
    fitted_on = _scores(read_whole(calibration), labels, columns, flip)
    whole = read_whole(test)
    truth = label_columns(whole, labels, scores=fitted_on.columns)
    new = ScoreTable.of(whole, columns=fitted_on.columns, flip=flip)
    combined, failed = _fitted_methods(fitted_on, new, bootstrap)
    components = {_beside(name, combined): new.values[:, k] for k, name in enumerate(new.columns)}
    ours = {name: found for name, found in combined.items() if not name.endswith("()")}
    methods = ours | components | combined
    found = evaluation.evaluate(methods, **truth, bootstrap=bootstrap)
    known = [one.metric.key for one in found.comparisons]
    sheet = evaluation.comparison_sheet(found, [key for key in DECIDING if key in known], tuple(components))
    return Compared(found, sheet, tuple(components), failed)


def _fitted_methods(
    calibration: ScoreTable, new: ScoreTable, bootstrap: Bootstrap | None
) -> tuple[dict[str, Array], dict[str, str]]:
    """Return the uncertainty by every method; what cannot be fitted to these rows is named with its reason."""
    from vecuq.baselines import baselines

    seed = bootstrap.random_state if bootstrap else None
    methods: dict[str, Array] = {
        "vecuq": fit_ranker(calibration, Settings(random_state=seed)).rank(new, warn=False).uncertainty,
        "vecuq (paper)": fit_ranker(calibration, Settings.paper()).rank(new, warn=False).uncertainty,
    }
    failed: dict[str, str] = {}
    for baseline in baselines().values():
        name = f"{baseline.name}()"
        try:
            with warnings.catch_warnings():  # rows without a score are told of once, for all methods together
                warnings.simplefilter("ignore", MissingValueWarning)
                methods[name] = baseline.make().fit(calibration).uncertainty(new)
        except VecuqError as error:
            failed[name] = str(error)
    return methods, failed


def _beside(column: str, taken: Collection[str]) -> str:
    """Return what a column is called beside methods, one of which may have its very name."""
    return f"{column} (column)" if column in taken else column


def read_whole(path: PathLike) -> pa.Table:
    """Read a table file as a whole; evaluation looks at all rows at once."""
    import pyarrow as pa

    table = pa.Table.from_batches(list(read_batches(path)))
    if not len(table):
        raise TableError(f"{path} has no rows.")
    return table


def _scores(table: pa.Table, labels: Labels, columns: Sequence[str] | None, flip: Sequence[str]) -> ScoreTable:
    """Return the score columns: those that were named, or all that look like scores and are no labels."""
    plain = table.drop_columns([name for name in dict.fromkeys(labels.named().values()) if name in table.column_names])
    return ScoreTable.of(table if columns else plain, columns=columns, flip=flip)


def _tell_unread(table: pa.Table, read: Collection[str]) -> None:
    """Warn of columns of whole numbers, which were not taken for scores."""
    import pyarrow as pa

    unread = [
        field.name for field in table.schema if field.name not in {*read, *RESERVED} and pa.types.is_integer(field.type)
    ]
    if unread:
        told = f"Not evaluated, being whole numbers: {', '.join(unread)}. Name score columns to choose others."
        warnings.warn(told, VecuqWarning, stacklevel=3)


def label_columns(table: pa.Table, labels: Labels, *, scores: Sequence[str] = ()) -> dict[str, Array]:
    """Return the labels of a table by what they say, as floats, NaN where there is none."""
    named = labels.named()
    if not named:
        raise TableError("There are no labels to evaluate with. Name a column with --error, --ood or --quality.")
    wanted_columns(dict.fromkeys(named.values()), table.column_names, purpose="named as a label")
    return {task: _label(table, column, task, scores) for task, column in named.items()}


def _label(table: pa.Table, name: str, task: str, scores: Sequence[str]) -> Array:
    wanted = "a number" if task == "quality" else "0 or 1, or true or false"
    if name in scores:
        raise ColumnError(f"{name!r} cannot be a label and a score at once. Name the score columns without it.")
    try:
        values = ScoreTable.of(table.select([name]), columns=[name]).values[:, 0]
    except ColumnError:
        raise ColumnError(f"A label must be {wanted}; {name!r} holds text.") from None
    wrong = values[~np.isin(values, (0.0, 1.0)) & ~np.isnan(values)] if task != "quality" else values[:0]
    if len(wrong):
        raise ColumnError(f"A label must be {wanted}; {name!r} holds {wrong[0]:g}.")
    return values


def write_evaluation(found: Evaluation, out: PathLike) -> None:
    """Write an evaluation by the ending of the file: csv with one line per number, or a table per task (md, tex)."""
    if ending_of(out) == "csv":
        write_sheets([Sheet("evaluation", "Every metric of every score", tuple(found.rows()))], out)
    else:
        write_sheets(evaluation.task_sheets(found), out)


def write_sheets(sheets: Sequence[Sheet], out: PathLike) -> None:
    """Write tables one after the other into one file, as its ending says: csv, md (Markdown) or tex (LaTeX)."""
    write_atomic(out, "\n".join(FORMATS[ending_of(out)](sheet) for sheet in sheets).encode())


def write_curves(curves: Sequence[SelectiveCurves], out: PathLike) -> None:
    """Write how selective use pays as the ending of the file says: a picture (png, svg) or every number (csv).

    The csv has one line per point: task (``generation`` or ``selective``), score, share (rejected or kept), value
    (mean quality or error rate of what is kept). The best order and chance come last of each task.
    """
    ending = _ending(out, CURVES, "Curves")
    if ending == "csv":
        write_batches(out, _curve_batches(curves))
        return
    from vecuq._draw import to_png, to_svg
    from vecuq.report import picture_of

    figure = picture_of(curves)
    write_atomic(out, to_png(figure) if ending == "png" else to_svg(figure))


def _curve_batches(curves: Sequence[SelectiveCurves]) -> Iterator[pa.RecordBatch]:
    """Yield the points of each line by themselves; all lines at once may be more than memory holds."""
    import pyarrow as pa

    for one in curves:
        for score, values in one.lines().items():
            task, name = (pa.repeat(text, len(values)) for text in (one.task, score))
            yield pa.RecordBatch.from_pydict({"task": task, "score": name, "share": one.share, "value": values})


def ending_of(out: PathLike) -> str:
    """Return the ending of a file of tables, or say which there are."""
    return _ending(out, FORMATS, "Tables")


def curves_ending(out: PathLike, labels: Labels, *, taken: Sequence[PathLike] = ()) -> str:
    """Return the ending of a file of curves, or say which there are, what else it needs, or that the file is taken."""
    ending = _ending(out, CURVES, "Curves")
    if not (labels.quality or labels.error):
        raise SettingError("--curves needs --quality or --error: the column that says what is gained.")
    if Path(out).resolve() in {Path(path).resolve() for path in taken}:
        raise SettingError(f"{out} is another file of this command; choose another name for the curves.")
    return ending


def _ending(out: PathLike, known: Collection[str], what: str) -> str:
    ending = Path(out).suffix.lstrip(".").lower()
    if not Path(out).parent.is_dir():
        raise SettingError(f"{out} cannot be written: there is no folder {Path(out).parent}.")
    if ending not in known:
        raise SettingError(f"{what} are written as {', '.join(known)}; {out} ends in none of these.")
    return ending
