"""Decide, where a reply of a language model arrives, whether it may go out: for applications that call a provider.

A few hundred labelled answers make the judge. The promise holds for answers that are made as these were: the same
model, as many samples, and a random sample of the questions to come.
"""

import tempfile
from pathlib import Path

import numpy as np

from vecuq import AnswerPipeline, load

rng = np.random.default_rng(0)


def answered(doubt: float) -> dict:
    """Return an answer with five samples, which agree the less, the larger the doubt."""
    samples = ["Goethe" if rng.random() > doubt else f"Author {rng.integers(9)}" for _ in range(5)]
    return {"question": "Who wrote Faust?", "text": "Goethe", "samples": samples}


doubts = rng.random(900)
answers = [answered(doubt) for doubt in doubts]
wrong = rng.random(900) < doubts**3 / 2  # labels, by people who looked

judge = AnswerPipeline(measures=["consistency", "majority_share"], accuracy=0.9, confidence=0.9)
judge.fit(answers, wrong)
print(judge.certificate())

with tempfile.TemporaryDirectory() as folder:
    judge.save(Path(folder, "bot.vecuq"))
    judge = load(Path(folder, "bot.vecuq"))  # in the application: one file, nothing else

agreeing = judge("Goethe", samples=["Goethe"] * 5, question="Who wrote Faust?")
quarrelling = judge(
    {"choices": [{"message": {"content": "Goethe"}}]},  # a reply as OpenAI's API returns it
    samples=["Marlowe", "Goethe", "Mann", "Lessing", "Schiller"],
    question="Who wrote Faust?",
)
for verdict in (agreeing, quarrelling):
    print("send  " if verdict.accept else "review", f"p_wrong {verdict.p_wrong:.2f}", verdict.why)
