"""Whether the rows are as many as they seem: copies, groups of near copies, alike neighbours, change over time.

Each finding says which false-alarm rate to expect, and its severity follows from that.
"""

from __future__ import annotations

from vecuq.doctor.case import FEWEST_ROWS, MOST_ROWS, Case, drawn
from vecuq.doctor.finding import Finding, at_most, worst
from vecuq.doctor.rates import USUAL, Dependence, Expected, percent, severity_of
from vecuq.doctor.row_order import RowOrder

_NEARLY_COPIES = 0.8


def check_copies(case: Case) -> list[Finding]:
    """Count rows that are copies of others: they are no further evidence of what is in-distribution."""
    seen = case.repeats
    figures: dict[str, object] = {"rows": seen.n_rows, "distinct": seen.distinct}
    counted = f"{seen.distinct:,} of {seen.n_rows:,} rows are distinct"
    if not seen.are_copies:
        return [_ties(counted, figures) if seen.share_repeated > 0.5 else Finding("copies", "ok", f"{counted}.")]
    expected = case.expected(Dependence(seen.design_effect, 1.0))
    figures |= expected.figures
    if not expected.held or expected.severity == "ok":
        return [Finding("copies", "ok", f"{counted}.", "", figures)]
    what = f"Only {counted}; the others are copies of them. Copies are no further evidence: {_count_as(expected)}"
    return [Finding("copies", expected.severity, what, "Keep one row of each record.", figures)]


def _ties(counted: str, figures: dict[str, object]) -> Finding:
    what = (
        f"Only {counted}. If the scores have few possible values, that is harmless: ties never make a p-value too "
        f"small. If rows are copies of records, new rows are flagged more often than alpha."
    )
    return Finding("copies", "note", what, "If they are copies, keep one row of each record.", figures)


def _count_as(expected: Expected) -> str:
    """Say what dependent rows do to the rate."""
    _, high = expected.interval(USUAL[0])
    return (
        f"the {expected.held:,} held-back rows count as about {expected.effective:,.0f}. New in-distribution rows are "
        f"then flagged at about {expected} on average; one calibration set in twenty flags more than {percent(high)} "
        f"at alpha {USUAL[0]:g}; no alpha below {expected.smallest_alpha:.2g} is kept."
    )


def check_clusters(case: Case) -> list[Finding]:
    """Look for groups of rows that nearly repeat each other, such as several rows of one session."""
    seen = case.near_copies
    if seen is None:
        return [Finding("clusters", "ok", "No rows nearly repeat each other.")]
    expected = case.expected(Dependence(seen.design_effect, 1.0))
    figures = {"group": seen.group, "share": seen.share, **expected.figures}
    if not expected.held or expected.severity == "ok":
        return [Finding("clusters", "ok", "Few rows nearly repeat each other.", "", figures)]
    what = (
        f"{seen.share:.0%} of the rows come in groups of about {seen.group} that nearly repeat each other, so "
        f"{_count_as(expected)}"
    )
    remedy = "Fit with groups= naming the group of each row (session, document, patient), or keep one row of each."
    return [Finding("clusters", expected.severity, what, remedy, figures)]


def check_order(case: Case) -> list[Finding]:
    """Compare each row with the next one: in a time series, or in rows by session, neighbours are alike."""
    seen = case.row_order
    if seen is None:
        return []
    figures = {"next_row": seen.next_row, "which": seen.which, "trend": seen.trend}
    if seen.sorted_by:
        what = f"The rows are sorted by {seen.sorted_by!r}, so their order does not show whether they are independent."
        return [Finding("order", "note", what, "Check them in the order in which they arose.", figures)]
    if not seen.is_alike:
        what = "Neighbouring rows are no more alike than others; if the file was shuffled, that shows nothing."
        return [Finding("order", "ok", what, "", figures)]
    expected = case.expected(seen.dependence)
    figures |= {"every": seen.every, **expected.figures}
    alike = f"rank correlation {seen.next_row:.2f} of {seen.which!r} from one row to the next"
    if case.dependence.design_effect > seen.dependence.design_effect / 2:
        what = f"Neighbouring rows are alike ({alike}), which the copies or near copies explain."
        return [Finding("order", "ok", what, "", figures)]
    if not expected.held or expected.severity == "ok":
        what = f"Neighbouring rows are somewhat alike ({alike}), too little to change the false-alarm rate."
        return [Finding("order", "ok", what, "", figures)]
    return [_alike(seen, expected, alike, figures)]


def _alike(seen: RowOrder, expected: Expected, alike: str, figures: dict[str, object]) -> Finding:
    what = (
        f"Neighbouring rows are alike ({alike}). If new rows come from other times or sessions, {_count_as(expected)}"
    )
    remedy = (
        f"If the rows come by session, fit with groups=; of a time series, keep one row in {seen.every:,}. If they "
        f"are only sorted by kind, and new rows are of the same kinds, nothing is wrong."
    )
    # Rows that are sorted by kind are alike, too, but differ within their kind.
    severity = expected.severity if seen.next_row >= _NEARLY_COPIES else at_most(expected.severity, "warning")
    return Finding("order", severity, what, remedy, figures)


def check_time(case: Case) -> list[Finding]:
    """Look for rows that change from the beginning of the table to its end."""
    seen = case.row_order
    if seen is None or seen.sorted_by:
        return []
    if not seen.is_drifting:
        return [Finding("time", "ok", "Later rows are like earlier ones.", "", {"trend": seen.trend})]
    shares = _forward(case)
    figures = {"trend": seen.trend, "flagged_later": {f"{alpha:g}": share for alpha, share in shares.items()}}
    changes = "rises" if seen.trend > 0 else "falls"
    what = f"The uncertainty {changes} from the first row to the last (rank correlation {seen.trend:.2f})."
    if shares:
        rates = " and ".join(f"{percent(share)} at alpha {alpha:g}" for alpha, share in shares.items())
        what = f"{what} Calibrated on the first four fifths, the last fifth is flagged at these rates: {rates}."
    remedy = "If the order is that of time, calibrate on recent rows only, and watch new rows with a monitor."
    return [Finding("time", worst([severity_of(shares), "note"]), what, remedy, figures)]


def _forward(case: Case) -> dict[float, float]:
    """Return how often later rows are flagged by a ranker of earlier ones, at each rate that can be had."""
    cut = len(case.values) * 4 // 5
    early, late = (drawn(rows, MOST_ROWS) for rows in (case.values[:cut], case.values[cut:]))
    ranker = case.refit(early, case.settings) if len(late) >= FEWEST_ROWS else ""
    if isinstance(ranker, str) or not ranker.diagnostics.n_held:
        return {}
    scores = ranker.rank_complete(late)[1]
    # Where less than four rows are expected, one or two more mean nothing.
    least = max(1 / (ranker.diagnostics.n_held + 1), 4 / len(late))
    return {alpha: float((scores > ranker.threshold(alpha)).mean()) for alpha in USUAL if alpha >= least}
