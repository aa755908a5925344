"""Lets the tests of this folder share started.py and attacks.py, and the service that they attack."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from attacks import BODY, COLUMNS, MIB, ROW, ROWS, SECONDS, score
from started import started

from vecuq import load

ROOM = 500 * MIB  # that the service may take beyond what it had, whatever comes


@pytest.fixture(scope="module")
def saved(ranker, tmp_path_factory):
    path = tmp_path_factory.mktemp("attacked") / "model.vecuq"
    ranker.save(path)
    return path


@pytest.fixture(scope="module")
def attacked(saved):
    words = ["--max-body", BODY, "--max-rows", ROWS, "--max-columns", COLUMNS, "--timeout", SECONDS]
    with started(saved, "--store", saved.with_name("feedback.db"), *words) as service:
        service.expected = float(load(saved).uncertainty([ROW])[0])
        assert score(service) == service.expected
        yield service
        assert not [one for one in service.log if one["level"] == "error" and "failed" in one["message"]]


@pytest.fixture
def service(attacked):
    """The service, which must answer as before after every attack, with bounded memory."""
    before = attacked.most_memory()
    yield attacked
    assert attacked.process.poll() is None
    assert score(attacked) == attacked.expected
    assert attacked.most_memory() < before + ROOM
