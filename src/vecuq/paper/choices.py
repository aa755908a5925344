"""Multiple-choice questions: confidences of three larger models under two prompts, where their file is at hand."""

from __future__ import annotations

import csv
import gzip
import zlib
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vecuq._check import one_line
from vecuq.errors import TableError
from vecuq.paper.score_sets import ScoreSets, sets_of

CHOICES_FILE = "llm_mcq_confidences.csv.gz"
# Confidences in the file, and their names as uncertainties.
_COLUMNS = {
    "1 - MSP": "msp",
    "- max. logit": "max_logit",
    "1 - MSP, prompt 2": "msp_prompt2",
    "- max. logit, prompt 2": "max_logit_prompt2",
}
_HEADS = ("task", "model", "correct", *_COLUMNS.values())


def choice_scores(path: Path) -> ScoreSets:
    """Return the scores of every model and task, quality 1 for a right answer and 0 for a wrong one."""
    lines: dict[str, list[dict[str, str]]] = {}
    try:
        with gzip.open(path, "rt", encoding="utf-8", newline="") as file:
            table = csv.DictReader(file)
            missing = [head for head in _HEADS if head not in (table.fieldnames or ())]
            if missing:
                raise TableError(f"{path} needs the columns {list(_HEADS)}; it lacks {missing}.")
            for row in table:
                lines.setdefault(f"{row['model']} {row['task'].upper()}", []).append(row)
        if not lines:
            raise TableError(f"{path} needs one row per answer; it has none.")
        arrays = [_arrays(path, column, rows) for column, rows in lines.items()]
    except TableError:
        raise
    except (ValueError, TypeError, AttributeError, EOFError, gzip.BadGzipFile, zlib.error, csv.Error) as error:
        raise TableError(f"{path} cannot be read as gzipped csv with numbers: {one_line(error)}.") from None
    return sets_of(path, {key: array for one in arrays for key, array in one.items()})


def _arrays(path: Path, name: str, rows: list[dict[str, str]]) -> dict[str, NDArray[Any]]:
    """Return the rows of one model and task as the arrays of a set."""
    given = {title: np.array([float(row[head]) for row in rows]) for title, head in _COLUMNS.items()}
    scores = [1.0 - column if title.startswith("1") else -column for title, column in given.items()]
    correct = np.array([float(row["correct"]) for row in rows])
    if not np.isin(correct, (0.0, 1.0)).all():
        raise TableError(f"{path}: correct must be 0 or 1 in every row; {name} has another value.")
    return {f"{name}/x": np.column_stack(scores), f"{name}/columns": np.array([*given]), f"{name}/quality": correct}
