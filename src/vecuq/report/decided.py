"""What a gate promises and what it decided: certificate, coverage against accuracy, and each category."""

from __future__ import annotations

from typing import Any

import numpy as np

from vecuq._draw import Section, Sheet, paragraph, sheet_table, text_html
from vecuq.gate import EVERYTHING, certificate_section
from vecuq.report.audit import Contradiction
from vecuq.report.pictures import figure_html
from vecuq.report.plain import percent
from vecuq.report.subject import Decision, Subject

# Categories of a certificate that are listed.
MOST_CATEGORIES = 50


def decided_sections(subject: Subject, contradiction: Contradiction) -> list[Section]:
    """Return the sections about a gate; nothing without one."""
    decision = subject.decision
    if decision is None:
        return []
    certificate = certificate_section(decision.gate.certificate())
    checked = _checked(contradiction)
    found = [Section("certificate", "What is certified", checked + certificate.body), _coverage(decision)]
    if decision.gate.learned_.units != EVERYTHING and subject.categories is not None:
        found.append(_categories(subject, decision, subject.categories))
    return found


def _checked(contradiction: Contradiction) -> str:
    """Return what speaks against the certificate, or that the labels agree with it."""
    found = ""
    if contradiction.words:
        kind = "vq-warn" if contradiction.is_broken else "vq-strong"
        found += f'<p class="vq-text {kind}">{text_html(contradiction.words)}</p>'
    if contradiction.unlike_words:
        found += f'<p class="vq-text vq-warn">{text_html(contradiction.unlike_words)}</p>'
    return found


def _coverage(decision: Decision) -> Section:
    """Return the share of rows accepted at each certified accuracy."""
    from vecuq.plots import coverage_accuracy

    axes = coverage_accuracy(decision.gate)
    caption = (
        "What the labels of the gate certify: on the line each point by itself, for a target chosen beforehand; the "
        "squares all at once."
    )
    picture = figure_html(axes, title="Certified accuracy against the share of rows accepted", caption=caption)
    table = sheet_table(Sheet("targets", "What is certified at several targets", tuple(_targets(decision))))
    words = f"Certified with confidence {decision.gate.confidence:g}, all four at once:"
    body = picture + (paragraph(words, kind="soft") + table if decision.gate.table_ else "")
    return Section("coverage", "Accuracy against coverage", body)


def _targets(decision: Decision) -> list[dict[str, Any]]:
    graded = decision.gate.target.kind == "quality"
    return [
        {
            "quality" if graded else "accuracy": f"{line['accuracy']:g}",
            "share of labelled rows accepted": percent(line["coverage"]),
            "labels accepted": line["accepted"],
            "summed loss" if graded else "of these wrong": line["wrong"] if graded else int(line["wrong"]),
        }
        for line in decision.gate.table_
    ]


def _categories(subject: Subject, decision: Decision, by: list[Any]) -> Section:
    """Return what was decided in each unit of the certificate: a category, or the pool of those with few labels."""
    gate = decision.gate
    places, units = gate.units_of(by, subject.n_rows), gate.certificate().units
    counts = [(places == k, unit) for k, unit in enumerate(units)]
    lines = [
        {
            "category": unit.unit,
            "certified": "yes" if unit.certified else "no",
            "new rows": int(rows.sum()),
            "new rows accepted": percent(float(decision.accepted[rows].mean())) if rows.any() else None,
            "labelled rows accepted": percent(unit.coverage),
        }
        for rows, unit in counts[:MOST_CATEGORIES]
    ]
    body = sheet_table(Sheet("units", "Each category of the certificate", tuple(lines)))
    if len(units) > MOST_CATEGORIES:
        body += paragraph(f"The first {MOST_CATEGORIES} of {len(units):,} categories are listed.", kind="soft")
    unknown = int(np.sum(places == -1))
    if unknown:
        words = f"{unknown:,} rows are of a category that no label had; none of them is accepted."
        body = f'<p class="vq-text vq-warn">{text_html(words)}</p>' + body
    return Section("categories", "New rows by category of the certificate", body)
