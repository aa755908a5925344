"""How an evaluation shows itself in a notebook and in a report: tables with intervals, the best marked."""

from __future__ import annotations

from vecuq._draw import Section, Sheet, paragraph, sheet_table
from vecuq.evaluation.results import Evaluation
from vecuq.evaluation.sheets import task_sheets


def evaluation_section(evaluation: Evaluation) -> Section:
    """Return every metric of every method, one table per task: the best is bold, the second best in italics.

    Examples
    --------
    >>> from vecuq.evaluation import evaluate
    >>> scores = {"entropy": [0.1, 0.4, 0.3, 0.9], "knn": [0.2, 0.1, 0.8, 0.9]}
    >>> done = evaluate(scores, ood=[0, 0, 1, 1], metrics=["roc_auc"])
    >>> '<td class="vq-num vq-best">1.000' in evaluation_section(done).body
    True
    """
    notes = (_rows_words(evaluation), _interval_words(evaluation), _marks_words(evaluation))
    words = paragraph(" ".join(note for note in notes if note), kind="soft")
    return Section("evaluation", "How well the scores do", words + "".join(map(_table, task_sheets(evaluation))))


def _table(sheet: Sheet) -> str:
    return paragraph(sheet.title, kind="strong") + sheet_table(sheet)


def _rows_words(evaluation: Evaluation) -> str:
    left_out = evaluation.n_left_out
    without = f" {left_out:,} are left out for all, because some score is missing." if left_out else ""
    return f"{evaluation.n_rows:,} rows.{without}"


def _interval_words(evaluation: Evaluation) -> str:
    """Return what the numbers in brackets are; nothing where there are none."""
    drawn = [one for one in evaluation.comparisons if one.draws.shape[-1]]
    groups = "" if evaluation.n_groups is None else f" of whole groups ({evaluation.n_groups:,})"
    return f"In brackets: {100 * drawn[0].level:g} % intervals by resampling{groups}." if drawn else ""


def _marks_words(evaluation: Evaluation) -> str:
    if evaluation.doubted:
        return f"No best is marked: the direction of {', '.join(evaluation.doubted)} is in doubt."
    many = len(evaluation.methods) > 1
    return "Bold: best; italics: second. A difference smaller than the intervals may be chance." if many else ""
