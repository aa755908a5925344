"""A judge for all tests of this folder, and the reader of code blocks in pages."""

import sys
from pathlib import Path

import numpy as np
import pytest

from vecuq import AnswerPipeline

sys.path.insert(0, str(Path(__file__).parents[1] / "docs"))


def answer(rng, doubt):
    samples = ["Paris" if rng.random() > doubt else "Lyon" for _ in range(8)]
    return {"question": "What is the capital of France?", "text": "Paris", "samples": samples}


@pytest.fixture(scope="session")
def judge():
    """A judge with a gate, fitted on answers whose samples disagree the more, the more often they are wrong."""
    rng = np.random.default_rng(0)
    doubts = rng.random(900)
    wrong = rng.random(900) < doubts**3 / 2
    pipeline = AnswerPipeline(measures=["consistency"], accuracy=0.9)
    return pipeline.fit([answer(rng, doubt) for doubt in doubts], wrong)
