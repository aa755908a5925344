import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[1] / "examples"


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("from_arrays", "bits after saving and loading: True"),
        ("from_chunks", "e-"),
        ("when_it_helps", "vecuq, defaults"),
    ],
)
def test_the_examples_run(name, told):
    done = subprocess.run([sys.executable, EXAMPLES / f"{name}.py"], capture_output=True, text=True, check=True)
    assert told in done.stdout
