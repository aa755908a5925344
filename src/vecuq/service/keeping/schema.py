"""The database of a service: how it is laid out, opened for writing by one process, or for reading by anybody."""

from __future__ import annotations

import sqlite3
from pathlib import Path

from vecuq._check import existing_file, one_line
from vecuq.errors import ModelFileError

# "vecq": marks the file as ours.
APPLICATION = 0x76656371
VERSION = 1
_MAGIC = b"SQLite format 3\0"
# Larger files are looked at page by page only when they are used: a look at all of it would take too long.
_CHECKED_BYTES = 64 * 2**20
# Seconds to wait for somebody who reads, where that prevents writing: at the start and the end.
_PATIENCE = 10.0

# Everything that is counted is named by the number of its model; ids belong to one row for good.
_LAYOUT = """
CREATE TABLE models (model INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE);
CREATE TABLE shapes (shape INTEGER PRIMARY KEY, checksum TEXT NOT NULL, columns TEXT NOT NULL,
    UNIQUE (checksum, columns));
CREATE TABLE scored (seq INTEGER PRIMARY KEY AUTOINCREMENT, model INTEGER NOT NULL, id TEXT NOT NULL,
    at REAL NOT NULL, shape INTEGER NOT NULL, row BLOB NOT NULL, uncertainty REAL, p_value REAL, accept INTEGER,
    p_wrong REAL, audit INTEGER, pending INTEGER NOT NULL DEFAULT 0, found INTEGER NOT NULL DEFAULT 0,
    category TEXT, texts TEXT, UNIQUE (model, id));
CREATE INDEX to_review ON scored (model, uncertainty DESC) WHERE found = 0 AND accept IS NOT 1;
CREATE INDEX awaited ON scored (model, seq) WHERE pending = 1;
CREATE TABLE feedback (seq INTEGER PRIMARY KEY AUTOINCREMENT, model INTEGER NOT NULL, id TEXT NOT NULL,
    at REAL NOT NULL, kind TEXT NOT NULL, correct INTEGER, ood INTEGER, comment TEXT, who TEXT,
    token TEXT NOT NULL, UNIQUE (model, id));
CREATE TABLE history (seq INTEGER PRIMARY KEY, model INTEGER NOT NULL, id TEXT NOT NULL, at REAL NOT NULL,
    kind TEXT NOT NULL, correct INTEGER, ood INTEGER, comment TEXT, who TEXT, token TEXT NOT NULL);
CREATE INDEX of_row ON history (model, id);
CREATE TABLE journal (seq INTEGER PRIMARY KEY AUTOINCREMENT, model INTEGER NOT NULL, event BLOB NOT NULL);
CREATE TABLE checkpoints (model INTEGER NOT NULL, kind TEXT NOT NULL, seq INTEGER NOT NULL, at REAL NOT NULL,
    checksum TEXT NOT NULL, state BLOB NOT NULL, PRIMARY KEY (model, kind));
"""


_ENDINGS = (".sqlite", ".sqlite3", ".db")


def is_database(path: Path) -> bool:
    """Whether a file is a SQLite database, by its first bytes."""
    try:
        with path.open("rb") as file:
            return file.read(len(_MAGIC)) == _MAGIC
    except OSError:
        return False


def is_store(path: Path) -> bool:
    """Whether a file should be a store: a database, or something else with the name of one."""
    return path.suffix.lower() in _ENDINGS or is_database(path)


def opened(path: Path) -> sqlite3.Connection:
    """Open the database to write, and make it if it is not there; the caller holds the lock of the file."""
    if path.exists() and path.stat().st_size and not is_database(existing_file(path)):
        raise ModelFileError(f"{path} is not the database of a service. Give another name for the store.")
    try:
        made = sqlite3.connect(path, _PATIENCE, isolation_level=None, check_same_thread=False)
    except sqlite3.Error as error:
        raise ModelFileError(f"{path} cannot be opened as a store: {one_line(error)}.") from None
    try:
        return _prepared(made, path)
    except sqlite3.Error as error:
        made.close()
        raise _damaged(path, error) from None
    except ModelFileError:
        made.close()
        raise


def opened_to_read(path: Path) -> sqlite3.Connection:
    """Open the database to read, also while a service writes it; refuse any file that is none."""
    if not is_database(existing_file(path)):
        raise ModelFileError(f"{path} is not the store of a service, which `vecuq serve --store` makes.")
    try:
        made = sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True, check_same_thread=False)
        made.execute("PRAGMA busy_timeout = 5000")
        _refuse_others(made, path)
    except sqlite3.Error as error:
        raise _damaged(path, error) from None
    return made


def _prepared(made: sqlite3.Connection, path: Path) -> sqlite3.Connection:
    fresh = not made.execute("SELECT 1 FROM sqlite_master LIMIT 1").fetchone()
    if fresh:
        made.execute("PRAGMA auto_vacuum = INCREMENTAL")
    else:
        _refuse_others(made, path)
    made.execute("PRAGMA journal_mode = WAL")
    # An acknowledged commit is on disk, also if the power fails.
    made.execute("PRAGMA synchronous = FULL")
    made.execute(f"PRAGMA journal_size_limit = {_CHECKED_BYTES}")
    if fresh:
        marks = f"PRAGMA application_id = {APPLICATION}; PRAGMA user_version = {VERSION};"
        made.executescript(f"BEGIN; {_LAYOUT} {marks} COMMIT;")
    elif path.stat().st_size <= _CHECKED_BYTES:
        found = made.execute("PRAGMA quick_check(1)").fetchone()[0]
        if found != "ok":
            raise _damaged(path, found)
    return made


def _refuse_others(made: sqlite3.Connection, path: Path) -> None:
    """Raise for the database of another program, or of another version of this one."""
    (application,), (version,) = (
        made.execute(f"PRAGMA {name}").fetchone() for name in ("application_id", "user_version")
    )
    if application != APPLICATION:
        raise ModelFileError(
            f"{path} is the database of another program, not the store of a service. Give another name."
        )
    if version != VERSION:
        remedy = "Upgrade vecuq." if version > VERSION else "Give another name for the store."
        raise ModelFileError(
            f"{path} has version {version} of the store, and this vecuq reads version {VERSION}. {remedy}"
        )


def _damaged(path: Path, error: object) -> ModelFileError:
    return ModelFileError(
        f"{path} cannot be used as a store: {one_line(error)}. If it is damaged, put a backup in its place, or give "
        f"another name."
    )
