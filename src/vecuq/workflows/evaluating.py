"""From tables with labels to numbers: how good each score is, and which way to combine them is best."""

from __future__ import annotations

import warnings
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from vecuq import evaluation
from vecuq._check import Array, warn_user
from vecuq._draw import Sheet
from vecuq.errors import MissingValueWarning, VecuqError, VecuqWarning
from vecuq.evaluation import Bootstrap, Evaluation, Verdict
from vecuq.ranker import Settings, fit_ranker
from vecuq.table import RESERVED, PathLike, ScoreTable, TableLike, TableReader, warn_of_columns
from vecuq.workflows.directions import recorded_directions
from vecuq.workflows.evaluation_files import curves_ending, refuse_outputs, table_ending, write_both, write_sheets
from vecuq.workflows.labels import Labels, group_column, label_columns, score_columns

if TYPE_CHECKING:
    import pyarrow as pa

# The column that a gate adds: the probability that a row is wrong.
P_WRONG = "p_wrong"
# One metric per task decides a comparison; the first of each that has labels.
DECIDING = (
    "ood roc_auc",
    "error roc_auc",
    "selective accuracy_coverage_area",
    "generation prediction_rejection_ratio",
)


@dataclass(frozen=True)
class Compared:
    """Every way to combine the scores, fitted on calibration rows and evaluated on test rows."""

    evaluation: Evaluation
    sheet: Sheet
    verdicts: tuple[Verdict, ...]  # one for each metric of the sheet
    components: tuple[str, ...]
    failed: dict[str, str]  # methods that could not be fitted, with the reason


def evaluate(
    table: TableLike,
    labels: Labels,
    *,
    columns: Sequence[str] | None = None,
    flip: Sequence[str] | None = None,
    metrics: Sequence[str] | None = None,
    bootstrap: Bootstrap | None = None,
    group: str | None = None,
    out: PathLike | None = None,
    curves: PathLike | None = None,
    formulas: bool = True,
    force: bool = False,
) -> Evaluation:
    """Evaluate every score column of a table with labels, and its ``uncertainty`` if it has one.

    Without ``flip``, columns are flipped that were when the table was scored, if its format keeps that (parquet and
    Arrow do). A column is doubted if nothing says in which direction it points, and the other one looks better.
    ``group`` is the column that says which rows come together (session, document): intervals then draw whole groups. A
    column ``p_wrong``, the probability of being wrong, is compared with the errors.
    With ``out``, the numbers are written there: csv, md (Markdown) or tex (LaTeX). With ``curves``, risk-coverage and
    rejection curves: a picture (png, svg) or numbers (csv). Both files are written or none. ``force`` replaces also a
    file that the job reads, or one of another kind. Without ``formulas``, names that a spreadsheet would compute get an
    apostrophe in front in csv files.
    """
    if out is not None:
        table_ending(out)
    if curves is not None:
        curves_ending(curves, beside=out)
    refuse_outputs([path for path in (out, curves) if path is not None], reads=[table], force=force)
    reader = TableReader(table)
    said = recorded_directions(reader.schema)
    whole = reader.whole()
    truth = label_columns(whole, labels, scores=columns or ())
    groups = group_column(whole, group, scores=columns or ())
    scores = _directed(whole, labels, columns, flip, said, others=(group, P_WRONG))
    methods = scores.by_name()
    if columns is None:
        _warn_unread(whole, {*scores.columns, *labels.named().values(), group, P_WRONG})
    if columns is None and "uncertainty" in {*whole.column_names} - {*labels.named().values()}:
        methods["uncertainty"] = ScoreTable.of(whole, columns=["uncertainty"]).values[:, 0]
    drawn = None if curves is None else evaluation.selective_curves(methods, **truth)
    found = evaluation.evaluate(
        methods, **truth, metrics=metrics, bootstrap=bootstrap, groups=groups, p_wrong=_probability(whole, labels)
    )
    unsaid = {*scores.columns} - {*said} if flip is None else set()
    doubted = tuple(name for name in evaluation.best_upside_down(found) if name in unsaid)
    found = replace(found, flipped=tuple(sorted(scores.flipped)), doubted=doubted)
    write_both(found, out, drawn, curves, formulas=formulas)
    return found


def _probability(table: pa.Table, labels: Labels) -> Array | None:
    """Return the probability of being wrong that a table holds; None without it, or where it is a label."""
    if P_WRONG not in {*table.column_names} - {*labels.named().values()}:
        return None
    return ScoreTable.of(table, columns=[P_WRONG]).values[:, 0]


