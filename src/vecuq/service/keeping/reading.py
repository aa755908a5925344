"""What is read from the database: rows to review, single rows, pages of an export, and what there is at all."""

from __future__ import annotations

import json
import sqlite3
from typing import Any

from vecuq.service.keeping.store import row_values

# A page of an export ends after so many rows or bytes, whichever comes first.
PAGE_ROWS, PAGE_BYTES = 2_000, 4 * 2**20
_SCORED = (
    "s.id, m.name, s.at, h.checksum, h.columns, s.row, s.uncertainty, s.p_value, s.accept, s.p_wrong, s.audit, "
    "s.category, s.texts"
)
_FEEDBACK = "f.kind, f.correct, f.ood, f.comment, f.who, f.at"


def to_review(connection: sqlite3.Connection, model: str, *, limit: int, after: str | None) -> list[dict[str, Any]]:
    """Return rows that were not accepted and have no feedback, the most uncertain first; without a score last."""
    begin, about = "", [model]
    if after is not None:
        last = connection.execute(
            "SELECT s.uncertainty, s.seq FROM scored AS s JOIN models AS m USING (model) WHERE m.name = ? AND s.id = ?",
            (model, after),
        ).fetchone()
        if last is not None and last[0] is not None:
            begin = "AND (s.uncertainty < ? OR s.uncertainty IS NULL OR (s.uncertainty = ? AND s.seq > ?))"
            about += [last[0], last[0], last[1]]
        elif last is not None:
            begin, about = "AND s.uncertainty IS NULL AND s.seq > ?", [*about, last[1]]
    found = connection.execute(
        f"SELECT {_SCORED} FROM scored AS s JOIN models AS m USING (model) JOIN shapes AS h USING (shape) "  # noqa: S608
        f"WHERE s.model = (SELECT model FROM models WHERE name = ?) AND s.found = 0 AND s.accept IS NOT 1 {begin} "
        f"ORDER BY s.uncertainty DESC, s.seq LIMIT ?",
        (*about, limit),
    )
    return [_row(row) for row in found]


def one_row(connection: sqlite3.Connection, model: str, name: str) -> dict[str, Any] | None:
    """Return a logged row with its feedback and what that replaced; None if neither is known."""
    about = (model, name)
    row = connection.execute(
        f"SELECT {_SCORED} FROM scored AS s JOIN models AS m USING (model) JOIN shapes AS h USING (shape) "  # noqa: S608
        f"WHERE m.name = ? AND s.id = ?",
        about,
    ).fetchone()
    said = [
        _feedback(line)
        for table in ("feedback", "history")
        for line in connection.execute(
            f"SELECT {_FEEDBACK} FROM {table} AS f JOIN models AS m USING (model) WHERE m.name = ? AND f.id = ? "  # noqa: S608
            f"ORDER BY f.seq DESC LIMIT 100",
            about,
        )
    ]
    if row is None and not said:
        return None
    shown = {"id": name, "model": model} if row is None else _row(row)
    return {**shown, "scored": row is not None, "feedback": said[0] if said else None, "history": said[1:]}


def rows_of(connection: sqlite3.Connection, model: str, ids: list[str]) -> dict[str, dict[str, Any]]:
    """Return logged rows by id."""
    found = connection.execute(
        f"SELECT {_SCORED} FROM json_each(?) AS j CROSS JOIN models AS m CROSS JOIN scored AS s "  # noqa: S608
        f"ON s.model = m.model AND s.id = j.value JOIN shapes AS h USING (shape) WHERE m.name = ?",
        (json.dumps(ids), model),
    )
    return {row[0]: _row(row) for row in found}


def export_columns(connection: sqlite3.Connection, model: str | None) -> list[str]:
    """Return the score columns of all rows that an export may hold."""
    found = connection.execute(
        "SELECT h.columns FROM shapes AS h WHERE EXISTS (SELECT 1 FROM scored AS s JOIN models AS m USING (model) "
        "WHERE s.shape = h.shape AND (? IS NULL OR m.name = ?)) ORDER BY h.shape",
        (model, model),
    )
    return list(dict.fromkeys(name for (columns,) in found for name in json.loads(columns)))


def export_page(
    connection: sqlite3.Connection, *, model: str | None, kind: str | None, after: int
) -> tuple[list[dict[str, Any]], int | None]:
    """Return the next feedback, each with its row, and where to go on; None at the end."""
    where = "".join(f" AND {name} = ?" for name, value in (("m.name", model), ("f.kind", kind)) if value is not None)
    found = connection.execute(
        f"SELECT f.seq, f.id, m.name, {_FEEDBACK}, {_SCORED} FROM feedback AS f JOIN models AS m USING (model) "  # noqa: S608
        f"LEFT JOIN scored AS s ON s.model = f.model AND s.id = f.id LEFT JOIN shapes AS h USING (shape) "
        f"WHERE f.seq > ?{where} ORDER BY f.seq LIMIT ?",
        (after, *(value for value in (model, kind) if value is not None), PAGE_ROWS),
    )
    page, size = list[dict[str, Any]](), 0
    for seq, name, of_model, *rest in found:
        said, row = _feedback(rest[:6]), rest[6:]
        scored = _row(row) if row[0] is not None else {"id": name, "model": of_model}
        page.append({**scored, "feedback": said})
        after, size = seq, size + sum(len(part) for part in (*rest, name) if isinstance(part, str | bytes))
        if size > PAGE_BYTES:
            return page, after
    return page, after if len(page) == PAGE_ROWS else None


def contents(connection: sqlite3.Connection) -> dict[str, Any]:
    """Return per model how much the store holds."""
    one = connection.execute
    counts = {
        "rows": "SELECT COUNT(*), MIN(at), MAX(at) FROM scored WHERE model = ?",
        "audited": "SELECT COUNT(*) FROM scored WHERE model = ? AND audit = 1",
        "audits": "SELECT COUNT(*) FROM feedback WHERE model = ? AND kind = 'audit'",
        "reviews": "SELECT COUNT(*) FROM feedback WHERE model = ? AND kind = 'review'",
        "events": "SELECT COUNT(*) FROM journal WHERE model = ?",
    }
    return {
        name: {what: one(sql, (model,)).fetchone() for what, sql in counts.items()}
        for model, name in one("SELECT model, name FROM models ORDER BY model").fetchall()
    }


def _row(row: Any) -> dict[str, Any]:
    """Return a logged row as plain values."""
    name, model, at, checksum, columns, values, uncertainty, p_value, accept, p_wrong, audit, category, texts = row
    numbers = (None if value != value else value for value in row_values(values))  # noqa: PLR0124 - NaN
    return {
        "id": name,
        "model": model,
        "time": at,
        "checksum": checksum,
        "values": dict(zip(json.loads(columns), numbers, strict=True)),
        "uncertainty": uncertainty,
        "p_value": p_value,
        "accept": _truth(accept),
        "p_wrong": p_wrong,
        "audit": _truth(audit),
        "by": category,
        "texts": None if texts is None else json.loads(texts),
    }


def _feedback(line: Any) -> dict[str, Any]:
    kind, correct, ood, comment, who, at = line
    return {
        "kind": kind,
        "correct": _truth(correct),
        "ood": _truth(ood),
        "comment": comment,
        "who": who,
        "time": at,
    }


def _truth(value: int | None) -> bool | None:
    return None if value is None else bool(value)
