"""The data behind the studies of vecuq: logits of ensembles and answers of language models.

Made by ``studies/train_ensembles.py``, ``studies/train_letters.py`` and ``studies/generate_answers.py``.
"""

from importlib.resources import files
from pathlib import Path

__all__ = ["answers_file", "ensemble_file"]

_FOLDER = Path(str(files(__name__)))


def answers_file(model: str, task: str) -> Path:
    """Return the path of the answers of ``smollm2`` or ``gemma3`` to ``questions``, ``arithmetic`` or ``translation``.

    Gzipped JSON lines of ``vecuq.answers.AnswerRecord``: one greedy answer and six samples per question.
    """
    return _FOLDER / "answers" / f"{model}_{task}.jsonl.gz"


def ensemble_file(name: str) -> Path:
    """Return the path of the logits of the ensembles of ``cifar10``, ``fashion_mnist`` or ``letter``, float16 arrays.

    Each set of rows is (groups, members, rows, classes); ``train_labels`` and ``test_labels`` go with two of them.
    """
    return _FOLDER / "ensembles" / f"{name}.npz"
