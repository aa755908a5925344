"""What the doctor says of the calibration rows beside the new ones, where the calibration table is at hand."""

from __future__ import annotations

from html import escape

import numpy as np

from vecuq._draw import Section, fold, paragraph, text_html, words_html
from vecuq.doctor import Case, Finding, examine_case
from vecuq.report.subject import Subject

# The report answers these itself, over all rows.
_ANSWERED = ("drift", "flagged", "new rows")


def findings_of(subject: Subject) -> tuple[Finding, ...]:
    """Return the findings about the calibration rows, the worst first; none without them."""
    if subject.beside.calibration is None:
        return ()
    ranker, rows = subject.ranker, subject.drawn(np.arange(subject.n_rows))
    new = ranker.as_table(subject.values[rows]) if len(rows) else None
    calibration = ranker.as_table(ranker.values_of(subject.beside.calibration))
    case = Case.of(calibration, new, ranker.settings, subject.beside.calibration_groups)
    return tuple(one for one in examine_case(case) if one.check not in _ANSWERED)


def doctor_sections(findings: tuple[Finding, ...]) -> list[Section]:
    """Return the findings as a section: what is wrong in full, what is well folded away."""
    if not findings:
        return []
    bad = [one for one in findings if one.severity != "ok"]
    good = [one for one in findings if one.severity == "ok"]
    worst = [one for one in bad if one.severity != "note"]
    said = (
        f"{len(worst)} of {len(findings)} checks of the calibration rows ask for a look."
        if worst
        else f"{len(findings)} checks of the calibration rows found nothing serious."
    )
    body = paragraph(said) + (_table(bad) if bad else "")
    return [
        Section("doctor", "The calibration rows", body + fold(f"{len(good)} checks without a finding", _table(good)))
    ]


def _table(findings: list[Finding]) -> str:
    rows = "".join(
        f'<tr><td><span class="vq-severity vq-{escape(one.severity, quote=True)}">{text_html(one.severity)}</span></td>'
        f"<td>{text_html(one.check)}</td><td>{words_html(one.what)}</td><td>{words_html(one.remedy)}</td></tr>"
        for one in findings
    )
    head = "".join(f'<th scope="col">{name}</th>' for name in ("severity", "check", "finding", "what to do"))
    table = f'<table class="vq-table"><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>'
    return f'<div class="vq-scroll" tabindex="0">{table}</div>'
