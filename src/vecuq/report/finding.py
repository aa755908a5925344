"""What was found, in one headline: how many rows call for a look, and whether chance explains them."""

from __future__ import annotations

from typing import Any

from vecuq.report.audit import Contradiction
from vecuq.report.counts import ALARMING, Counts
from vecuq.report.drift import NO_DRIFT, Drift
from vecuq.report.plain import count, percent, rows_word
from vecuq.report.subject import Decision, Subject

Said = tuple[str, str, str]  # tone, headline, detail


def finding_of(subject: Subject, counts: Counts, contradiction: Contradiction, drift: Drift = NO_DRIFT) -> Said:
    """Return tone, headline and detail."""
    if not subject.n_rows:
        return "notice", "The table of new rows is empty.", ""
    if not subject.n_scored:
        return "alarm", f"None of the {count(subject.n_rows)} new rows could be scored.", "Values are missing."
    if subject.decision is not None:
        return _decided(subject, counts, subject.decision, contradiction)
    return _flagged(subject, counts, drift)


def _flagged(subject: Subject, counts: Counts, drift: Drift) -> Said:
    n, expected = counts.n_flagged, f"about {count(counts.expected)} {_are(counts.expected)} expected by chance"
    many = f"{count(n)} of {rows_word(subject.n_scored)} {'is' if n == 1 else 'are'}"
    if not subject.has_held:
        headline = f"{many} above the threshold, which promises no false-alarm rate."
        return counts.tone, headline, "No calibration rows were held back, so there are no p-values."
    if counts.tone == "calm" and drift.moved:
        headline = f"The scores have moved, though chance explains the flagged rows: {many} flagged, {expected}."
        return "notice", headline, f"Different from the held-back rows: {drift.words}. {_probability(subject, counts)}"
    headline = {
        "calm": f"Nothing unusual: {many} flagged, {expected}.",
        "notice": f"{many} flagged, more than expected: {expected}.",
        "alarm": f"{many} flagged, more than chance explains: {expected}.",
    }[counts.tone]
    return counts.tone, headline, _probability(subject, counts)


def _probability(subject: Subject, counts: Counts) -> str:
    """Return how rare as many flagged rows are if the new rows are like the calibration rows."""
    flagged = f"Flagged: p-value at most {subject.rate:.3g}."
    if counts.chance is None:
        return f"{flagged} Rows come in groups here and are flagged together, so no probability of as many is given."
    chance = "below 0.001" if counts.chance < ALARMING else f"{counts.chance:.2g}"
    return f"{flagged} Probability of as many or more if the new rows are like the calibration rows: {chance}."


def _decided(subject: Subject, counts: Counts, decision: Decision, contradiction: Contradiction) -> Said:
    n, gate = int(decision.accepted.sum()), decision.gate
    left = subject.n_rows - n
    headline = f"{count(n)} of {rows_word(subject.n_rows)} ({percent(n / subject.n_rows)}) are accepted; " + (
        f"{count(left)} {'goes' if left == 1 else 'go'} to review."
    )
    promise = gate.certificate().promise
    if contradiction.is_broken:
        return "alarm", f"The labels contradict the certificate. {headline}", contradiction.words
    if not gate.certified_:
        return "notice", f"No row is accepted: {rows_word(subject.n_rows)} go to review.", promise
    if contradiction.unlike is not None:
        return "notice", headline, f"{promise} {contradiction.unlike_words}"
    if counts.tone == "alarm":
        more = f"But {count(counts.n_flagged)} rows are flagged, and about {count(counts.expected)} are expected."
        return "notice", headline, f"{promise} {more}"
    return "calm", headline, promise


def tiles_of(subject: Subject, counts: Counts) -> list[dict[str, str]]:
    """Return the four numbers of the first screen."""
    if not subject.n_scored:
        return []
    of_all = f", of {count(subject.n_rows)}" if subject.n_rows > subject.n_scored else ""
    scored = _tile(count(subject.n_scored), f"rows scored{of_all}")
    flagged = _tile(count(counts.n_flagged), f"flagged ({percent(counts.n_flagged / subject.n_scored)})")
    if subject.decision is not None:
        return [scored, *_decided_tiles(subject, subject.decision), flagged]
    if not subject.has_held:
        above = _tile(count(counts.n_flagged), "above the threshold")
        return [scored, above, _tile(f"{subject.threshold:.4g}", "threshold on uncertainty")]
    expected = _tile(count(counts.expected), f"expected at false-alarm rate {subject.rate:.3g}")
    return [scored, flagged, expected, _tile(f"{subject.threshold:.4g}", "threshold on uncertainty")]


def _decided_tiles(subject: Subject, decision: Decision) -> list[dict[str, str]]:
    n, gate = int(decision.accepted.sum()), decision.gate
    share = _tile(percent(n / subject.n_rows), f"accepted; {percent(gate.coverage_)} of the labelled rows were")
    return [share, _tile(count(subject.n_rows - n), "go to review")]


def _tile(value: str, label: str) -> dict[str, Any]:
    return {"value": value, "label": label}


def _are(n: float) -> str:
    return "is" if n == 1 else "are"
