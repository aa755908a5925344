"""From a model and labelled rows to a saved gate; and whether a gate has kept its promise since."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Any, cast

from vecuq._files import atomic_files, write_atomic
from vecuq.errors import CalibrationWarning, ModelFileError, SettingError, TableError
from vecuq.gate import Audited as Audited  # noqa: PLC0414 - the room gives it on
from vecuq.gate import Gate, Plan, are_own_rows, audited, plan_for
from vecuq.table import PathLike, TableLike
from vecuq.workflows.answer_rows import AnswerFiles
from vecuq.workflows.evaluation_files import curves_ending, refuse_outputs
from vecuq.workflows.labelled_rows import LabelColumns, LabelledRows, read_labelled
from vecuq.workflows.places import ANSWERS, kind_word, load_any_model, refuse_place

PICTURES = ("png", "svg", "csv")
NOTHING: Mapping[str, Any] = MappingProxyType({})
# A table of labelled rows; for a pipeline of answers also files of answers and how they are read.
Labelled = TableLike | AnswerFiles


def gate(
    model: PathLike,
    labelled: Labelled,
    out: PathLike,
    labels: LabelColumns,
    *,
    simultaneous: bool = False,
    unlabelled: TableLike | None = None,
    picture: PathLike | None = None,
    force: bool = False,
    supplied: Mapping[str, Any] = NOTHING,
    **target: Any,
) -> Gate:
    """Fit a gate to a saved model and a table of labelled rows, and save it.

    Parameters
    ----------
    model
        A saved model, pipeline or conformal column.
    labelled
        A table of scores with labels; for a pipeline, a file of outputs with the true classes, or of answers.
    out
        Where the gate goes; for a pipeline of answers, that pipeline with the new gate.
    labels
        Which columns hold the labels, the groups and the categories.
    simultaneous
        Whether the certificates of all categories hold together.
    unlabelled
        A table whose scores set the thresholds, by default the rows that the model keeps.
    picture
        Where to draw coverage against certified accuracy, one line per order: png or svg, or csv for the numbers.
    force
        Whether ``out`` may replace a file that the job reads, or one of another kind.
    supplied
        For a pipeline of answers: the models that it only names, see :func:`vecuq.load`.
    target
        Arguments of :class:`vecuq.Gate`: accuracy, confidence, promise, guard, order and the like.
    """
    found = load_gateable(model, **supplied)
    of_answers, reads = kind_word(found) == ANSWERS, _files(labelled)
    refuse_place(out, writes="answer_pipeline" if of_answers else "gate", reads=[model, *reads], force=force)
    if picture is not None:
        curves_ending(picture, beside=out)
        refuse_outputs([picture], reads=reads, force=force)
    made = Gate(found.estimator_ if of_answers else found, **target)
    if (labels.quality is not None) != (made.target.kind == "quality"):
        raise SettingError(
            "A mean quality needs both: the column of qualities (quality_column) and the target, quality=0.8. For "
            "another target turn the quality into labels: correct='quality>=0.7'."
        )
    others = found.held_back() if of_answers else None
    if unlabelled is not None:
        others = read_unlabelled(found, _like(labelled, unlabelled))
    rows = _read(found, labelled, labels)
    made.fit(rows.rows, rows.correct, groups=rows.groups, by=rows.by, simultaneous=simultaneous, unlabelled=others)
    content = (found.with_gate(made, made=rows.making.over()) if of_answers else made).to_bytes()
    if picture is None:
        write_atomic(out, content)
        return made
    with atomic_files(out, picture) as new:
        write_atomic(new[0], content)
        _draw(made, rows.rows, new[1])
    return made


def plan(
    model: PathLike,
    labelled: Labelled | None,
    labels: LabelColumns,
    *,
    random_state: int | None = None,
    supplied: Mapping[str, Any] = NOTHING,
    **target: Any,
) -> Plan:
    """Return what a target is likely to take, by some labelled rows or, without any, by the target alone."""
    found = load_gateable(model, **supplied)
    inside = found.estimator_ if kind_word(found) == ANSWERS else found
    made = Gate(inside, random_state=random_state, **target)
    if made.target.kind != "accuracy":
        raise TableError("A plan is about accuracy or an error rate; give accuracy= or error=.")
    if labelled is None:
        return plan_for(None, allowed=made.allowed, confidence=made.confidence)
    rows = _read(found, labelled, labels)
    with warnings.catch_warnings():  # that the target is not certified yet is why people plan
        warnings.simplefilter("ignore", CalibrationWarning)
        made.fit(rows.rows, rows.correct, groups=rows.groups)
    pilot = made.learned_.labelled
    return plan_for(pilot, allowed=made.allowed, confidence=made.confidence, random_state=random_state or 0)


def audit(
    gate_file: PathLike, later: Labelled, labels: LabelColumns, *, supplied: Mapping[str, Any] = NOTHING
) -> Audited:
    """Check a promise afterwards, on labelled rows that are a random sample of what was decided.

    For the verdict see :func:`vecuq.gate.audited`.
    ``supplied`` are the models that a pipeline of answers only names, see :func:`vecuq.load`.
    """
    found = load_any_model(gate_file, **supplied)
    made = found.gate_ if kind_word(found) == ANSWERS and found.gate_ is not None else _gate_in(found, gate_file)
    if made.target.kind not in ("accuracy", "quality"):
        raise ModelFileError(f"An audit checks an accuracy, and this gate has another target: {made.target.words}.")
    if made.learned_.labelled.groups is not None and labels.group is None:
        raise TableError("This gate was fitted with groups; name the column of groups with group=.")
    rows = _read(made.model if isinstance(found, Gate) else found, later, labels)
    _refuse_reviews(rows.rows)
    _refuse_own_rows(made, rows.rows)
    if rows.making is None:
        accepted = made.accept(rows.rows, by=rows.by)
    else:
        accepted = found.accept_measured(rows.rows, rows.making, by=rows.by)
    return audited(made, accepted, 1.0 - rows.correct, rows.groups, by=rows.by)


def _refuse_reviews(rows: Any) -> None:
    """Refuse rows of a service's feedback that somebody chose to look at: they are no random sample."""
    names = getattr(rows, "column_names", ())
    if "kind" not in names or "feedback_time" not in names:
        return
    reviews = rows["kind"].to_pylist().count("review")
    if reviews:
        raise TableError(
            f"{reviews:,} of {len(rows):,} rows are reviews, which somebody chose to look at: they are no random "
            f"sample and cannot audit a gate. Keep the rows of kind 'audit' alone."
        )


