"""Lets the tests of this folder share their modules, and bounds what each test may take."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "golden"))


@pytest.fixture(autouse=True)
def limits():
    """Bound memory and time of every test here, where the system can."""
    if sys.platform != "linux":  # elsewhere nothing bounds the memory of a process
        yield
        return
    from hunting import MINUTES, SECONDS, bounded

    with bounded(seconds=SECONDS + 180 * MINUTES):
        yield