def _directed(
    table: pa.Table,
    labels: Labels,
    columns: Sequence[str] | None,
    flip: Sequence[str] | None,
    said: Mapping[str, bool],
    *,
    others: Collection[str | None],
) -> ScoreTable:
    """Return the score columns, in the directions that the user states or else the table itself."""
    if flip is not None:
        return score_columns(table, labels, columns, flip, others=others)
    plain = score_columns(table, labels, columns, (), others=others)
    flipped = [name for name in plain.columns if said.get(name)]
    return score_columns(table, labels, columns, flipped, others=others) if flipped else plain


def compare(
    calibration: TableLike,
    test: TableLike,
    labels: Labels,
    *,
    columns: Sequence[str] | None = None,
    flip: Sequence[str] = (),
    bootstrap: Bootstrap | None = None,
    group: str | None = None,
    out: PathLike | None = None,
    formulas: bool = True,
    force: bool = False,
) -> Compared:
    """Fit vecuq and every baseline on the calibration rows alone, and evaluate them all on the test rows.

    ``group`` is the column of the test rows that says which come together. With ``out``, the table is written there:
    csv, md (Markdown) or tex (LaTeX). ``force`` replaces also a file that the job reads, or one of another kind; for
    ``formulas`` see :func:`evaluate`.
    """
    if out is not None:
        table_ending(out)
        refuse_outputs([out], reads=[calibration, test], force=force)
    fitted_on = score_columns(TableReader(calibration).whole(), labels, columns, flip, others=(group, P_WRONG))
    warn_of_columns(fitted_on, directions=False)  # the labels show directions
    whole = TableReader(test).whole()
    truth = label_columns(whole, labels, scores=fitted_on.columns)
    groups = group_column(whole, group, scores=fitted_on.columns)
    new = ScoreTable.of(whole, columns=fitted_on.columns, flip=flip)
    combined, failed = _fitted_methods(fitted_on.stated(), new, bootstrap)
    components = {_beside(name, combined): values for name, values in new.by_name().items()}
    ours = {name: found for name, found in combined.items() if not name.endswith("()")}
    found = evaluation.evaluate(ours | components | combined, **truth, bootstrap=bootstrap, groups=groups)
    found = replace(found, flipped=tuple(_beside(name, combined) for name in sorted(new.flipped)))
    known = [one.metric.key for one in found.comparisons]
    deciding = [key for key in DECIDING if key in known]
    sheet = evaluation.comparison_sheet(found, deciding, tuple(components))
    if out is not None:
        write_sheets([sheet], out, formulas=formulas)
    return Compared(found, sheet, evaluation.verdicts(found, deciding), tuple(components), failed)


def _fitted_methods(
    calibration: ScoreTable, new: ScoreTable, bootstrap: Bootstrap | None
) -> tuple[dict[str, Array], dict[str, str]]:
    """Return the uncertainty by every method; what cannot be fitted to these rows is named with its reason."""
    from vecuq.baselines import baselines

    random_state = bootstrap.random_state if bootstrap else None
    methods: dict[str, Array] = {
        "vecuq": fit_ranker(calibration, Settings(random_state=random_state)).rank(new, warn=False).uncertainty,
        "vecuq (paper)": fit_ranker(calibration, Settings.paper()).rank(new, warn=False).uncertainty,
    }
    failed: dict[str, str] = {}
    for baseline in baselines().values():
        name = f"{baseline.name}()"
        try:
            with warnings.catch_warnings():  # rows without a score are reported once, for all methods together
                warnings.simplefilter("ignore", MissingValueWarning)
                methods[name] = baseline.make().fit(calibration).uncertainty(new)
        except VecuqError as error:
            failed[name] = str(error)
    return methods, failed


def _beside(column: str, taken: Collection[str]) -> str:
    """Return what a column is called beside methods, one of which may have its very name."""
    return f"{column} (column)" if column in taken else column


def _warn_unread(table: pa.Table, read: Collection[str | None]) -> None:
    """Warn of columns of whole numbers, which were not taken for scores."""
    import pyarrow as pa

    unread = [
        field.name for field in table.schema if field.name not in {*read, *RESERVED} and pa.types.is_integer(field.type)
    ]
    if unread:
        what = f"Not evaluated, being whole numbers: {', '.join(unread)}. Name score columns to choose others."
        warn_user(what, VecuqWarning)
