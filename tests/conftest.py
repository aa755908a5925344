"""What many tests need: rows, a model on disk, the command line, and a witness that failures leave no trace."""

import inspect
import os
import shutil
import signal
import sys
from functools import partialmethod
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, settings
from typer.testing import CliRunner

from vecuq import fit_ranker
from vecuq.cli import app

HERE = Path(__file__).parent
# Tests of all folders share what lies here, and the ways to spoil something in `hostile`.
sys.path[:0] = [str(HERE), str(HERE / "hostile")]
SCORES = ("entropy", "knn")
# A deadline asserts a time, and so does the check for slow strategies: both fail on a busy machine.
# `make test-nightly` draws more.
EXAMPLES = int(os.environ.get("VECUQ_TEST_EXAMPLES", "25"))
settings.register_profile("vecuq", deadline=None, suppress_health_check=[HealthCheck.too_slow], max_examples=EXAMPLES)
settings.load_profile("vecuq")
# Tests side by side (pytest-xdist) run with COLUMNS=80; tables must not depend on who runs the tests.
os.environ.pop("COLUMNS", None)
# What a terminal or a build service sets may not change what the command line prints either.
for name in ("FORCE_COLOR", "NO_COLOR", "PY_COLORS", "GITHUB_ACTIONS", "TERMINAL_WIDTH"):
    os.environ.pop(name, None)
# A shell starts jobs in the background with SIGINT ignored, and so would be every process that a test starts.
# A handler, unlike an ignored signal, is not inherited by a new program: this run goes on ignoring, its children hear.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, lambda *_: None)
# Click before 8.2, which the lowest typer takes, mixes both streams unless told otherwise, and holds stderr back.
if "mix_stderr" in inspect.signature(CliRunner.__init__).parameters:
    from click.testing import _NamedTextIOWrapper

    CliRunner.__init__ = partialmethod(CliRunner.__init__, mix_stderr=False)
    _NamedTextIOWrapper.__init__ = partialmethod(_NamedTextIOWrapper.__init__, write_through=True)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items):
    """Leave tests that open a browser to the night, but for those marked as everyday."""
    for item in items:
        if "browser" in getattr(item, "fixturenames", ()) and not item.get_closest_marker("everyday"):
            item.add_marker("nightly")


def gamma_rows(n_rows, seed, names=SCORES):
    rng = np.random.default_rng(seed)
    return {name: rng.gamma(1.0 + k, size=n_rows) for k, name in enumerate(names)}


@pytest.fixture(scope="session")
def make_rows():
    """Score rows by name: make_rows(n_rows, seed)."""
    return gamma_rows


@pytest.fixture(scope="session")
def calibration_table():
    return pa.table(gamma_rows(120, 0))


@pytest.fixture(scope="session")
def ranker(calibration_table):
    return fit_ranker(calibration_table)


@pytest.fixture(scope="session")
def paper_data():
    """What the image and text studies are computed from; `make` installs it."""
    reason = "vecuq-paper-data is not installed: pip install ./paper-data"
    return pytest.importorskip("vecuq_paper_data", reason=reason)


@pytest.fixture(scope="session")
def node_program():
    """The path of node, which runs JavaScript."""
    found = shutil.which("node")
    if found is None:
        pytest.skip("node is not installed, which runs the scorer in JavaScript")
    return found


@pytest.fixture
def model(ranker, tmp_path):
    """The path of a saved model."""
    path = tmp_path / "model.vecuq"
    ranker.save(path)
    return path


@pytest.fixture
def run():
    """Run the command line; exceptions that it does not catch are raised."""

    def invoke(*words):
        return CliRunner().invoke(app, [str(word) for word in words], catch_exceptions=False)

    return invoke


def everything_in(folder):
    return {path: path.is_file() and path.read_bytes() for path in sorted(folder.rglob("*"))}


@pytest.fixture
def refused(run, tmp_path):
    """Run a command that must fail with exit code 1, one line on stderr, and no trace on disk; return that line."""

    def invoke(*words):
        before = everything_in(tmp_path)
        result = run(*words)
        assert result.exit_code == 1, result.output
        assert result.stdout == ""
        assert result.stderr.startswith("error: ")
        assert result.stderr.count("\n") == 1
        assert result.stderr.endswith("\n")
        assert everything_in(tmp_path) == before
        return result.stderr

    return invoke
