"""What the tests of the report share: rows, rankers, gates, and subjects made of them."""

import re

import numpy as np
import pyarrow as pa
import pyarrow.csv as pc
import pytest

from vecuq import Gate, fit_ranker
from vecuq.data import demo_files
from vecuq.report import Beside, Subject
from vecuq.table import ScoreTable

NAMES = ("entropy", "knn")
DEMO_SCORES = ["entropy", "mutual_information", "mahalanobis", "knn"]


def known_rows(n_rows=200, names=NAMES, seed=0):
    rng = np.random.default_rng(seed)
    return {name: rng.gamma(1.0 + k, size=n_rows) for k, name in enumerate(names)}


@pytest.fixture(scope="session")
def known():
    """Calibration rows by column: known(n_rows, names, seed)."""
    return known_rows


@pytest.fixture(scope="session")
def new_rows():
    """A table of new rows, somewhat more uncertain: new_rows(n_rows, names, id=...)."""

    def made(n_rows=60, names=NAMES, scale=1.5, **others):
        columns = {name: scale * column for name, column in known_rows(n_rows, names, seed=1).items()}
        return pa.table({**others, **columns})

    return made


@pytest.fixture(scope="session")
def ranker():
    return fit_ranker(known_rows())


@pytest.fixture(scope="session")
def demo():
    """The ranker of the demo and its new rows."""
    calibration, new = map(pc.read_csv, demo_files())
    return fit_ranker(ScoreTable.of(calibration, columns=DEMO_SCORES)), new


@pytest.fixture(scope="session")
def subject():
    """The subject of a report: subject(ranker, new, missing="nan", gate=..., labels=...)."""

    def made(ranker, new, *, missing="nan", **beside):
        return Subject.of(ranker, new, ranker.rank(new, missing=missing, warn=False), Beside(**beside))

    return made


def decided_rows(n_rows, seed, error=0.0):
    """Rows whose errors grow with their scores, with a category and a session each."""
    rng = np.random.default_rng(seed)
    rows = {name: rng.gamma(1.0 + k, size=n_rows) for k, name in enumerate(NAMES)}
    wrong = rng.random(n_rows) < np.clip((rows["entropy"] + rows["knn"]) / 25 + error, 0, 1)
    by = rng.choice(["law", "maths", "art"], n_rows, p=[0.6, 0.38, 0.02])
    return pa.table(
        {
            "id": np.arange(n_rows),
            **rows,
            "wrong": wrong.astype(int),
            "by": by,
            "session": rng.integers(0, n_rows // 5, n_rows),
        }
    )


@pytest.fixture(scope="session")
def decided():
    """Labelled rows for a gate: decided(n_rows, seed, error=more errors)."""
    return decided_rows


@pytest.fixture(scope="session")
def gate(ranker):
    """A gate that certifies an accuracy of 0.9."""
    rows = decided_rows(1_500, 5)
    return Gate(ranker, accuracy=0.9).fit(rows, 1 - rows["wrong"].to_numpy())


@pytest.fixture(scope="session")
def text_of():
    """The words of a piece of HTML."""

    def read(page):
        body = re.sub(r"<(style|script)\b.*?</\1>", " ", page, flags=re.DOTALL)
        return " ".join(re.sub(r"<[^>]*>", " ", body).split())

    return read