def _refuse_own_rows(made: Gate, rows: Any) -> None:
    """Refuse the rows that fitted the gate."""
    if are_own_rows(made, made.uncertainty(rows)):
        raise TableError("These are the rows that fitted the gate, which cannot audit it. Give labels of later rows.")


def load_gateable(model: PathLike, **supplied: Any) -> Any:
    """Read a model that a gate can stand on; refuse anything else that was saved."""
    found = load_any_model(model, **supplied)
    if isinstance(found, Gate) or not hasattr(found, "uncertainty"):
        raise ModelFileError(f"{model} holds a {kind_word(found)}; a model written by `vecuq fit` is needed here.")
    return found


def load_gate(path: PathLike) -> Gate:
    """Read a gate; refuse any other saved kind."""
    return _gate_in(load_any_model(path), path)


def _gate_in(found: Any, path: PathLike) -> Gate:
    if not isinstance(found, Gate):
        more = " without a gate" if getattr(found, "gate_", False) is None else ""
        raise ModelFileError(f"{path} holds a {kind_word(found)}{more}; a gate written by `vecuq gate` is needed here.")
    return found


def _files(rows: Labelled) -> list[TableLike]:
    """Return the files that rows are read from."""
    return [*rows.paths, *rows.samples] if isinstance(rows, AnswerFiles) else [rows]


def _like(rows: Labelled, others: TableLike) -> Labelled:
    """Return other files, read as the labelled ones are."""
    return replace(rows, paths=AnswerFiles.of(others).paths) if isinstance(rows, AnswerFiles) else others


def _read(found: Any, path: Labelled, labels: LabelColumns) -> LabelledRows:
    """Read labelled rows as a model takes them; for a pipeline of answers, files of answers with their labels."""
    if kind_word(found) != ANSWERS:
        return read_labelled(found, cast("TableLike", path), labels)
    from vecuq.workflows.fitting_answers import labelled_answers

    return labelled_answers(found, AnswerFiles.of(path), labels)


def read_unlabelled(model: Any, path: Labelled) -> Any:
    """Read rows without labels, as the model takes them."""
    from vecuq.outputs import read_outputs
    from vecuq.table import TableReader

    if kind_word(model) == ANSWERS:
        from vecuq.workflows.fitting_answers import unlabelled_answers

        return unlabelled_answers(model, AnswerFiles.of(path))
    path = cast("TableLike", path)
    if hasattr(model, "measure"):
        return read_outputs(path, temperature=model.temperature_)
    return TableReader(path, columns=getattr(model, "columns", ())).whole()


def _draw(made: Gate, rows: Any, out: PathLike) -> None:
    """Write coverage against certified accuracy: as a picture, or as numbers."""
    lines = made.coverage_lines(rows)
    if curves_ending(out) == "csv":
        import pyarrow as pa

        from vecuq.table import write_batches

        points = [(order, *point) for order, line in lines.items() for point in line]
        columns = dict(zip(("order", "accuracy", "coverage"), map(list, zip(*points, strict=True)), strict=True))
        write_batches(out, iter([pa.RecordBatch.from_pydict(columns)]))
        return
    from vecuq._draw import to_png, to_svg
    from vecuq.report import coverage_picture

    figure = coverage_picture(lines, made.order_, target=made.target.value if made.allowed < 1 else None)
    write_atomic(out, to_png(figure) if curves_ending(out) == "png" else to_svg(figure))
