"""The pictures of a report as sections: how uncertain the rows are, and where the uncertain ones lie."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from vecuq._check import finite_rows
from vecuq._draw import Section, name_html, paragraph, text_html
from vecuq.report.counts import Counts
from vecuq.report.plain import percent
from vecuq.report.subject import Subject

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# A score map draws at most so many rows; more would hide each other.
MOST_POINTS = 4_000


def figure_html(axes: Axes, *, title: str, caption: str) -> str:
    """Return a picture with its caption; ``caption`` is HTML."""
    from vecuq._draw import inline_svg  # not above: it brings matplotlib

    drawing = inline_svg(axes.figure, title=title)  # type: ignore[arg-type]
    return f'<figure class="vq-figure">{drawing}<figcaption>{caption}</figcaption></figure>'


def histogram_section(subject: Subject, counts: Counts) -> Section:
    """Return how uncertain held-back rows and new rows are."""
    from vecuq.report.histogram import Line, draw_histogram  # not above: it brings matplotlib

    held = subject.has_held
    line = Line(subject.threshold, "threshold" if held else "threshold, of the map's rows")
    said = "Rows to the right of the dashed line are flagged."
    gate = None if subject.decision is None else subject.decision.gate
    if gate is not None and gate.scoring.is_of_model and gate.threshold_ is not None and np.isfinite(gate.threshold_):
        line, said = Line(float(gate.threshold_), "accepted up to"), "Rows up to the dashed line are accepted."
    known = "held-back rows" if held else "rows of the map"
    axes = draw_histogram(subject.ranker.calibration_scores, subject.uncertainty[subject.scored], line, known=known)
    where = "held back from the fit" if held else "that the map was fitted on"
    caption = f"Each outline adds up to 100 %. The calibration rows are those {where}. {said}"
    body = figure_html(axes, title="Histogram of uncertainty, calibration rows and new rows", caption=caption)
    return Section("uncertainty", "How uncertain the rows are", body + _rates(subject, counts))


def _rates(subject: Subject, counts: Counts) -> str:
    """Return what the false-alarm rate means for this one calibration set."""
    if counts.rates is None:
        return ""
    held, (low, high) = subject.ranker.held, counts.rates
    return paragraph(
        f"The false-alarm rate {subject.rate:.3g} is kept on average over calibration sets. Of ten sets of "
        f"{held.count:,} held-back {held.unit}, nine flag between {percent(low)} and {percent(high)} of "
        f"in-distribution rows; `--confidence 0.9` of `vecuq score` keeps the rate for this one set.",
        kind="soft",
    )


def map_section(subject: Subject) -> Section:
    """Return where the uncertain rows lie, with the level lines of the map."""
    from vecuq.report.score_map import draw_map
    from vecuq.report.sides import drawn_columns

    rows = subject.drawn(np.flatnonzero(subject.scored & finite_rows(subject.values)), MOST_POINTS)
    values = subject.values[rows]
    columns = drawn_columns(subject.ranker, values)
    axes = draw_map(subject.ranker, columns, values, subject.uncertainty[rows], subject.threshold)
    names = " and ".join(_axis(subject, name) for name in columns)
    sample = f"A random draw of {len(rows):,} rows is shown." if len(rows) < subject.n_scored else ""
    one = len(columns) == 1
    caption = (
        f"{names}{'' if one else ', the two least correlated columns'}. "
        + ("" if one else "Lines join places of equal uncertainty, other columns at their calibration median. ")
        + f"The bold line is the threshold, the dashed box holds the rows of the map. {text_html(sample)}"
    )
    title = f"New rows by {' and '.join(columns)}, by uncertainty"
    return Section("map", "Where the uncertain rows lie", figure_html(axes, title=title, caption=caption))


def _axis(subject: Subject, name: str) -> str:
    flipped = ' <span class="vq-tag">flipped</span>' if name in subject.ranker.flipped else ""
    return name_html(name) + flipped
