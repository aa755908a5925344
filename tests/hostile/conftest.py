"""Lets the tests of this folder share their modules, and bounds what each test may take."""

import os
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE), str(HERE.parent), str(HERE.parent / "golden")]


@pytest.fixture(autouse=True)
def limits():
    """Bound memory and time of every test here, where the system can."""
    if sys.platform != "linux":  # elsewhere nothing bounds the memory of a process
        yield
        return
    from bounds import SECONDS, bounded

    with bounded(seconds=SECONDS + 60 * int(os.environ.get("VECUQ_HOSTILE_MINUTES", "0"))):
        yield
