"""One of each kind that has a card, small and quick to fit."""

import warnings
from functools import cache

import numpy as np

from vecuq import AnswerPipeline, Conformal, Gate, LiveGate, VecUQ, VecUQPipeline, baselines, from_estimator

RNG = np.random.default_rng(0)
COLUMNS = ["entropy", "knn"]


def scores(n_rows, seed):
    """Rows of two scores by name, and which of them are right: certain ones mostly are."""
    rng = np.random.default_rng(seed)
    values = rng.gamma(1.0, size=(n_rows, 2))
    return dict(zip(COLUMNS, values.T, strict=True)), rng.random(n_rows) > values.sum(axis=1) / 12


def model_of(**settings):
    rows, _ = scores(300, 0)
    return VecUQ(columns=COLUMNS, flip=settings.pop("flip", []), **settings).fit(rows)


def few_rows():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that rows are few
        return VecUQ(columns=COLUMNS, flip=[], alpha=0.01).fit(scores(60, 0)[0])


def grouped_model():
    rows, _ = scores(300, 0)
    return VecUQ(columns=COLUMNS, flip=[]).fit(rows, groups=np.arange(300) // 5)


def gate_of(model=None, *, about=None, n_rows=600, **target):
    rows, correct = scores(n_rows, 1)
    return Gate(model_of() if model is None else model, **target).fit(rows, correct, **(about or {}))


def graded_gate():
    rows, _ = scores(600, 1)
    quality = 1.0 - np.minimum(rows["entropy"] / 8, 1.0)
    return Gate(model_of(), quality=0.8).fit(rows, quality)


def answers():
    """A pipeline of answers whose samples agree more where the answer is right."""
    rng = np.random.default_rng(2)

    def answer(doubt):
        return {"text": "Paris", "samples": ["Paris" if rng.random() > doubt else "Lyon" for _ in range(8)]}

    doubts = rng.random(600)
    wrong = rng.random(600) < doubts**3 / 2
    return AnswerPipeline(measures=["consistency"], accuracy=0.9).fit(map(answer, doubts), wrong)


def around_a_classifier():
    from sklearn.ensemble import RandomForestClassifier

    X, y = RNG.normal(size=(400, 3)), RNG.integers(3, size=400)
    X += 2.0 * np.eye(3)[y]
    forest = RandomForestClassifier(5, random_state=0).fit(X[:200], y[:200])
    return from_estimator(forest, X[:200], y[:200], X[200:])


def live():
    rows, correct = scores(800, 3)
    made = LiveGate(gate_of(accuracy=0.8), audit=0.5)
    done = made.decide(rows, ids=range(800))
    made.update(np.flatnonzero(done.audit), correct[done.audit])
    return made


KINDS = {
    "model": model_of,
    "flipped, paper": lambda: model_of(flip=["knn"], overshoot=0.0, holdback=0.0),
    "weighted": lambda: model_of(weights={"entropy": 1.0, "knn": 0.5}),
    "few rows": few_rows,
    "groups": grouped_model,
    "cross": lambda: model_of(holdback="cross"),
    "conformal": lambda: Conformal(baselines.fisher(columns=COLUMNS, flip=[])).fit(scores(300, 0)[0]),
    "outputs": lambda: VecUQPipeline(measures="bayes_rules").fit(RNG.normal(size=(3, 300, 4))),
    "classifier": around_a_classifier,
    "answers": answers,
    "accuracy": lambda: gate_of(accuracy=0.85),
    "average": lambda: gate_of(accuracy=0.85, promise="average"),
    "groups of labels": lambda: gate_of(accuracy=0.8, about={"groups": np.arange(600) // 3}),
    "categories": lambda: gate_of(accuracy=0.8, about={"by": np.array(["a", "b"])[np.arange(600) % 2]}),
    "quality": graded_gate,
    "recall": lambda: gate_of(flag_recall=0.5),
    "precision": lambda: gate_of(flag_precision=0.2),
    "cost": lambda: gate_of(cost_wrong=10.0, cost_review=1.0),
    "budget": lambda: gate_of(budget=0.2),
    "rows": lambda: gate_of(budget=20),
    "guard": lambda: gate_of(accuracy=0.85, guard=0.05),
    "column": lambda: gate_of(accuracy=0.8, order="entropy"),
    "live": live,
}


@cache
def thing(kind):
    return KINDS[kind]()
