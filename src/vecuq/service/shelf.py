"""Shelf: the models by name, each the newest that could be loaded; a file that is replaced is loaded again."""

from __future__ import annotations

import asyncio
import logging
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from vecuq._check import one_line
from vecuq._files import place_of, saved_header
from vecuq.errors import ModelFileError, VecuqError
from vecuq.service.refusal import Refusal
from vecuq.service.served import Snapshot, served_of
from vecuq.service.settings import ServeSettings

_LOG = logging.getLogger("vecuq.service")
Look = tuple[int, int, int]  # when a file was written, its size, and its inode


@dataclass(frozen=True)
class ModelState:
    """What is known of one file: what is served, and what is wrong with a newer one."""

    snapshot: Snapshot
    error: str | None = None


class Shelf:
    """The models of a service. Reading is one look into a dict; a new model takes the place of the old one at once.

    Every file must be good when the service starts. Later a broken one changes nothing but :meth:`states`.
    """

    def __init__(self, settings: ServeSettings) -> None:
        self._files = {name: Path(path) for name, path in settings.models.items()}
        self._supplied, self._every = dict(settings.supplied), settings.reload_every
        self.default = settings.default_model
        self._looks: dict[str, Look | None] = {}
        self._states: dict[str, ModelState] = {}
        for name, path in self._files.items():
            self._looks[name] = _look(path)
            self._states[name] = ModelState(self._load(name, 1))

    def __iter__(self) -> Iterator[str]:
        return iter(self._states)

    def get(self, name: str | None = None) -> Snapshot:
        """Return the model of a name as it is now, by default the first; raise 404 for a name that is not there."""
        state = self._states.get(self.default if name is None else name)
        if state is None:
            raise Refusal(404, "no_model", f"There is no model {one_line(name, most=40)!r}. There are: {self.named}.")
        return state.snapshot

    @property
    def named(self) -> str:
        """The names in one line."""
        return one_line(", ".join(self._states))

    def states(self) -> Mapping[str, ModelState]:
        """Return what is known of every file, by name."""
        return dict(self._states)

    def changed(self) -> list[str]:
        """Return the models whose files changed since they were last read, good or broken."""
        found = []
        for name, path in self._files.items():
            look = _look(path)
            if look != self._looks[name]:
                self._looks[name] = look
                found.append(name)
        return found

    def reload(self, name: str) -> ModelState:
        """Read one file again; a broken one leaves the model as it is, and its error is kept."""
        old = self._states[name].snapshot
        try:
            new = ModelState(self._load(name, old.generation + 1))
        except (VecuqError, OSError, MemoryError) as error:
            new = ModelState(old, self._said(name, error))
        except Exception as error:  # or nobody would look at any file again
            _LOG.exception("the new file of a model failed", extra={"about": {"model": name}})
            new = ModelState(old, f"The new file cannot be served: unexpected {type(error).__name__}.")
        if new.error is None and new.snapshot.checksum == old.checksum:
            new = ModelState(old)  # the same file once more
        self._states[name] = new
        _say(name, new)
        return new

    async def poll(self) -> list[str]:
        """Look at the files once, and load those that changed, in a thread; return their names."""
        names = await asyncio.to_thread(self.changed)
        for name in names:
            await asyncio.to_thread(self.reload, name)
        return names

    async def watch(self) -> None:
        """Poll for ever, or not at all if nothing is to be reloaded."""
        while self._every:
            await asyncio.sleep(self._every)
            await self.poll()

    def _load(self, name: str, generation: int) -> Snapshot:
        """Load one file from bytes that were read once, so that no part of it is from another moment."""
        path = self._files[name]
        try:
            data = path.read_bytes()
        except OSError as error:
            raise ModelFileError(f"{path} cannot be read: {error.strerror or error}.") from None
        try:
            served = served_of(data, **self._supplied_for(data))
        except VecuqError as error:
            said = one_line(error, most=400).replace(place_of(data), "It")
            raise ModelFileError(f"{path} cannot be served. {said}") from None
        served.warm_up()
        now = datetime.now(UTC).isoformat(timespec="seconds")
        return Snapshot(name, generation, str(saved_header(data)["checksum"]), now, served)

    def _supplied_for(self, data: bytes) -> dict[str, Any]:
        """Return what texts are compared with, for a pipeline of answers; other kinds take none."""
        if not self._supplied:
            return {}
        return self._supplied if saved_header(data).get("kind") == "answer_pipeline" else {}

    def _said(self, name: str, error: BaseException) -> str:
        """Return an error without the path, which is nobody's business but the operator's."""
        said = one_line(error, most=400) or type(error).__name__
        return said.replace(str(self._files[name]), "The new file")


def _say(name: str, state: ModelState) -> None:
    """Write what became of a file that changed."""
    about = {"model": name, "generation": state.snapshot.generation, "checksum": state.snapshot.checksum}
    if state.error is None:
        _LOG.info("model loaded", extra={"about": about})
    else:
        _LOG.warning("model %s not replaced: %s", name, state.error, extra={"about": about})


def _look(path: Path) -> Look | None:
    try:
        facts = os.stat(path)
    except OSError:
        return None
    return facts.st_mtime_ns, facts.st_size, facts.st_ino
