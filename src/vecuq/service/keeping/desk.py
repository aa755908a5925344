"""Desk: what lives in the writer's thread: the open database, the live gates, and the files that they belong to."""

from __future__ import annotations

import logging
import sqlite3
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from vecuq._check import real_path
from vecuq._files import locked
from vecuq.errors import SettingError, TableError, VecuqError
from vecuq.service.keeping.deciding import Outcome, decide
from vecuq.service.keeping.drift import Drift
from vecuq.service.keeping.findings import Findings
from vecuq.service.keeping.gates import LiveGates, Stands
from vecuq.service.keeping.models import KnownModel, read_model, signature
from vecuq.service.keeping.retention import retain
from vecuq.service.keeping.schema import opened
from vecuq.service.keeping.store import Store
from vecuq.service.recorder import Feedback, FeedbackTaken, ScoredRows
from vecuq.service.refusal import Refusal
from vecuq.service.settings import ServeSettings

LOG = logging.getLogger("vecuq.service.keeping")


class Desk:
    """All that is written goes over this desk; one thread sits at it."""

    connection: sqlite3.Connection
    store: Store
    gates: LiveGates

    def __init__(self, settings: ServeSettings, drift: Drift) -> None:
        if settings.store is None:
            raise SettingError("A recorder needs a store: settings.store.")
        self.settings, self.kept_by, self.drift = settings, settings.store, drift
        self.path: Path = real_path(settings.store.path)
        self.models: dict[str, KnownModel] = {}
        self._signatures: dict[str, tuple[int, ...]] = {}
        self.each_tick: Callable[[], None] = lambda: None
        self._looked = 0.0
        self._stack = ExitStack()

    def open(self) -> None:
        """Lock and open the database, load the models, and go on where the store stands."""
        try:
            self._stack.enter_context(locked(self.path))
        except TableError as error:
            shown = self.kept_by.path
            if not self.path.parent.is_dir():
                raise TableError(f"{shown} cannot be written: make the folder {shown.parent} first.") from None
            if "by another process" not in str(error):
                raise
            raise TableError(
                f"{shown} belongs to a service that is running. Stop it, or give another name for the store."
            ) from None
        try:
            self.connection = opened(self.path)
            self._stack.callback(self.connection.close)
            for name in self.settings.models:
                self._read(name)
            self.store = Store(self.connection)
            self._begin()
        except BaseException:
            self._stack.close()
            raise

    def _begin(self) -> None:
        """Read live gates and monitors from the store."""
        self.connection.execute("BEGIN IMMEDIATE")
        self.gates = LiveGates(self.store, self.kept_by)
        self.gates.open(self.models)
        for model in self.models.values():
            saved = self.store.checkpoint(self.store.model(model.name), "monitor")
            self.drift.use(model, None if saved is None else saved.state)
        self.connection.execute("COMMIT")

    def reload(self) -> None:
        """Go back to what is on disk: the live gates may have counted what could not be written."""
        self.store.forget()
        self.gates = LiveGates(self.store, self.kept_by)
        self.connection.execute("BEGIN IMMEDIATE")
        self.gates.open(self.models)
        self.connection.execute("COMMIT")

    def tick(self) -> None:
        """Look after files, old rows and checkpoints, about once a second."""
        now = time.monotonic()
        if self.settings.reload_every and now - self._looked >= self.settings.reload_every:
            self._looked = now
            for name in self.settings.models:
                self.look(name)
        retain(self.store, self.gates, self.kept_by, now=time.time())
        self.gates.save_due()
        self.each_tick()

    def close(self) -> None:
        """Write the checkpoints, empty the write-ahead log, and let go of the file."""
        try:
            self.connection.execute("BEGIN IMMEDIATE")
            self.gates.save_all()
            self.connection.execute("COMMIT")
            # One file, which can be copied, and read where nothing can be written.
            self.connection.execute("PRAGMA journal_mode = DELETE").fetchall()
        except sqlite3.Error as error:
            LOG.error("The store could not be closed cleanly: %s. Nothing acknowledged is lost.", error)
        finally:
            self._stack.close()

    def is_of_another_file(self, rows: ScoredRows) -> bool:
        """Whether rows were scored by another file than the one that is watched; any thread may ask."""
        return self.models[self.known(rows.model)].checksum != rows.checksum

    def decide(self, rows: ScoredRows, at: float) -> Outcome:
        """Decide rows with ids; those of a file that is not the one watched now are not drawn."""
        return decide(self.store, self.gates, rows, share=self.kept_by.log, at=at)

    def take(self, found: Sequence[Feedback], token: str, at: float) -> list[FeedbackTaken]:
        """Take the feedback of one request, all or none of it."""
        findings, before = Findings(self.store, self.gates, at), self.store.n_feedback
        try:
            taken = [findings.take(self.known(one.model), one, f"{token}.{place}") for place, one in enumerate(found)]
        except Refusal:
            self.store.n_feedback = before
            raise
        findings.count()
        return taken

    def known(self, model: str | None) -> str:
        """Return the name of a model that is served; None is the default one."""
        name = self.settings.default_model if model is None else model
        if name not in self.models:
            raise unknown_model(name)
        return name

    def has_gate(self, name: str) -> bool:
        """Whether the file that is served now holds a gate with a promise; the store may hold an earlier one."""
        return self.models[name].gate is not None

    def standing(self, name: str) -> Stands | None:
        """Return bound and state of the gate that is served; None if there is none."""
        return self.gates.standing(name) if self.has_gate(name) else None

    def save_monitor(self, name: str, checksum: str, state: bytes) -> None:
        """Write the state of a monitor."""
        self.store.save(self.store.model(name), "monitor", time.time(), checksum, state)

    def look(self, name: str) -> None:
        """Use the file of a model if it was replaced; a broken one changes nothing."""
        if signature(Path(self.settings.models[name])) == self._signatures[name]:
            return
        try:
            model = self._read(name)
        except VecuqError as error:
            # Whoever serves the model says it too, as a warning.
            LOG.debug("The file of model %s was replaced and cannot be used by the store: %s", name, error)
            self._signatures[name] = ()  # the reason may pass, as when too many files are open
            return
        self.gates.use(model)
        self.drift.use(model)

    def _read(self, name: str) -> KnownModel:
        path = Path(self.settings.models[name])
        # Taken before the file is read: if it is replaced meanwhile, the next look sees that.
        self._signatures[name] = signature(path)
        self.models[name] = read_model(name, path, self.settings.supplied)
        return self.models[name]


def unknown_model(name: Any) -> Refusal:
    """Return what a client reads who names a model that is not served."""
    return Refusal(404, "no_model", f"There is no model {str(name)[:40]!r} here; GET /models lists them.")
