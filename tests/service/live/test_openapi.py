"""Requests drawn from the OpenAPI document by schemathesis: no server error, and answers are as the document says.

It runs as a program of its own, so that its pytest plugin, which `pyproject.toml` turns off, concerns no other test.
"""

import shutil
import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pytest
from started import environment, started

from vecuq import AnswerPipeline, Gate

pytestmark = pytest.mark.nightly

# What a document cannot say: that fields need each other, that a row must have an id that was scored, that the model
# must be one of answers. And parameters that the service does not know are refused, or ignored where they are harmless.
LEFT_OUT = "positive_data_acceptance,negative_data_rejection"
BODY, SECONDS = 8, 20


@pytest.fixture(scope="module")
def models(ranker, make_rows, tmp_path_factory):
    """A gate and a pipeline of answers."""
    folder = tmp_path_factory.mktemp("openapi")
    answers = [{"text": "Paris", "samples": ["Paris"] * (k % 5) + ["Lyon"] * (4 - k % 5)} for k in range(300)]
    AnswerPipeline(measures=["consistency"], accuracy=0.6).fit(answers, [k % 5 == 0 for k in range(300)]).save(
        folder / "bot.vecuq"
    )
    gate = Gate(ranker, accuracy=0.6).fit(pa.table(make_rows(300, 7)), [k % 9 > 0 for k in range(300)])
    gate.save(folder / "gate.vecuq")
    return folder / "gate.vecuq", folder / "bot.vecuq"


def drawn(tmp_path, models, n_examples, seed):
    program = shutil.which("st", path=str(Path(sys.executable).parent))
    if program is None:
        pytest.skip("schemathesis is not installed, which draws requests from the document")
    words = ["--max-body", BODY, "--timeout", SECONDS]
    with started(*models, "--store", tmp_path / "service.sqlite", *words) as service:
        command = [program, "run", f"{service.url}/openapi.json", "--max-examples", n_examples, "--seed", seed]
        command += ["--exclude-checks", LEFT_OUT, "--no-color", "--continue-on-failure", "--warnings", "off"]
        command += ["--suppress-health-check", "all", "--generation-deterministic"]
        done = subprocess.run(
            [str(word) for word in command],
            capture_output=True,
            text=True,
            check=False,
            cwd=tmp_path,
            env=environment(),
        )
        assert done.returncode == 0, done.stdout[-8_000:]
        assert "Tested: 16" in done.stdout or "No issues found" in done.stdout
        assert service.process.poll() is None
        failed = [one for one in service.log if one["level"] == "error"]
        assert not [one for one in failed if "failed" in one["message"]]


def test_requests_of_the_document_are_answered_as_it_says(tmp_path, models):
    drawn(tmp_path, models, n_examples=5, seed=1)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(2, 5))
def test_many_requests_of_the_document_are_answered_as_it_says(tmp_path, models, seed):
    drawn(tmp_path, models, n_examples=150, seed=seed)
