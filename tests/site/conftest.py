"""The parts of the documentation site are plain modules beside its settings; Sphinx is not needed to test them."""

import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
sys.path[:0] = [str(ROOT / "docs" / "_ext"), str(ROOT / "tools")]
