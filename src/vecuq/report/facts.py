"""All that a report says, as values: what was found, what to do, the rows, and the sections below them."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from vecuq._draw import Section, shortened
from vecuq._version import __version__
from vecuq.ranker import Ranker, Ranking
from vecuq.report.actions import Acting, actions_of
from vecuq.report.audit import Contradiction, contradiction_of
from vecuq.report.beside import Beside
from vecuq.report.checked import doctor_sections, findings_of
from vecuq.report.counts import Counts
from vecuq.report.decided import decided_sections
from vecuq.report.drift import Drift, drift_of, drift_section
from vecuq.report.finding import finding_of, tiles_of
from vecuq.report.groups import group_sections
from vecuq.report.labelled import labelled_sections
from vecuq.report.notes import notes_on
from vecuq.report.order import order_section
from vecuq.report.pictures import histogram_section, map_section
from vecuq.report.plain import MOST_LETTERS
from vecuq.report.provenance import diagnostics_of, provenance_of, settings_of
from vecuq.report.rows import row_facts
from vecuq.report.subject import Subject
from vecuq.report.whatif import whatif_facts

if TYPE_CHECKING:
    import pyarrow as pa


def report_facts(
    ranker: Ranker, new: pa.Table, ranking: Ranking, *, title: str, beside: Beside | None = None
) -> dict[str, Any]:
    """Return all that a report says of a ranking, as values that JSON can hold, and its sections as HTML.

    Parameters are those of :func:`vecuq.report.build_report`. What has no value is None.
    """
    subject = Subject.of(ranker, new, ranking, beside or Beside())
    counts, drift, contradiction = Counts(subject), drift_of(subject), contradiction_of(subject)
    rows = row_facts(subject)
    tone, headline, detail = finding_of(subject, counts, contradiction, drift)
    made = subject.beside.origin.made or datetime.now(UTC).isoformat(timespec="seconds")
    actions = actions_of(Acting(subject, counts, drift, contradiction, rows))
    return {
        "title": title,
        "library": __version__,
        "made": made,
        "finding": {"tone": tone, "headline": headline, "detail": detail, "actions": actions},
        "tiles": tiles_of(subject, counts),
        "notes": [shortened(note, 2 * MOST_LETTERS) for note in notes_on(subject, contradiction)],
        "rows": rows,
        "whatif": whatif_facts(subject),
        "sections": _sections(subject, counts, drift, contradiction),
        "provenance": provenance_of(subject, made),
        "settings": settings_of(subject.ranker),
        "diagnostics": diagnostics_of(subject.ranker),
    }


def _sections(subject: Subject, counts: Counts, drift: Drift, contradiction: Contradiction) -> list[Section]:
    """Return everything below the rows, in the order in which people ask for it."""
    pictures = [histogram_section(subject, counts), map_section(subject)] if subject.n_scored else []
    return [
        *decided_sections(subject, contradiction),
        *pictures,
        *labelled_sections(subject),
        *group_sections(subject),
        drift_section(subject, drift),
        *([order_section(subject)] if subject.n_scored >= 3 else []),
        *doctor_sections(findings_of(subject)),
    ]
