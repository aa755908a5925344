"""Example score tables that come with vecuq, made by ``examples/make_demo_data.py``."""

from importlib.resources import files
from pathlib import Path

__all__ = ["demo_files"]


def demo_files() -> tuple[Path, Path]:
    """Return the paths of the bundled calibration rows and new rows, both csv.

    Examples
    --------
    >>> [path.name for path in demo_files()]
    ['demo_calibration.csv', 'demo_new.csv']
    """
    folder = Path(str(files(__name__)))
    return folder / "demo_calibration.csv", folder / "demo_new.csv"
