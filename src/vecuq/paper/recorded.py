"""Where the recorded data of the studies are: in ``vecuq-paper-data``, a distribution of its own."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import Any

from vecuq.errors import VecuqError


def answers_file(model: str, task: str) -> Path:
    """Return the path of the recorded answers of a model (``smollm2``, ``gemma3``) to the questions of a task."""
    return Path(_paper_data().answers_file(model, task))


def ensemble_file(name: str) -> Path:
    """Return the path of the logits of the ensembles of ``cifar10``, ``fashion_mnist`` or ``letter``."""
    path = Path(_paper_data().ensemble_file(name))
    if not path.is_file():
        raise VecuqError(
            f"The installed vecuq-paper-data is older than this study: it has no {path.name}. "
            "Run `pip install ./paper-data` again in a clone of the vecuq repository."
        )
    return path


def _paper_data() -> Any:
    try:
        return import_module("vecuq_paper_data")
    except ModuleNotFoundError:
        raise VecuqError(
            "This study needs the package vecuq-paper-data, which is not installed. "
            "Run `pip install ./paper-data` in a clone of the vecuq repository."
        ) from None
