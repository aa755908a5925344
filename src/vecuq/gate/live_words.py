"""What a live gate has to say, in one paragraph."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from vecuq.gate.live import LiveGate


def paragraph(live: LiveGate) -> str:
    """Return what was decided, what the labels say, and whether the promise is proven, unproven or broken."""
    sentences = (_epoch(live), _decided(live), _labels(live), _bound(live), _verdict(live))
    return " ".join(sentence for sentence in sentences if sentence)


def _epoch(live: LiveGate) -> str:
    if not live.epochs:
        return ""
    last = live.epochs[-1]
    return (
        f"Epoch {len(live.epochs) + 1}; the one before ended {last.state} after {last.audited:,} audited rows, "
        f"{last.wrong:,} of them wrong."
    )


def _decided(live: LiveGate) -> str:
    return f"{live.decided:,} rows decided, {live.accepted:,} accepted, {live.audited:,} of these drawn for the audit."


def _labels(live: LiveGate) -> str:
    late, waiting, lost = len(live.overdue), len(live.pending), live.ledger.closed.lost
    labelled = live.audited - late - waiting - lost
    parts = [f"{labelled:,} have a label, {live.epoch.wrong:,} of them wrong"]
    parts += [f"{waiting:,} wait for theirs"] if waiting else []
    parts += [f"{late + lost:,} overdue, counted as wrong in the bound"] if late + lost else []
    return "; ".join(parts) + "."


def _bound(live: LiveGate) -> str:
    found = live.standing
    if not found.n_counted:
        return "Nothing is known of the error rate yet."
    return (
        f"By the first {found.n_counted:,} audited rows, the error rate of accepted rows so far is at most "
        f"{found.bound:.3g} and at least {found.lower:.3g}, each with confidence {live.confidence:g}, however often "
        f"one looks."
    )


def _verdict(live: LiveGate) -> str:
    allowed = f"an error rate of at most {live.allowed:g}"
    return {
        "proven": f"Proven: the promise is {allowed}.",
        "unproven": f"Unproven: the promise is {allowed}, and more labels must show it.",
        "broken": f"Broken: the promise is {allowed}, and the labels contradict it. Recalibrate the gate.",
    }[live.state]
