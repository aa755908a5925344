"""Synthetic answers whose doubt is known, a pipeline fitted to them, and recorded replies of four providers."""

import json
import warnings
from functools import cache
from pathlib import Path

import numpy as np

from good_answers import sampled_answers
from vecuq import AnswerPipeline

REPLIES = Path(__file__).with_name("replies")
PROVIDERS = ("openai_chat", "anthropic", "ollama", "texts")
MEASURES = ["msp", "perplexity", "consistency", "degree_matrix"]


def fitted(n_rows=600, seed=0, *, labels=True, groups=None, by=None, **how):
    """Return a pipeline, and quietly so: few labels do not always certify."""
    answers, wrong = sampled_answers(n_rows, seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        made = AnswerPipeline(**{"measures": MEASURES, "accuracy": 0.8, **how})
        return made.fit(answers, wrong if labels else None, groups=groups, by=by)


@cache
def judge():
    """Return one pipeline for all tests that only use it."""
    return fitted()


def recorded(provider):
    """Return question, reply and samples as a provider returns them."""
    found = json.loads((REPLIES / f"{provider}.json").read_text("utf-8"))
    return found["question"], found["reply"], found["samples"]


def facts(verdict):
    """Return the numbers of a verdict, NaN for None."""
    listed = (verdict.uncertainty, verdict.p_value, verdict.p_wrong, verdict.accept)
    return np.array([np.nan if one is None else one for one in listed], dtype=float)
