"""Store: what is written to the database, in the words of the service. One thread uses it, inside a transaction."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import msgspec
import numpy as np

from vecuq._check import Array

_pack, _unpack = msgspec.msgpack.Encoder().encode, msgspec.msgpack.Decoder().decode
# What is known of a row, as bits of the column `found`.
REVIEWED, LABELLED = 1, 2


class Logged(NamedTuple):
    """What the log knows of a row that was decided before."""

    accept: int | None
    audit: int | None
    checksum: str


class Kept(NamedTuple):
    """Feedback that is on disk."""

    kind: str
    correct: int | None
    ood: int | None
    comment: str | None
    token: str


class Checkpoint(NamedTuple):
    """The saved state of a live gate or a monitor, and the last event of the journal that is in it."""

    seq: int
    checksum: str
    state: bytes


class Store:
    """The tables of one open database."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self.run = connection.execute
        self.run_many = connection.executemany
        self._models: dict[str, int] = {}
        self._shapes: dict[tuple[str, tuple[str, ...]], int] = {}
        self.n_rows: int = self.run("SELECT COUNT(*) FROM scored").fetchone()[0]
        self.n_feedback: int = self.run("SELECT COUNT(*) FROM feedback").fetchone()[0]
        self.n_events: int = self.run("SELECT COUNT(*) FROM journal").fetchone()[0]

    def forget(self) -> None:
        """Count again, after a transaction was rolled back."""
        self._models.clear()
        self._shapes.clear()
        for name, table in (("n_rows", "scored"), ("n_feedback", "feedback"), ("n_events", "journal")):
            setattr(self, name, self.run(f"SELECT COUNT(*) FROM {table}").fetchone()[0])  # noqa: S608 - our own names

    def model(self, name: str) -> int:
        """Return the number of a model."""
        if name not in self._models:
            found = self.run("SELECT model FROM models WHERE name = ?", (name,)).fetchone()
            self._models[name] = found[0] if found else self._new_model(name)
        return self._models[name]

    def _new_model(self, name: str) -> int:
        return int(self.run("INSERT INTO models (name) VALUES (?)", (name,)).lastrowid or 0)

    def shape(self, checksum: str, columns: tuple[str, ...]) -> int:
        """Return the number of a model file with its columns."""
        if (checksum, columns) not in self._shapes:
            about = (checksum, json.dumps(columns))
            self.run("INSERT OR IGNORE INTO shapes (checksum, columns) VALUES (?, ?)", about)
            found = self.run("SELECT shape FROM shapes WHERE checksum = ? AND columns = ?", about).fetchone()
            self._shapes[checksum, columns] = found[0]
        return self._shapes[checksum, columns]

    def logged(self, model: int, ids: Sequence[str]) -> dict[str, Logged]:
        """Return what the log knows of rows, by id."""
        found = self.run(
            "SELECT s.id, s.accept, s.audit, h.checksum FROM json_each(?) AS j CROSS JOIN scored AS s "
            "ON s.model = ? AND s.id = j.value JOIN shapes AS h USING (shape)",
            (_listed(ids), model),
        )
        return {name: Logged(*rest) for name, *rest in found}

    def log(self, rows: Sequence[tuple[Any, ...]]) -> None:
        """Keep rows that are not in the log."""
        self.run_many(
            "INSERT INTO scored (model, id, at, shape, row, uncertainty, p_value, accept, p_wrong, audit, pending, "
            "found, category, texts) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            rows,
        )
        self.n_rows += len(rows)

    def with_feedback(self, model: int, ids: Sequence[str]) -> dict[str, str]:
        """Return the kind of feedback of the rows that have some."""
        found = self.run(
            "SELECT f.id, f.kind FROM json_each(?) AS j CROSS JOIN feedback AS f ON f.model = ? AND f.id = j.value",
            (_listed(ids), model),
        )
        return dict(found)

    def kept(self, model: int, name: str) -> Kept | None:
        """Return the feedback of a row."""
        found = self.run(
            "SELECT kind, correct, ood, comment, token FROM feedback WHERE model = ? AND id = ?", (model, name)
        ).fetchone()
        return None if found is None else Kept(*found)

    def was_replaced(self, model: int, name: str, token: str) -> bool:
        """Whether this very request has written feedback that another has replaced since."""
        about = (model, name, token)
        return bool(self.run("SELECT 1 FROM history WHERE model = ? AND id = ? AND token = ?", about).fetchone())

    def keep(self, model: int, name: str, said: tuple[Any, ...]) -> None:
        """Write the feedback of a row; what it replaces goes to the history."""
        about = (model, name)
        self.run(
            "INSERT INTO history SELECT seq, model, id, at, kind, correct, ood, comment, who, token FROM feedback "
            "WHERE model = ? AND id = ?",
            about,
        )
        gone = self.run("DELETE FROM feedback WHERE model = ? AND id = ?", about).rowcount
        self.run(
            "INSERT INTO feedback (model, id, at, kind, correct, ood, comment, who, token) "
            "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (*about, *said),
        )
        self.n_feedback += 1 - gone

    def mark(self, model: int, name: str, *, labelled: bool) -> None:
        """Note in the log that a row has feedback."""
        self.run(
            "UPDATE scored SET found = found | ?, pending = CASE WHEN ? THEN 0 ELSE pending END "
            "WHERE model = ? AND id = ?",
            (LABELLED if labelled else REVIEWED, labelled, model, name),
        )

    def end_epoch(self, model: int) -> None:
        """No label is awaited any more."""
        self.run("UPDATE scored SET pending = 0 WHERE model = ? AND pending = 1", (model,))

    def happened(self, model: int, event: Sequence[Any]) -> None:
        """Write an event of a live gate."""
        self.run("INSERT INTO journal (model, event) VALUES (?, ?)", (model, _pack(event)))
        self.n_events += 1

    def events(self, model: int, after: int) -> Iterable[list[Any]]:
        """Yield the events of a live gate in their order."""
        for (event,) in self.run("SELECT event FROM journal WHERE model = ? AND seq > ? ORDER BY seq", (model, after)):
            yield _unpack(event)

    def last_event(self) -> int:
        """Return the number of the newest event, over all time."""
        found = self.run("SELECT seq FROM sqlite_sequence WHERE name = 'journal'").fetchone()
        return int(found[0]) if found else 0

    def checkpoint(self, model: int, kind: str) -> Checkpoint | None:
        """Return the saved state of a live gate or a monitor."""
        found = self.run(
            "SELECT seq, checksum, state FROM checkpoints WHERE model = ? AND kind = ?", (model, kind)
        ).fetchone()
        return None if found is None else Checkpoint(*found)

    def save(self, model: int, kind: str, at: float, checksum: str, state: bytes) -> None:
        """Save a state; of a live gate, its events so far are in it and go."""
        self.run(
            "INSERT OR REPLACE INTO checkpoints (model, kind, seq, at, checksum, state) VALUES (?, ?, ?, ?, ?, ?)",
            (model, kind, self.last_event(), at, checksum, state),
        )
        if kind == "live":
            self.n_events -= self.run("DELETE FROM journal WHERE model = ?", (model,)).rowcount


def number(value: Any) -> float | None:
    """Return a number as SQLite has it, which knows no NaN."""
    return None if value is None or value != value else float(value)  # noqa: PLR0124 - NaN differs from itself


def row_bytes(values: Array) -> list[bytes]:
    """Return each row of scores as bytes, to the bit."""
    whole = np.ascontiguousarray(values, dtype="<f8")
    return [row.tobytes() for row in whole]


def row_values(row: bytes) -> list[float]:
    """Return what :func:`row_bytes` packed."""
    values: list[float] = np.frombuffer(row, dtype="<f8").tolist()
    return values


def _listed(ids: Sequence[str]) -> str:
    return json.dumps(list(ids))
