"""Processes that are killed while they write feedback. Each line on stdout is something that was acknowledged.

python kill_driver.py local FOLDER NAME           the store in this process
python kill_driver.py keeper FOLDER ADDRESS       the keeper of the two below
python kill_driver.py remote FOLDER NAME ADDRESS  a worker that sends to the keeper
python kill_driver.py http FOLDER NAME URL        a client of `vecuq serve --store`
"""

import asyncio
import json
import os
import sys
import zlib
from contextlib import asynccontextmanager
from itertools import count
from pathlib import Path

import numpy as np

from vecuq import load
from vecuq._files import saved_header
from vecuq.service import Feedback, ScoredRows, ServeSettings, StoreSettings, keeping

COLUMNS = ("a", "b")
CALLERS = 8
_VALUES = np.random.default_rng(5).gamma(1.0, size=(997, 2))


def settings_in(folder):
    store = StoreSettings(Path(folder, "service.sqlite"), audit=0.5)
    return ServeSettings(models={"gate": Path(folder, "gate.vecuq")}, store=store)


def values_of(names):
    return _VALUES[[zlib.crc32(name.encode()) % len(_VALUES) for name in names]]


def is_right(name):
    return bool(zlib.crc32(name.encode()[::-1]) % 7)


def say(what, names):
    os.write(1, f"{json.dumps([what, names])}\n".encode())


class Recorded:
    """Scores and feedback through a recorder."""

    def __init__(self, recorder, folder):
        self.recorder, path = recorder, Path(folder, "gate.vecuq")
        self.gate, self.checksum = load(path), saved_header(path)["checksum"]

    async def score(self, names):
        values = values_of(names)
        scores = self.gate.uncertainty(values)
        accept, p_wrong = self.gate.accept_scores(scores), self.gate.p_wrong_of_scores(scores)
        rows = ScoredRows("gate", self.checksum, COLUMNS, names, values, scores, None, accept, p_wrong)
        return (await self.recorder.decided(rows)).audit.tolist()

    async def find(self, names, audit):
        return await self.recorder.feedback(
            [
                Feedback(name, "audit" if drawn else "review", is_right(name), who="driver")
                for name, drawn in zip(names, audit, strict=True)
            ]
        )


class OverHttp:
    """Scores and feedback through a service, which may be gone for a while."""

    def __init__(self, client):
        self.client = client

    async def post(self, path, body):
        import httpx

        while True:
            try:
                answer = await self.client.post(path, json=body)
            except httpx.HTTPError:
                await asyncio.sleep(0.05)
                continue
            if answer.status_code == 200:
                return answer.json()
            if answer.status_code not in (429, 503):
                raise RuntimeError(answer.text)
            await asyncio.sleep(0.05)

    async def score(self, names):
        rows = [{"id": name, "a": a, "b": b} for name, (a, b) in zip(names, values_of(names).tolist(), strict=True)]
        return [row["audit"] for row in (await self.post("/score", {"rows": rows}))["rows"]]

    async def find(self, names, audit):
        kinds = ("audit" if drawn else "review" for drawn in audit)
        found = [{"id": name, "kind": kind, "correct": is_right(name)} for name, kind in zip(names, kinds, strict=True)]
        return (await self.post("/feedback", {"feedback": found}))["feedback"]


async def call(target, name):
    """Score rows and find out about them, for ever; say what was acknowledged."""
    for number in count():
        names = [f"{name}-{number}-{k}" for k in range(3)]
        audit = await target.score(names)
        say("scored", names)
        await target.find(names, audit)
        say("audit", [one for one, drawn in zip(names, audit, strict=True) if drawn])
        say("review", [one for one, drawn in zip(names, audit, strict=True) if not drawn])


@asynccontextmanager
async def target_of(role, folder, address):
    if role == "http":
        import httpx

        async with httpx.AsyncClient(base_url=address, timeout=10.0) as client:
            yield OverHttp(client)
        return
    local = role == "local"
    made = keeping.local_recorder(settings_in(folder)) if local else keeping.remote_recorder(address, patience=60.0)
    async with made as recorder:
        yield Recorded(recorder, folder)


async def main(role, folder, name, address=""):
    async with target_of(role, folder, address) as target:
        await asyncio.gather(*(call(target, f"{name}-{k}") for k in range(CALLERS)))


if __name__ == "__main__":
    if sys.argv[1] == "keeper":
        keeping.run_keeper(settings_in(sys.argv[2]), sys.argv[3])
    else:
        asyncio.run(main(*sys.argv[1:]))
