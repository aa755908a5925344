"""LiveGates: one live gate per served gate, rebuilt after a crash from its checkpoint and the events since."""

from __future__ import annotations

import logging
import time
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from vecuq._load import load
from vecuq.errors import ModelFileError, SettingError
from vecuq.gate import Decisions, Gate, LiveGate
from vecuq.service.keeping.models import KnownModel
from vecuq.service.keeping.store import Store
from vecuq.service.settings import StoreSettings

LOG = logging.getLogger("vecuq.service.keeping")
# A checkpoint is written after so many rows and labels, or so many seconds, whichever comes first.
MOST_SINCE = 100_000
MOST_SECONDS = 300.0
# The events of a journal.
DECIDED, FOUND = 0, 1


class Stands(NamedTuple):
    """What is known of a promise now."""

    bound: float
    state: str
    allowed: float


class LiveGates:
    """The live gates by the name of their model, each a function of the events that the journal holds."""

    def __init__(self, store: Store, settings: StoreSettings) -> None:
        self._store, self._settings = store, settings
        self.live: dict[str, LiveGate] = {}
        self.checksums: dict[str, str] = {}  # of the file whose decisions are audited
        self._since: dict[str, int] = {}  # rows and labels since the checkpoint
        self._saved_at: dict[str, float] = {}
        self._stands: dict[str, tuple[tuple[int, ...], Stands]] = {}

    def open(self, models: Mapping[str, KnownModel]) -> None:
        """Go on where the store stands; a gate that is another one now begins a new epoch."""
        for name, model in models.items():
            found = replayed(self._store, name)
            if found is not None:
                self.live[name], self.checksums[name], self._since[name] = found
                self._saved_at[name] = time.monotonic()
                self._refuse_other_seed(name)
            if model.gate is not None:
                self.use(model)

    def use(self, model: KnownModel) -> None:
        """Let the gate of a file decide from now on."""
        name, share = model.name, self._settings.audit
        if model.gate is None:  # the file holds no gate any more; what was counted stays
            return
        if name not in self.live:
            seed = self._settings.random_state
            self.live[name] = LiveGate(model.gate, audit=share, random_state=seed)
            self.checksums[name] = model.checksum
            self.save(name)
        elif (self.checksums[name], self.live[name].audit) != (model.checksum, share):
            self._begin_epoch(model, model.gate, share)

    def audits(self, name: str, checksum: str) -> LiveGate | None:
        """Return the live gate if it watches the decisions of this file."""
        return self.live.get(name) if self.checksums.get(name) == checksum else None

    def standing(self, name: str) -> Stands | None:
        """Return bound and state of a live gate, computed again only if it has changed; None if there is none."""
        live = self.live.get(name)
        if live is None:
            return None
        key = (len(live.epochs), live.decided, live.n_labels)
        if name not in self._stands or self._stands[name][0] != key:
            self._stands[name] = (key, Stands(live.bound, live.state, live.allowed))
        return self._stands[name][1]

    def decided(self, name: str, ids: list[str], accept: NDArray[np.bool_]) -> Decisions:
        """Take decisions on rows that are not in the log, and draw some; raise for an id that is another row's."""
        done = self.live[name].record(ids, accept)
        self._happened(name, [DECIDED, ids, np.packbits(accept).tobytes()], len(ids))
        return done

    def found(self, name: str, ids: list[str], correct: list[bool]) -> None:
        """Take labels of audited rows."""
        self.live[name].update(ids, correct, unknown="skip")
        self._happened(name, [FOUND, ids, correct], len(ids))

    def save(self, name: str) -> None:
        """Write a checkpoint, which takes the place of the events before it."""
        state, now = self.live[name].to_bytes(), time.time()
        self._store.save(self._store.model(name), "live", now, self.checksums[name], state)
        self._since[name], self._saved_at[name] = 0, time.monotonic()

    def save_due(self) -> None:
        """Write the checkpoint of a live gate that has changed much, or long ago."""
        for name, since in self._since.items():
            old = time.monotonic() - self._saved_at[name] > MOST_SECONDS
            if since >= MOST_SINCE or (since and old):
                self.save(name)
                return  # one at a time, for others wait for their commit

    def save_all(self) -> None:
        """Write the checkpoints of all that has changed."""
        for name, since in self._since.items():
            if since:
                self.save(name)

    def _happened(self, name: str, event: list[Any], size: int) -> None:
        self._store.happened(self._store.model(name), event)
        self._since[name] = self._since.get(name, 0) + size

    def _begin_epoch(self, model: KnownModel, gate: Gate, share: float) -> None:
        live, name = self.live[model.name], model.name
        same = self.checksums[name] == model.checksum
        LOG.warning(
            "A new epoch of the audit of model %s begins: %s. The epoch before it, which was %s, has ended with its %d "
            "labels; the new one has proven nothing yet.",
            name,
            f"the share of audited rows was {live.audit:g} and is {share:g}" if same else "its file is another one",
            live.state,
            live.standing.n_counted,
        )
        live.recalibrate(gate, audit=share)
        self.checksums[name] = model.checksum
        self._store.end_epoch(self._store.model(name))
        self.save(name)

    def _refuse_other_seed(self, name: str) -> None:
        given, begun = self._settings.random_state, self.live[name].seed
        if given is not None and given != begun:
            raise SettingError(
                f"The audit of model {name} in {self._settings.path} was begun with random_state={begun}, which cannot "
                f"become {given}: the same rows must be drawn again. Leave it out, or begin with another store."
            )


def replayed(store: Store, name: str) -> tuple[LiveGate, str, int] | None:
    """Return the live gate of a model as the store has it, the checksum of its file, and rows since its checkpoint."""
    number = store.model(name)
    saved = store.checkpoint(number, "live")
    if saved is None:
        return None
    live = load(saved.state)
    if not isinstance(live, LiveGate):
        raise ModelFileError(f"The store holds something else than a live gate for model {name}. Use a backup.")
    since = 0
    for event in store.events(number, saved.seq):
        _replay(live, event)
        since += len(event[1])
    return live, saved.checksum, since


def _replay(live: LiveGate, event: list[Any]) -> None:
    kind, ids, what = event
    if kind == DECIDED:
        live.record(ids, np.unpackbits(np.frombuffer(what, dtype=np.uint8), count=len(ids)).astype(bool))
    else:
        live.update(ids, what, unknown="skip")
