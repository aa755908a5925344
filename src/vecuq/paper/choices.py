"""Multiple-choice questions: confidences of three larger models under two prompts, where their file is at hand."""

from __future__ import annotations

import csv
import gzip
from pathlib import Path

import numpy as np

from vecuq.paper.splits import JudgedScores

CHOICES_FILE = "llm_mcq_confidences.csv.gz"
# Confidences in the file, and their names as uncertainties.
_COLUMNS = {
    "1 - MSP": "msp",
    "- max. logit": "max_logit",
    "1 - MSP, prompt 2": "msp_prompt2",
    "- max. logit, prompt 2": "max_logit_prompt2",
}
COMPONENTS = tuple(_COLUMNS)


def choice_scores(folder: Path) -> dict[str, JudgedScores] | None:
    """Return the scores of every model and task, quality 1 for a right answer and 0 for a wrong one; None if absent."""
    path = folder / CHOICES_FILE
    if not path.is_file():
        return None
    lines: dict[str, list[dict[str, str]]] = {}
    with gzip.open(path, "rt", encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            lines.setdefault(f"{row['model']} {row['task'].upper()}", []).append(row)
    return {column: _judged(rows) for column, rows in lines.items()}


def _judged(rows: list[dict[str, str]]) -> JudgedScores:
    given = {title: np.array([float(row[name]) for row in rows]) for title, name in _COLUMNS.items()}
    scores = {title: (1.0 - column if title.startswith("1") else -column) for title, column in given.items()}
    return JudgedScores(scores, np.array([float(row["correct"]) for row in rows]))
