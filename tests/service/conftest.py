"""Saved models of every kind that is served, and a client that calls the application in this process."""

import asyncio
import json
import logging

import httpx
import numpy as np
import pyarrow as pa
import pytest

from vecuq import AnswerPipeline, Gate, ScoreTable, VecUQPipeline, fit_ranker
from vecuq.service import ServeSettings, create_app, make_service

COLUMNS = ("entropy", "knn", "confidence")
LOGGERS = ("vecuq.service", "uvicorn", "uvicorn.error", "uvicorn.asgi")
SUBJECTS = ("law", "physics", "history")


@pytest.fixture(autouse=True)
def logs_as_before():
    """A test that sends the lines of the service elsewhere leaves the loggers as they were."""
    loggers = [logging.getLogger(name) for name in LOGGERS]
    before = [(logger.handlers, logger.propagate, logger.level) for logger in loggers]
    yield
    for logger, (handlers, propagates, level) in zip(loggers, before, strict=True):
        logger.handlers, logger.propagate = handlers, propagates
        logger.setLevel(level)


def score_rows(n_rows, seed):
    """Rows by name; higher confidence is less uncertain."""
    rng = np.random.default_rng(seed)
    return {
        "entropy": rng.gamma(1.0, size=n_rows),
        "knn": rng.gamma(2.0, size=n_rows),
        "confidence": rng.random(n_rows),
    }


def labels_of(rows, seed):
    """Whether rows are right: seldom where they are uncertain."""
    doubt = rows["entropy"] / 8 + rows["knn"] / 16
    return np.random.default_rng(seed).random(len(doubt)) > np.clip(doubt, 0, 0.9)


def answer_lines(n, seed):
    """Answers with eight samples each, as vecuq reads them from files, and whether each is wrong."""
    rng = np.random.default_rng(seed)
    doubts = rng.random(n)
    lines = []
    for k, doubt in enumerate(doubts):
        texts = ["Paris" if rng.random() > doubt else str(rng.choice(["Lyon", "Nice", "Lille"])) for _ in range(8)]
        made = {
            "question": f"What is number {k}?",
            "greedy": {"text": "Paris"},
            "samples": [{"text": t} for t in texts],
        }
        lines.append({"vecuq_answers": 1, "id": f"q{k}", **made, "meta": {"subject": SUBJECTS[k % 3]}})
    return lines, rng.random(n) < doubts**3 / 2


def as_lines(rows):
    """JSON lines."""
    return "".join(json.dumps(row) + "\n" for row in rows).encode()


@pytest.fixture(scope="session")
def served_ranker():
    return fit_ranker(ScoreTable.of(score_rows(400, 0), columns=COLUMNS, flip=["confidence"]))


@pytest.fixture(scope="session")
def served_gate(served_ranker):
    rows = score_rows(900, 1)
    return Gate(served_ranker, accuracy=0.8).fit(pa.table(rows), labels_of(rows, 2))


@pytest.fixture(scope="session")
def served_gate_by(served_ranker):
    rows = score_rows(1200, 3)
    by = [SUBJECTS[k % 3] for k in range(1200)]
    return Gate(served_ranker, accuracy=0.8).fit(pa.table(rows), labels_of(rows, 4), by=by)


@pytest.fixture(scope="session")
def served_judge():
    lines, wrong = answer_lines(600, 5)
    return AnswerPipeline(measures=["consistency", "lexical_similarity"], accuracy=0.85).fit(lines, wrong)


@pytest.fixture(scope="session")
def served_classifier():
    rng = np.random.default_rng(6)
    return VecUQPipeline(measures=["msp", "entropy"]).fit(rng.normal(size=(400, 4)))


@pytest.fixture(scope="session")
def saved(tmp_path_factory, served_ranker, served_gate, served_gate_by, served_judge, served_classifier):
    """The paths of all saved kinds: model, gate, gate_by, judge, classifier."""
    folder = tmp_path_factory.mktemp("models")
    kinds = {
        "model": served_ranker,
        "gate": served_gate,
        "gate_by": served_gate_by,
        "judge": served_judge,
        "classifier": served_classifier,
    }
    for name, found in kinds.items():
        found.save(folder / f"{name}.vecuq")
    return {name: folder / f"{name}.vecuq" for name in kinds}


class Client:
    """Calls an application in this process, one request at a time or several at once."""

    def __init__(self, app):
        self.app = app

    def request(self, method, path, **about):
        return self.together([(method, path, about)])[0]

    def get(self, path, **about):
        return self.request("GET", path, **about)

    def post(self, path, **about):
        return self.request("POST", path, **about)

    def together(self, requests):
        """Send (method, path, about) at the same time; return the answers in this order."""

        async def run():
            transport = httpx.ASGITransport(app=self.app)
            async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1:8000", timeout=60) as client:
                return await asyncio.gather(*(client.request(m, path, **about) for m, path, about in requests))

        return asyncio.run(run())


@pytest.fixture
def serve(saved):
    """Serve saved kinds by name: serve("model", "gate", limits=..., recorder=...); returns a client."""

    def make(*kinds, recorder=None, models=None, **settings):
        chosen = models or {kind: saved[kind] for kind in kinds}
        service = make_service(ServeSettings(chosen, **settings), recorder=recorder)
        return Client(create_app(service))

    return make


@pytest.fixture
def client(serve):
    """All kinds at once; /score means the plain model."""
    return serve("model", "gate", "gate_by", "judge", "classifier")
