"""The saved live gate: one file with the gate, the audited rows and what they came to; and how it is read again."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict
from typing import Any

import numpy as np
from msgspec import structs

from vecuq._files import checked_header, checksum_of
from vecuq.conformal import Doubt
from vecuq.gate.gate import Gate
from vecuq.gate.ledger import Closed
from vecuq.gate.live import Epoch, LiveGate
from vecuq.gate.live_sense import LiveHeader, check_closed, check_ids, check_live
from vecuq.gate.memory import Memory
from vecuq.gate.names import DIGEST

VERSION = 1


def parts_of_live(live: LiveGate) -> tuple[str, dict[str, Any], dict[str, Any]]:
    """Return kind, header and arrays of a file that holds a live gate."""
    closed = live.ledger.closed
    header = {
        "version": VERSION,
        "audit": live.audit,
        "confidence": live.confidence,
        "overdue": live.ledger.overdue,
        "seed": live.seed,
        "decided": live.decided,
        "accepted": live.accepted,
        "n_labels": live.n_labels,
        "n_unaudited": live.n_unaudited,
        "epochs": [asdict(one) for one in live.epochs],
        "closed": {"n_rows": closed.n_rows, "wrong": closed.wrong, "lost": closed.lost, "peak": closed.peak},
    }
    names = [name.encode() for name in live.ledger.labels]
    codes = live.memory.codes
    arrays = {
        "gate": np.frombuffer(live.gate.to_bytes(), dtype=np.uint8),
        "audits.ids": np.frombuffer(b"".join(names), dtype=np.uint8),
        "audits.lengths": np.array([len(name) for name in names], dtype=np.int64),
        "audits.labels": np.fromiter(live.ledger.labels.values(), dtype=np.int8, count=len(names)),
        "memory.hashes": np.frombuffer(b"".join(codes), dtype=np.uint8).reshape(-1, DIGEST),
        "memory.codes": np.fromiter(codes.values(), dtype=np.uint8, count=len(codes)),
        "doubt.run": closed.doubt.run,
        "doubt.staked": closed.doubt.staked,
    }
    return "live", header, arrays


def live_of(header: dict[str, Any], arrays: dict[str, Any], load: Callable[[bytes], Any]) -> LiveGate:
    """Put a live gate together again; raise if a part of it makes no sense, by itself or beside the others."""
    known = checked_header(header, LiveHeader)
    check_live(known, arrays)
    gate = load(arrays["gate"].tobytes())
    if not isinstance(gate, Gate):
        raise ValueError("what it holds as its gate is none")
    live = LiveGate(
        gate, audit=known.audit, confidence=known.confidence, overdue=known.overdue, random_state=known.seed
    )
    live.decided, live.accepted = known.decided, known.accepted
    live.n_labels, live.n_unaudited = known.n_labels, known.n_unaudited
    live.epochs = tuple(Epoch(**structs.asdict(one)) for one in known.epochs)
    live.memory = Memory(dict(zip(_pieces(arrays["memory.hashes"]), arrays["memory.codes"].tolist(), strict=True)))
    live.ledger.labels = dict(zip(_names(arrays), arrays["audits.labels"].tolist(), strict=True))
    check_ids(list(live.ledger.labels), len(arrays["audits.labels"]), known.seed, live.memory)
    live.ledger.closed = _closed(known, arrays)
    check_closed(live.ledger.closed, gate.allowed)
    live.saved_as = frozenset({checksum_of(header, arrays)})
    return live


def _closed(known: LiveHeader, arrays: dict[str, Any]) -> Closed:
    stands = known.closed
    doubt = Doubt(stands.n_rows, arrays["doubt.run"], arrays["doubt.staked"])
    return Closed(stands.n_rows, stands.wrong, stands.lost, doubt, stands.peak)


def _names(arrays: dict[str, Any]) -> list[str]:
    """Return the ids, which stand one behind the other."""
    ends = np.cumsum(arrays["audits.lengths"]).tolist()
    text = arrays["audits.ids"].tobytes()
    return [text[start:end].decode() for start, end in zip([0, *ends], ends, strict=False)]


def _pieces(hashes: Any) -> list[bytes]:
    return [row.tobytes() for row in hashes]
