"""A saved gate, a store beside it, rows as a worker would score them, and a keeper whose thread is this one."""

import asyncio
import warnings
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest

from vecuq import Gate, fit_ranker
from vecuq._files import saved_header
from vecuq.errors import MissingValueWarning
from vecuq.service import ScoredRows, ServeSettings, StoreSettings, keeping
from vecuq.service.keeping.desk import Desk
from vecuq.service.keeping.drift import Drift

COLUMNS = ("a", "b")


def _rows(n_rows, seed):
    rng = np.random.default_rng(seed)
    rows = rng.gamma(1.0, size=(n_rows, 2))
    return rows, rng.random(n_rows) > rows.sum(axis=1) / 12


def _gate(seed=0, accuracy=0.88):
    import pyarrow as pa

    rows, correct = _rows(1_400, seed)
    table = pa.table({name: rows[:, k] for k, name in enumerate(COLUMNS)})
    return Gate(fit_ranker(table[:400]), accuracy=accuracy).fit(table[400:], correct[400:])


@pytest.fixture(scope="session")
def gate():
    return _gate()


@pytest.fixture(scope="session")
def other_gate():
    return _gate(seed=1)


class World:
    """A gate on disk, settings of a service, and rows that it has scored."""

    def __init__(self, folder, gate):
        self.folder, self.gate = Path(folder), gate
        self.model = self.folder / "gate.vecuq"
        self.store = self.folder / "service.sqlite"
        self.use(gate)
        self.values, self.correct = _rows(4_000, 7)

    def use(self, gate):
        """Replace the file of the gate."""
        self.gate = gate
        gate.save(self.model)
        self.checksum = saved_header(self.model)["checksum"]

    def settings(self, *, models=None, **store):
        kept = StoreSettings(self.store, **{"audit": 0.5, **store})
        return ServeSettings(models=models or {"gate": self.model}, store=kept)

    def scored(self, places, *, ids=None, model="gate", values=None, **more):
        """Rows by their places, with ids r0, r1 ..."""
        places = list(places)
        values = self.values[places] if values is None else np.asarray(values, dtype=float)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", MissingValueWarning)
            scores = self.gate.uncertainty(values)
        found = {
            "model": model,
            "checksum": self.checksum,
            "columns": COLUMNS,
            "ids": [f"r{k}" for k in places] if ids is None else ids,
            "values": values,
            "uncertainty": scores,
            "p_value": None,
            "accept": self.gate.accept_scores(scores),
            "p_wrong": self.gate.p_wrong_of_scores(scores),
        }
        return ScoredRows(**{**found, **more})

    @contextmanager
    def desk(self, **settings):
        """What lives in the writer's thread, here."""
        desk = self.open(**settings)
        try:
            yield desk
        finally:
            desk.close()

    def open(self, **settings):
        made = Desk(self.settings(**settings), Drift(lambda *state: None))
        made.open()
        return made

    def keep(self, talk, **settings):
        """Open a store and talk to its keeper; return what the talk gave."""

        async def whole():
            async with keeping.local_recorder(self.settings(**settings)) as keeper:
                return await talk(keeper)

        return asyncio.run(whole())


def committed(desk, work):
    """Do a piece of work as the writer does."""
    desk.connection.execute("BEGIN IMMEDIATE")
    try:
        found = work()
    except BaseException:
        desk.connection.execute("ROLLBACK")
        raise
    desk.connection.execute("COMMIT")
    return found


@pytest.fixture
def world(tmp_path, gate):
    return World(tmp_path, gate)


@pytest.fixture(scope="session")
def commit():
    return committed


@pytest.fixture(scope="session")
def make_world(gate):
    return lambda folder: World(folder, gate)
