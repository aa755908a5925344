"""Lets the tests of this folder share the runner of pages, and the service that pages start."""

import sys
from pathlib import Path

TESTS = Path(__file__).parents[1]
sys.path[:0] = [str(TESTS / "docs"), str(TESTS / "service" / "live")]
