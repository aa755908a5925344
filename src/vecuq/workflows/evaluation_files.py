"""Evaluations on disk: tables as csv, Markdown or LaTeX, curves as a picture or as numbers."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from vecuq import evaluation
from vecuq._draw import FORMATS, Sheet, as_csv
from vecuq._files import atomic_files, refuse_unwritable, write_atomic
from vecuq.errors import SettingError
from vecuq.evaluation import Evaluation, SelectiveCurves
from vecuq.table import PathLike, TableLike, write_batches
from vecuq.workflows.contents import kind_to_write
from vecuq.workflows.places import refuse_overwriting, refuse_replacing

if TYPE_CHECKING:
    import pyarrow as pa

CURVES = ("png", "svg", "csv")


def refuse_outputs(outputs: Iterable[PathLike], *, reads: Sequence[TableLike], force: bool) -> None:
    """Raise, before any long work, if one of the files cannot be written, or would replace what must stay."""
    for out in outputs:
        refuse_replacing(out, writes=kind_to_write(out), reads=reads, force=force)
        refuse_unwritable(out)


def write_both(
    found: Evaluation,
    out: PathLike | None,
    drawn: Sequence[SelectiveCurves] | None,
    curves: PathLike | None,
    *,
    formulas: bool = True,
) -> None:
    """Write tables, curves or both: all that is wanted, or nothing."""
    outputs = [path for path in (out, curves) if path is not None]
    if not outputs:
        return
    with atomic_files(*outputs) as new:
        if out is not None:
            write_evaluation(found, new[0], formulas=formulas)
        if curves is not None and drawn is not None:
            write_curves(drawn, new[-1], formulas=formulas)


def write_evaluation(found: Evaluation, out: PathLike, *, formulas: bool = True) -> None:
    """Write an evaluation by the ending of the file: csv with one line per number, or a table per task (md, tex)."""
    if table_ending(out) == "csv":
        rows = (*found.rows(), *(found.calibration.rows() if found.calibration else ()))
        write_sheets([Sheet("evaluation", "Every metric of every score", rows)], out, formulas=formulas)
    else:
        write_sheets(evaluation.task_sheets(found), out)


def write_sheets(sheets: Sequence[Sheet], out: PathLike, *, formulas: bool = True) -> None:
    """Write tables one after the other into one file, as its ending says: csv, md (Markdown) or tex (LaTeX)."""
    write = partial(as_csv, formulas=formulas) if table_ending(out) == "csv" else FORMATS[table_ending(out)]
    write_atomic(out, "\n".join(write(sheet) for sheet in sheets).encode())


def write_curves(curves: Sequence[SelectiveCurves], out: PathLike, *, formulas: bool = True) -> None:
    """Write risk-coverage and rejection curves by the ending of the file: a picture (png, svg) or every number (csv).

    The csv has one line per point: task (``generation`` or ``selective``), score, share (rejected or kept), value
    (mean quality or error rate of what is kept). The best order and chance come last of each task.
    """
    ending = curves_ending(out)
    if ending == "csv":
        write_batches(out, _curve_batches(curves), formulas=formulas)
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


def table_ending(out: PathLike) -> str:
    """Return the ending of a file of tables; an unknown one is refused."""
    return _ending(out, FORMATS, "Tables")


def curves_ending(out: PathLike, *, beside: PathLike | None = None) -> str:
    """Return the ending of a file of curves; an unknown one, and the file that is written ``beside``, are refused."""
    if beside is not None:
        refuse_overwriting(out, [beside])
    return _ending(out, CURVES, "Curves")


def _ending(out: PathLike, known: Collection[str], what: str) -> str:
    ending = Path(out).suffix.lstrip(".").lower()
    if not Path(out).parent.is_dir():
        raise SettingError(f"{out} cannot be written: there is no folder {Path(out).parent}.")
    if ending not in known:
        raise SettingError(f"{what} are written as {', '.join(known)}; {out} ends in none of these.")
    return ending
