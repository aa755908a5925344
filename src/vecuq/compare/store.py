"""A file of results by key: SQLite, for several processes at once; a killed process leaves it whole."""

from __future__ import annotations

import json
import os
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from threading import Lock
from typing import Any

from vecuq.errors import VecuqError

# "vecu", so that a database of another program is recognised and left alone.
_APPLICATION = 0x76656375
_WAIT = 60.0
_AT_ONCE = 500
_TABLE = "CREATE TABLE results (key BLOB PRIMARY KEY, result TEXT NOT NULL) WITHOUT ROWID"
# An embedding has some thousand numbers.
_MOST_LETTERS = 4_000_000


class Store:
    """Numbers, or rows of numbers, by key.

    Parameters
    ----------
    path
        The file; it is made on first use.
    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        self._opened: tuple[int, sqlite3.Connection] | None = None
        self._lock = Lock()

    def get(self, keys: Sequence[bytes]) -> dict[bytes, Any]:
        """Return the results that are known, by key."""
        found: dict[bytes, Any] = {}
        with self._connected() as database:
            for start in range(0, len(keys), _AT_ONCE):
                some = list(keys[start : start + _AT_ONCE])
                marks = ",".join("?" * len(some))
                rows = database.execute(f"SELECT key, result FROM results WHERE key IN ({marks})", some)  # noqa: S608
                found |= {bytes(key): _result(said) for key, said in rows}
        return found

    def put(self, results: Mapping[bytes, Any]) -> None:
        """Add results; all of them are there, or none if the process ends before."""
        rows = [(key, json.dumps(result)) for key, result in results.items()]
        with self._connected() as database, database:
            database.executemany("INSERT OR REPLACE INTO results VALUES (?, ?)", rows)

    @contextmanager
    def _connected(self) -> Iterator[sqlite3.Connection]:
        with self._lock:
            try:
                yield self._connection()
            except (sqlite3.Error, ValueError, TypeError) as error:  # also a result that is no JSON
                self._close()
                raise VecuqError(
                    f"{self.path} cannot be used as a cache: {error}. If it is a damaged cache, delete it; the results "
                    f"are computed again."
                ) from None

    def _connection(self) -> sqlite3.Connection:
        """Return the connection of this process; one made before a fork belongs to the parent."""
        if self._opened is None or self._opened[0] != os.getpid():
            database = sqlite3.connect(self.path, timeout=_WAIT, check_same_thread=False)
            self._opened = (os.getpid(), database)
            database.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, _MOST_LETTERS)
            database.execute("PRAGMA trusted_schema = OFF")
            with database:
                database.execute("BEGIN IMMEDIATE")
                _prepare(database)
        return self._opened[1]

    def _close(self) -> None:
        if self._opened is not None:
            self._opened[1].close()
        self._opened = None

    def __getstate__(self) -> dict[str, Any]:
        return {"path": self.path}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__init__(state["path"])  # type: ignore[misc]

    def __del__(self) -> None:
        if self._opened is not None and self._opened[0] == os.getpid():
            self._opened[1].close()


def _result(said: Any) -> Any:
    """Return a result as it was put in: a number, or a list of numbers."""
    try:
        found = json.loads(said)
    except RecursionError:
        found = None
    numbers = found if isinstance(found, list) else [found]
    if not all(isinstance(one, int | float) and not isinstance(one, bool) for one in numbers):
        raise ValueError("it holds something else than numbers")
    return found


def _prepare(database: sqlite3.Connection) -> None:
    """Make the table in an empty file; refuse a database of another program, and one with more than the table.

    A view or a trigger would run what a stranger wrote.
    """
    (application,) = database.execute("PRAGMA application_id").fetchone()
    made = [sql for (sql,) in database.execute("SELECT sql FROM sqlite_master LIMIT 2")]
    if made and (application != _APPLICATION or made != [_TABLE]):
        raise ValueError("it is a database of another program")
    if not made:
        database.execute(f"PRAGMA application_id = {_APPLICATION}")
        database.execute(_TABLE)
