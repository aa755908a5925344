"""A store without its service: what it holds, its feedback as a table, and what its audits say of a gate."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from vecuq._check import one_line
from vecuq.errors import SettingError, TableError
from vecuq.gate import LiveGate
from vecuq.service.keeping.exporting import KINDS, batch_of, schema_of
from vecuq.service.keeping.gates import replayed
from vecuq.service.keeping.models import read_checksum
from vecuq.service.keeping.reading import contents, export_columns, export_page
from vecuq.service.keeping.schema import VERSION, opened_to_read
from vecuq.service.keeping.store import Store
from vecuq.table import write_batches
from vecuq.workflows import Audited, refuse_place

if TYPE_CHECKING:
    import sqlite3

    import pyarrow as pa

_VERDICTS = {"proven": "kept", "broken": "broken", "unproven": "open"}


def describe_store(path: Path) -> dict[str, Any]:
    """Return what a store holds, per model; also while a service writes it."""
    with closing(opened_to_read(path)) as connection:
        connection.execute("BEGIN")  # one state, whatever is written meanwhile
        store = Store(connection)
        held = {name: _described(store, name, facts) for name, facts in contents(connection).items()}
    return {
        "file": str(path),
        "kind": "store of a service",
        "version": VERSION,
        "bytes": path.stat().st_size,
        **{f"model {name}": facts for name, facts in held.items()},
    }


def _described(store: Store, name: str, facts: dict[str, Any]) -> dict[str, Any]:
    n_rows, first, last = facts["rows"]
    found = {
        "rows": n_rows,
        "from": _when(first),
        "to": _when(last),
        "drawn for the audit": facts["audited"][0],
        "audits": facts["audits"][0],
        "reviews": facts["reviews"][0],
        "events since the checkpoint": facts["events"][0],
    }
    live = replayed(store, name)
    return found if live is None else {**found, "gate": live[1], "audit": str(live[0])}


def audit_store(gate_file: Path, path: Path) -> tuple[Audited, LiveGate]:
    """Return what the audits in a store say of the gate in a file, however often one looks; and the live gate."""
    checksum = read_checksum(gate_file)
    with closing(opened_to_read(path)) as connection:
        connection.execute("BEGIN")
        store = Store(connection)
        known = {name: one for name in contents(connection) if (one := replayed(store, name)) is not None}
    live = next((one[0] for one in known.values() if one[1] == checksum), None)
    if live is None:
        others = ", ".join(f"{name} (checksum {one[1][:12]})" for name, one in known.items()) or "nothing"
        raise TableError(
            f"{path} holds no audit of {gate_file} (checksum {checksum[:12]}); it holds audits of: {others}. Give the "
            f"file that the service serves."
        )
    found = live.standing
    rate = found.wrong / found.n_counted if found.n_counted else None
    bounds = (found.lower, found.bound, live.allowed, live.confidence)
    counts = (found.n_counted, found.n_counted, float(found.wrong), rate)
    return Audited(_VERDICTS[live.state], *counts, *bounds), live


def export_store(
    path: Path, out: Path, *, kind: str | None = None, model: str | None = None, force: bool = False
) -> dict[str, int]:
    """Write the feedback in a store as a table, joined with the rows it is about; return how much of each kind."""
    refuse_place(out, reads=[path], force=force)
    with closing(opened_to_read(path)) as connection:
        connection.execute("BEGIN")
        names = list(contents(connection))
        if model is not None and model not in names:
            raise SettingError(f"{path} holds no model {one_line(model, most=40)!r}; it holds {', '.join(names)}.")
        counted = dict.fromkeys(KINDS, 0)
        write_batches(out, _batches(connection, kind, model, counted), formulas=False)
    return counted


def _batches(
    connection: sqlite3.Connection, kind: str | None, model: str | None, counted: dict[str, int]
) -> Iterator[pa.RecordBatch]:
    columns = export_columns(connection, model)
    schema, after = schema_of(columns), 0
    while True:
        page, last = export_page(connection, model=model, kind=kind, after=after)
        for row in page:
            counted[row["feedback"]["kind"]] += 1
        yield batch_of(page, columns, schema)
        if last is None:
            return
        after = last


def _when(seconds: float | None) -> str | None:
    return None if seconds is None else datetime.fromtimestamp(seconds, UTC).isoformat(timespec="seconds")
