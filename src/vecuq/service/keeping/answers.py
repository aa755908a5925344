"""Answers to what the page and clients ask: queues, the live view, single rows, pages of an export, gauges."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable, Mapping
from typing import Any

from vecuq.gate import LiveGate
from vecuq.service.keeping.desk import Desk
from vecuq.service.keeping.drift import Drift
from vecuq.service.keeping.reading import export_columns, export_page, one_row, rows_of, to_review
from vecuq.service.keeping.rows import ALPHA
from vecuq.service.keeping.schema import opened_to_read
from vecuq.service.keeping.series import Series
from vecuq.service.keeping.standing import gauges_of, standing_of


class Answers:
    """What can be asked. Some answers need the live gates, and are given in the thread that owns them."""

    at_the_desk = ("audit_queue", "live", "gauges")

    def __init__(self, desk: Desk, drift: Drift, series: Mapping[str, Series]) -> None:
        self._desk, self._drift, self._series = desk, drift, series
        self._reading: sqlite3.Connection | None = None

    def of(self, what: str, about: Mapping[str, Any]) -> Any:
        """Answer a question; of nothing else than what is listed here."""
        asked: dict[str, Callable[..., Any]] = {
            "queue": self._review_queue,
            "audit_queue": self._audit_queue,
            "live": self._live,
            "gauges": self._gauges,
            "row": self._row,
            "export": self._export,
            "columns": self._columns,
        }
        return asked[what](**about)

    def close(self) -> None:
        """Close the connection that reads."""
        if self._reading is not None:
            self._reading.close()

    @property
    def _connection(self) -> sqlite3.Connection:
        if self._reading is None:
            self._reading = opened_to_read(self._desk.path)
        return self._reading

    def note_levels(self) -> None:
        """Note evidence, bound and state of every model for the live view."""
        now = time.time()
        for name, series in self._series.items():
            drift, live = self._drift.status(name), self._desk.standing(name)
            evidence = None if drift is None else max(drift["evidence"].values())
            bound, state = (None, None) if live is None else (live.bound, live.state)
            series.set(now, drift=evidence, bound=bound, state=state)

    def _name(self, model: str | None) -> str:
        return self._desk.known(model)

    def _review_queue(self, *, model: str | None = None, limit: int = 100, after: str | None = None) -> Any:
        return to_review(self._connection, self._name(model), limit=limit, after=after)

    def _audit_queue(self, *, model: str | None = None, limit: int = 100, after: str | None = None) -> Any:
        """Return rows that were drawn and await their label, in the order of their decisions."""
        name = self._name(model)
        live = self._desk.gates.live.get(name)
        if live is None:
            return []
        late = set(live.overdue)
        waiting = [one for one, label in live.ledger.labels.items() if label < 0]
        start = waiting.index(after) + 1 if after in waiting else 0
        chosen = waiting[start : start + limit]
        known = rows_of(self._desk.connection, name, chosen)
        return [{**known.get(one, {"id": one, "model": name}), "overdue": one in late} for one in chosen]

    def _live(self, *, model: str | None = None) -> Any:
        name, now = self._name(model), time.time()
        total = self._series[name].total
        return {
            "model": name,
            "time": now,
            "alpha": ALPHA,
            "totals": total._asdict(),
            "gate": standing_of(self._live_gate(name)),
            "drift": self._drift.status(name),
            "series": self._series[name].to_dict(now),
        }

    def _gauges(self) -> Any:
        about = {name: (self._live_gate(name), self._drift.status(name)) for name in self._series}
        return gauges_of(self._desk, about)

    def _live_gate(self, name: str) -> LiveGate | None:
        return self._desk.gates.live.get(name) if self._desk.has_gate(name) else None

    def _row(self, *, id: str, model: str | None = None) -> Any:
        return one_row(self._connection, self._name(model), id)

    def _export(self, *, model: str | None = None, kind: str | None = None, after: int = 0) -> Any:
        return list(export_page(self._connection, model=model, kind=kind, after=after))

    def _columns(self, *, model: str | None = None) -> Any:
        return export_columns(self._connection, model)
