"""Evaluations on disk: tables as csv, Markdown or LaTeX, curves as a picture or as numbers."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from vecuq import evaluation
from vecuq._draw import FORMATS, Sheet
from vecuq._files import write_atomic
from vecuq.errors import SettingError
from vecuq.evaluation import Evaluation, SelectiveCurves
from vecuq.table import PathLike, TableLike, write_batches
from vecuq.workflows.places import refuse_overwriting

if TYPE_CHECKING:
    import pyarrow as pa

CURVES = ("png", "svg", "csv")


def write_evaluation(found: Evaluation, out: PathLike) -> None:
    """Write an evaluation by the ending of the file: csv with one line per number, or a table per task (md, tex)."""
    if table_ending(out) == "csv":
        write_sheets([Sheet("evaluation", "Every metric of every score", tuple(found.rows()))], out)
    else:
        write_sheets(evaluation.task_sheets(found), out)


def write_sheets(sheets: Sequence[Sheet], out: PathLike) -> None:
    """Write tables one after the other into one file, as its ending says: csv, md (Markdown) or tex (LaTeX)."""
    write_atomic(out, "\n".join(FORMATS[table_ending(out)](sheet) for sheet in sheets).encode())


def write_curves(curves: Sequence[SelectiveCurves], out: PathLike) -> None:
    """Write risk-coverage and rejection curves by the ending of the file: a picture (png, svg) or every number (csv).

    The csv has one line per point: task (``generation`` or ``selective``), score, share (rejected or kept), value
    (mean quality or error rate of what is kept). The best order and chance come last of each task.
    """
    ending = curves_ending(out)
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


def table_ending(out: PathLike, *, taken: Sequence[TableLike] = ()) -> str:
    """Return the ending of a file of tables; an unknown one, and a file that is ``taken``, are refused."""
    return _ending(out, FORMATS, "Tables", taken)


def curves_ending(out: PathLike, *, taken: Sequence[TableLike] = ()) -> str:
    """Return the ending of a file of curves; an unknown one, and a file that is ``taken``, are refused."""
    return _ending(out, CURVES, "Curves", taken)


def _ending(out: PathLike, known: Collection[str], what: str, taken: Sequence[TableLike]) -> str:
    ending = Path(out).suffix.lstrip(".").lower()
    if not Path(out).parent.is_dir():
        raise SettingError(f"{out} cannot be written: there is no folder {Path(out).parent}.")
    if ending not in known:
        raise SettingError(f"{what} are written as {', '.join(known)}; {out} ends in none of these.")
    refuse_overwriting(out, taken)
    return ending
