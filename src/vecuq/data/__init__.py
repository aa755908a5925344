"""The bundled example: four uncertainty scores of an ensemble that reads handwritten digits.

Made by ``tools/make_demo_data.py``. Digits 0 to 7 are in-distribution; 8 and 9 were never shown to the ensemble.
"""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["DEMO_SCORES", "Demo", "demo_files", "load_demo"]

# The columns of the example in which higher means more uncertain; `confidence` goes the other way.
DEMO_SCORES = ("entropy", "mutual_information", "mahalanobis", "knn")


class Demo(NamedTuple):
    """The bundled example, as Arrow tables; ``.to_pandas()`` makes a data frame of each."""

    calibration: pa.Table  # 400 in-distribution rows of scores
    new: pa.Table  # 720 rows of the same scores, with their id and the labels is_error and is_ood


def load_demo() -> Demo:
    """Return calibration rows and new rows of uncertainty scores, ready to fit and to score.

    Both have the columns ``entropy``, ``mutual_information``, ``mahalanobis`` and ``knn``; higher is more uncertain.
    ``new`` has an ``id`` and two labels besides: ``is_error`` (the ensemble misread the digit) and ``is_ood`` (a digit
    that it was never shown), both 0 or 1.

    Examples
    --------
    >>> from vecuq import VecUQ
    >>> from vecuq.data import load_demo
    >>> from vecuq.evaluation import roc_auc
    >>> calibration, new = load_demo()
    >>> model = VecUQ().fit(calibration)
    >>> round(roc_auc(model.uncertainty(new), new["is_ood"]), 2)
    0.9
    """
    from pyarrow import csv

    calibration, new = (csv.read_csv(path) for path in demo_files())
    return Demo(calibration.select(DEMO_SCORES), new.select(["id", *DEMO_SCORES, "is_error", "is_ood"]))


def demo_files() -> tuple[Path, Path]:
    """Return the paths of the bundled calibration rows and new rows, both csv.

    Examples
    --------
    >>> [path.name for path in demo_files()]
    ['demo_calibration.csv', 'demo_new.csv']
    """
    folder = Path(str(files(__name__)))
    return folder / "demo_calibration.csv", folder / "demo_new.csv"
