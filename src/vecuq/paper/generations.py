"""The answers of the text study: two small language models, three tasks, measured and judged.

Made by ``studies/generate_answers.py``; the answers come with ``paper-data``, so no model is needed here.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path

import numpy as np

from vecuq._check import Array
from vecuq.answers import AnswerRecord, read_answers
from vecuq.measures import measure_quality, text
from vecuq.paper.recorded import answers_file
from vecuq.paper.splits import JudgedScores

MODELS = {"smollm2": "SmolLM2-135M", "gemma3": "Gemma-3-270M"}
TASKS = {"questions": "NQ-Open", "translation": "Multi30kDeEn", "arithmetic": "SVAMP"}
# How answers are judged. Every one is graded: most answers of so small a model are wrong, and not equally so.
QUALITY = {"questions": "token_f1", "translation": "rouge_l", "arithmetic": "numeric_closeness"}
# By the names in the paper's table, in its order.
MEASURES = {
    "CoCoA MSP": "cocoa_msp",
    "CoCoA PPL": "cocoa_perplexity",
    "CoCoA MTE": "cocoa_mean_token_entropy",
    "MSP": "msp",
    "PPL": "perplexity",
    "Consistency": "consistency",
    "SAR": "sar",
    "MTE": "mean_token_entropy",
    "DegMat": "degree_matrix",
    "EigValLaplacian": "eigenvalue_laplacian",
    "Semantic Entropy": "semantic_entropy",
}
# The paper compares texts by ROUGE-L.
_SETTINGS = text.TextSettings(similarity="rouge_l")
COMPONENTS = ("CoCoA MSP", "CoCoA PPL", "CoCoA MTE", "MSP")


def text_scores() -> dict[str, JudgedScores]:
    """Return the scores of every model and task, by the column of the table."""
    return {
        f"{model_name} {task_name}": _scores(answers_file(model, task), QUALITY[task])
        for model, model_name in MODELS.items()
        for task, task_name in TASKS.items()
    }


@lru_cache(maxsize=16)
def _scores(path: Path, quality: str) -> JudgedScores:
    return judged_scores(list(read_answers(path, strict=True)), quality)


def judged_scores(records: list[AnswerRecord], quality: str) -> JudgedScores:
    """Measure and judge answers; one that lacks a measure (it, or all that was sampled, is empty) is left out."""
    measured = [text.measure_answer(record, tuple(MEASURES.values()), _SETTINGS).values for record in records]
    scores: Mapping[str, Array] = {
        title: np.array([found[name] for found in measured]) for title, name in MEASURES.items()
    }
    texts = [None if record.greedy is None else record.greedy.text for record in records]
    judged = measure_quality(quality, texts, [record.references for record in records])
    whole = np.isfinite(np.column_stack([*scores.values(), judged])).all(axis=1)
    kept = {title: column[whole] for title, column in scores.items()}
    return JudgedScores(kept, judged[whole], int((~whole).sum()))
