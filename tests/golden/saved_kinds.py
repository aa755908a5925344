"""One saved file of every kind, and numbers that it must give for ever.

``python tests/golden/saved_kinds.py`` writes ``saved_<version>/`` here. Run it once per released version, never again:
the files of a version show that later versions still read them.
"""

import json
import sys
from pathlib import Path

import numpy as np
from sklearn.linear_model import LogisticRegression

from vecuq import (
    AnswerPipeline,
    Conformal,
    Gate,
    LiveGate,
    Monitor,
    PartialFit,
    Settings,
    VecUQ,
    VecUQPipeline,
    __version__,
    from_estimator,
    load,
)

SMALL = {"n_targets": 36, "random_state": 0}
TEXTS = ("Paris", "London", "Rome")


def rows(n_rows, seed):
    """Rows of two scores."""
    return np.random.default_rng(seed).gamma(1.5, size=(n_rows, 2))


def named(scores):
    """The same rows as columns with names."""
    return dict(zip(("x0", "x1"), scores.T, strict=True))


def labels(scores):
    """1 where a row is right; the wrong ones have high scores."""
    return (scores.sum(axis=1) < np.random.default_rng(9).gamma(12.0, 0.6, len(scores))).astype(int)


def logits(n_rows, seed):
    """Outputs of two members on three classes."""
    return np.random.default_rng(seed).normal(size=(2, n_rows, 3))


def answers(n_answers, seed):
    """Answers with three samples each, some of which disagree."""
    rng = np.random.default_rng(seed)
    drawn = rng.choice(3, size=(n_answers, 3), p=(0.7, 0.2, 0.1))
    return [{"text": TEXTS[0], "samples": [{"text": TEXTS[one]} for one in row]} for row in drawn]


def classifier():
    """Return a fitted classifier of two classes, which is no part of a saved file."""
    points = rows(90, 10)
    return LogisticRegression().fit(points, points.sum(axis=1) // 2 > 1)


def all_kinds():
    """Return one fitted thing of each kind, small."""
    known, labelled = rows(60, 0), rows(120, 1)
    model = VecUQ(**SMALL).fit(known)
    gate = Gate(model, accuracy=0.6, confidence=0.8).fit(labelled, labels(labelled))
    said = answers(150, 2)
    wrong = [len({one["text"] for one in each["samples"]}) > 2 for each in said]
    partial = PartialFit(["x0", "x1"], Settings(**SMALL))
    monitor, live = Monitor(model.ranker_), LiveGate(gate, audit=0.5, random_state=0)
    live.decide(rows(20, 3), [f"r{k}" for k in range(20)])
    monitor.observe(rows(30, 4))
    return {
        "model": model,
        "cross": VecUQ(holdback="cross", **SMALL).fit(known),
        "partial": partial.update(known),
        "pipeline": VecUQPipeline(measures=["entropy", "margin"], estimator=VecUQ(**SMALL)).fit(logits(60, 5)),
        "answer_pipeline": AnswerPipeline(accuracy=0.5, confidence=0.8).fit(said, wrong),
        "estimator_pipeline": from_estimator(
            classifier(), rows(90, 10), classifier().predict(rows(90, 10)), rows(60, 11)
        ),
        "monitor": monitor,
        "gate": gate,
        "live": live,
        "conformal": Conformal("x1").fit(named(known)),
    }


# What each kind must go on to say. Public names only, and nothing that depends on the date.
NUMBERS = {
    "model": lambda it: [it.uncertainty(rows(5, 7)), it.p_values(rows(5, 7)), it.explain(rows(5, 7)).ravel()],
    "cross": lambda it: [it.uncertainty(rows(5, 7)), it.p_values(rows(5, 7))],
    "partial": lambda it: [it.fit().uncertainty(rows(5, 7)), it.fit().p_values(rows(5, 7))],
    "pipeline": lambda it: [it.uncertainty(logits(5, 8)), it.p_values(logits(5, 8))],
    "answer_pipeline": lambda it: [[[v.uncertainty, v.p_wrong, v.accept] for v in map(it, answers(5, 9))]],
    "estimator_pipeline": lambda it: [it.uncertainty(rows(5, 12)), it.p_values(rows(5, 12))],
    "monitor": lambda it: [[it.rows], list(it.evidence.values())],
    "gate": lambda it: [it.accept(rows(5, 7)), it.p_wrong(rows(5, 7)), [it.bound_, it.coverage_]],
    "live": lambda it: [[it.bound, it.lower, it.audited, len(it.pending)]],
    "conformal": lambda it: [it.uncertainty(named(rows(5, 7))), it.p_values(named(rows(5, 7)))],
}


def numbers_of(kind, thing):
    """Return what a thing says, as one list of floats."""
    return [float(value) for part in NUMBERS[kind](thing) for value in np.asarray(part, float).ravel()]


def loaded(path):
    """Return what a file holds, with the classifier that it only names."""
    return load(path, estimator=classifier()) if path.stem == "estimator_pipeline" else load(path)


def main():
    """Write a file of each kind, and the numbers that the loaded files give."""
    folder = Path(__file__).with_name(f"saved_{__version__.replace('.', '_')}")
    folder.mkdir()
    for kind, thing in all_kinds().items():
        thing.save(folder / f"{kind}.vecuq")
    numbers = {path.stem: numbers_of(path.stem, loaded(path)) for path in sorted(folder.glob("*.vecuq"))}
    (folder / "numbers.json").write_text(json.dumps(numbers, indent=1) + "\n")


if __name__ == "__main__":
    sys.exit(main())
