"""Data that come with vecuq: an example, and what the studies of the paper were computed from.

Made by ``examples/make_demo_data.py``, ``studies/train_ensembles.py`` and ``studies/generate_answers.py``.
"""

from importlib.resources import files
from pathlib import Path

__all__ = ["answers_file", "demo_files", "ensemble_file"]


def answers_file(model: str, task: str) -> Path:
    """Return the path of the answers of ``smollm2`` or ``gemma3`` to ``questions``, ``arithmetic`` or ``translation``.

    Gzipped JSON lines of :class:`vecuq.answers.AnswerRecord`: one greedy answer and six samples per question.
    """
    return Path(str(files(__name__))) / "answers" / f"{model}_{task}.jsonl.gz"


def demo_files() -> tuple[Path, Path]:
    """Return the paths of the bundled calibration rows and new rows, both csv.

    Examples
    --------
    >>> [path.name for path in demo_files()]
    ['demo_calibration.csv', 'demo_new.csv']
    """
    folder = Path(str(files(__name__)))
    return folder / "demo_calibration.csv", folder / "demo_new.csv"


def ensemble_file(name: str) -> Path:
    """Return the path of the logits of the ensembles of ``cifar10`` or ``fashion_mnist``, an npz of float16 arrays.

    Each set of rows is (groups, members, rows, classes); ``train_labels`` and ``test_labels`` go with two of them.
    """
    return Path(str(files(__name__))) / "ensembles" / f"{name}.npz"
