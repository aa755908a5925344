"""Whether the new rows differ from the rows that the model holds back: one test, every column and the joint score."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from vecuq._draw import Section, Sheet, paragraph, probability_words, sheet_table
from vecuq.monitor import Moved, drift_test
from vecuq.report.plain import percent
from vecuq.report.subject import Subject

# The probability, without drift, that any of the streams is named.
LEVEL = 0.01
# Streams that a sentence names; the table has all of them.
_MOST_NAMED = 3


@dataclass(frozen=True)
class Drift:
    """What the test says of every stream, the smallest p-value first; or why there is none."""

    tested: tuple[Moved, ...] = ()
    why_not: str = ""
    n_drawn: int = 0

    @property
    def moved(self) -> tuple[Moved, ...]:
        """The streams that differ by more than chance explains."""
        return tuple(one for one in self.tested if one.p_value <= LEVEL)

    @property
    def words(self) -> str:
        """The first streams that differ, and how."""
        more = len(self.moved) - _MOST_NAMED
        named = ", ".join(f"{one.stream} ({one.change})" for one in self.moved[:_MOST_NAMED])
        return f"{named} and {more:,} more" if more > 0 else named


NO_DRIFT = Drift()


def drift_of(subject: Subject) -> Drift:
    """Test the new rows, or a random draw of very many, against the held-back rows."""
    if not subject.has_held:
        return Drift(why_not="The model holds no calibration rows back, so there is nothing to compare new rows with.")
    if subject.ranker.n_groups is not None or subject.beside.group is not None:
        return Drift(why_not="Rows come in groups here, and this test is about independent rows. See `vecuq monitor`.")
    if not subject.n_scored:
        return Drift(why_not="No new row has a score.")
    rows = subject.drawn(np.arange(subject.n_rows))
    tested = drift_test(subject.ranker, subject.ranker.as_table(subject.values[rows]))
    return Drift(tested, n_drawn=len(rows))


def drift_section(subject: Subject, drift: Drift) -> Section:
    """Return the section on drift."""
    if drift.why_not:
        return Section("drift", "Drift", paragraph(drift.why_not, kind="soft"))
    names = [one.stream for one in drift.moved]
    found = (
        f"Different from the held-back rows: {', '.join(names)}."
        if names
        else "No column, and not the uncertainty, differs from the held-back rows by more than chance explains."
    )
    drawn = f" A random draw of {drift.n_drawn:,} rows was tested." if drift.n_drawn < subject.n_rows else ""
    about = (
        f"One test for all columns: without drift, any of them is named with probability at most {LEVEL:g}, if new and "
        f"held-back rows are exchangeable.{drawn}"
    )
    table = sheet_table(Sheet("drift", "Drift of every column", tuple(map(_line, drift.tested))))
    return Section(
        "drift", "Drift from the calibration rows", paragraph(found, code=False) + paragraph(about, kind="soft") + table
    )


def _line(one: Moved) -> dict[str, Any]:
    return {
        "column": one.stream,
        "most apart": one.change,
        "new rows beyond": percent(one.share),
        "held-back rows beyond": percent(one.expected),
        "p-value": probability_words(one.p_value, digits=2),
        "drift": "yes" if one.p_value <= LEVEL else "no",
    }
