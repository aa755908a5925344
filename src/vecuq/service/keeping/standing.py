"""How things stand, in plain values: the live gate of a model, and all gauges for the metrics."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from vecuq.gate import LiveGate

if TYPE_CHECKING:
    from vecuq.service.keeping.desk import Desk

Gauge = list[Any]  # name, labels, value, help
STATE_CODES = {"proven": 1, "unproven": 0, "broken": -1}


def standing_of(live: LiveGate | None) -> dict[str, Any] | None:
    """Return bound, state and counts of a live gate; None if there is none."""
    if live is None:
        return None
    found = live.describe()
    del found["gate"]
    return {**{name.replace(",", "").replace(" ", "_"): value for name, value in found.items()}, "words": str(live)}


def gauges_of(desk: Desk, models: Mapping[str, tuple[LiveGate | None, dict[str, Any] | None]]) -> list[Gauge]:
    """Return all gauges, those of one name together."""
    found = [
        gauge for name, (live, drift) in models.items() for gauge in (*_of_gate(name, live), *_of_drift(name, drift))
    ]
    return sorted(found, key=lambda gauge: str(gauge[0])) + _of_store(desk)


def _of_gate(name: str, live: LiveGate | None) -> list[Gauge]:
    if live is None:
        return []
    about = {"model": name}
    standing = live.standing
    state = live.state
    return [
        ["vecuq_gate_bound", about, standing.bound, "Upper bound on the running error rate of accepted rows."],
        ["vecuq_gate_allowed", about, live.allowed, "Error rate of accepted rows that the gate allows."],
        ["vecuq_gate_state", about, STATE_CODES[state], "1 proven, 0 unproven, -1 broken."],
        ["vecuq_gate_epoch", about, len(live.epochs) + 1, "Number of the epoch of the audit."],
        ["vecuq_audits_counted", about, standing.n_counted, "Audited rows that the bound rests on."],
        ["vecuq_audits_pending", about, len(live.pending), "Audited rows whose label is awaited."],
        ["vecuq_audits_overdue", about, len(live.overdue), "Audited rows whose label is overdue."],
    ]


def _of_drift(name: str, drift: dict[str, Any] | None) -> list[Gauge]:
    if drift is None:
        return []
    raised = {alarm["stream"] for alarm in drift["alarms"]}
    of_streams = [
        gauge
        for stream, evidence in drift["evidence"].items()
        for gauge in (
            ["vecuq_drift_evidence", {"model": name, "stream": stream}, evidence, "Evidence of drift; 1 without any."],
            ["vecuq_drift_alarm", {"model": name, "stream": stream}, int(stream in raised), "Whether drift was found."],
        )
    ]
    skipped = drift["arrived"] - drift["watched"]
    return [
        *of_streams,
        ["vecuq_drift_rows", {"model": name}, drift["rows"], "Rows that the drift monitor has seen."],
        [
            "vecuq_drift_rows_skipped",
            {"model": name},
            skipped,
            "Rows that the drift monitor left out, by a random draw.",
        ],
    ]


def _of_store(desk: Desk) -> list[Gauge]:
    size = desk.path.stat().st_size
    return [
        ["vecuq_store_bytes", {}, size, "Size of the database."],
        ["vecuq_store_rows", {}, desk.store.n_rows, "Scored rows in the log."],
        ["vecuq_store_feedback", {}, desk.store.n_feedback, "Feedback in the store."],
        ["vecuq_store_journal", {}, desk.store.n_events, "Events since the last checkpoints."],
    ]
