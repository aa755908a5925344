"""The table of cases: models, rows and options on which all faces have to agree, and how their columns are compared."""

from functools import cache
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from vecuq import AnswerPipeline, Gate, ScoreTable, Settings, fit_ranker

COLUMNS = ("entropy", "knn", "confidence")
SUBJECTS = ("law", "physics", "history", "chess")


def score_rows(n_rows, seed):
    """Rows by name; higher confidence is less uncertain."""
    rng = np.random.default_rng(seed)
    entropy, knn = rng.gamma(1.0, size=n_rows), rng.gamma(2.0, size=n_rows)
    return {"entropy": entropy, "knn": knn, "confidence": rng.random(n_rows)}


def labelled(n_rows, seed):
    """Rows with labels: seldom right where they are uncertain; subjects, sessions of four rows, a quality, an id."""
    rows, rng = score_rows(n_rows, seed), np.random.default_rng(seed + 100)
    doubt = np.clip(rows["entropy"] / 8 + rows["knn"] / 16, 0, 0.9)
    more = {
        "subject": [SUBJECTS[k % 3] for k in range(n_rows)],
        "session": np.arange(n_rows) // 4,
        "right": (rng.random(n_rows) > doubt).astype(int),
        "quality": np.clip(1 - doubt * rng.random(n_rows), 0, 1),
    }
    return pa.table({**rows, **more})


def calibration():
    """Rows to fit, with an id and a group for each."""
    n_rows = 400
    return pa.table({"id": np.arange(n_rows), "session": np.arange(n_rows) // 4, **score_rows(n_rows, 0)})


def new_table():
    """Full rows, missing values, far rows, and both at once; a category that no label has."""
    full = zip(*score_rows(120, 8).values(), strict=True)
    odd = [
        [None, 1.0, 0.5],
        [1.0, None, None],
        [None, None, None],
        [1e300, 1e300, -1e300],
        [1e300, None, 0.5],
        [-1e300, 0.0, 1e300],
        [1.7e308, 1.7e308, 0.1],
        [0.0, 0.0, 0.0],
        [5e-324, 1e-300, 1.0],
        [40.0, 50.0, 0.1],
        [45.0, 55.0, 0.0],
    ]
    values = [*(list(row) for row in full), *odd]
    columns = {name: pa.array(cells, pa.float64()) for name, *cells in zip(COLUMNS, *values, strict=True)}
    n_rows = len(values)
    return pa.table({"id": [f"r{k}" for k in range(n_rows)], **columns, "subject": _cycle(SUBJECTS, n_rows)})


def _cycle(names, n_rows):
    return [names[k % len(names)] for k in range(n_rows)]


@cache
def ranker():
    return fit_ranker(ScoreTable.of(score_rows(400, 0), columns=COLUMNS, flip=["confidence"]))


@cache
def cross():
    settings = Settings(holdback="cross", n_targets=25, tol=1e-6)
    return fit_ranker(ScoreTable.of(score_rows(200, 0), columns=COLUMNS, flip=["confidence"]), settings)


def gate(*, model=ranker, target=None, seed=1, by=False, groups=False, **settings):
    rows = labelled(1_200, seed)
    more = {"by": rows["subject"].to_pylist()} if by else {}
    more |= {"groups": rows["session"].to_numpy()} if groups else {}
    made = Gate(model(), **(target or {"accuracy": 0.8}), **settings)
    return made.fit(rows.select(COLUMNS), rows["right"].to_numpy(), **more)


MODELS = {
    "model": ranker,
    "cross": cross,
    "gate": gate,
    "gate_guard": lambda: gate(guard=0.05),
    "gate_order": lambda: gate(order="entropy"),
    "gate_cross": lambda: gate(model=cross),
    "gate_by": lambda: gate(by=True),
    "gate_groups": lambda: gate(groups=True),
    "gate_average": lambda: gate(promise="average"),
}


class Case(NamedTuple):
    """A model, options of `score`, and the faces that do not have them."""

    model: str
    options: dict
    without: tuple = ()

    @property
    def name(self):
        return "-".join([self.model, *(f"{name}={value}" for name, value in self.options.items())])


def answer_lines(n_rows, seed):
    """Answers with eight samples each, as lines of our schema, and whether each is wrong."""
    rng = np.random.default_rng(seed)
    doubts = rng.random(n_rows)
    lines = []
    for k, doubt in enumerate(doubts):
        texts = ["Paris" if rng.random() > doubt else str(rng.choice(["Lyon", "Nice", "Lille"])) for _ in range(8)]
        lines.append(reply_line(f"q{k}", "Paris", texts, SUBJECTS[k % 3]))
    return lines, rng.random(n_rows) < doubts**3 / 2


def reply_line(name, text, samples, subject="law"):
    return {
        "vecuq_answers": 1,
        "id": name,
        "question": "Where?",
        "greedy": {"text": text},
        "samples": [{"text": one} for one in samples],
        "meta": {"subject": subject},
    }


@cache
def judge(by=None, accuracy=0.85):
    lines, wrong = answer_lines(600, 5)
    made = AnswerPipeline(measures=["consistency", "lexical_similarity"], accuracy=accuracy)
    return made.fit(lines, wrong, by=by and [line["meta"][by] for line in lines])


JUDGES = {"judge": judge, "judge_by": lambda: judge(by="subject", accuracy=0.75)}
# A reply, its samples: usual, sure, in doubt, fewer samples than the certificate is about, none, an empty reply.
REPLIES = {
    "usual": ("Paris", ["Paris", "Paris", "Lyon", "Paris", "Nice", "Paris", "Paris", "Paris"]),
    "sure": ("Paris", ["Paris"] * 8),
    "in doubt": ("Paris", ["Lyon", "Nice", "Lille", "Lyon", "Paris", "Nice", "Lille", "Lyon"]),
    "contradicted": ("Paris", ["Lyon"] * 8),
    "few samples": ("Paris", ["Paris"] * 3),
    "no sample": ("Paris", []),
    "empty": ("", ["Paris"] * 8),
}
# Keywords of Gate and of its fit, and the words of `vecuq gate` that mean the same.
GATES = {
    "accuracy": ({"accuracy": 0.8}, {}, ["--accuracy", 0.8]),
    "error": ({"error": 0.2}, {}, ["--error-rate", 0.2]),
    "confidence": ({"accuracy": 0.8, "confidence": 0.99}, {}, ["--accuracy", 0.8, "--confidence", 0.99]),
    "average": ({"accuracy": 0.8, "promise": "average"}, {}, ["--accuracy", 0.8, "--promise", "average"]),
    "guard": ({"accuracy": 0.8, "guard": 0.05}, {}, ["--accuracy", 0.8, "--guard", 0.05]),
    "order": ({"accuracy": 0.8, "order": "entropy"}, {}, ["--accuracy", 0.8, "--order", "entropy"]),
    "precision": ({"flag_precision": 0.25}, {}, ["--flag-precision", 0.25]),
    "recall": ({"flag_recall": 0.5}, {}, ["--flag-recall", 0.5]),
    "cost": ({"cost_wrong": 5, "cost_review": 1}, {}, ["--cost-wrong", 5, "--cost-review", 1]),
    "budget": ({"budget": 0.3}, {}, ["--budget", 0.3]),
    "groups": ({"accuracy": 0.8}, {"groups": "session"}, ["--accuracy", 0.8, "--group", "session"]),
    "by": ({"accuracy": 0.75}, {"by": "subject"}, ["--accuracy", 0.75, "--by", "subject"]),
    "together": (
        {"accuracy": 0.7},
        {"by": "subject", "simultaneous": True},
        ["--accuracy", 0.7, "--by", "subject", "--simultaneous"],
    ),
}
# Settings, and the words of `vecuq fit` that mean the same.
FITS = {
    "plain": ({}, []),
    "paper": (Settings.paper(), ["--paper"]),
    "settings": ({"epsilon": 0.3, "reference": "exponential"}, ["--epsilon", 0.3, "--reference", "exponential"]),
    "global": ({"scaling": "global", "overshoot": 0.0}, ["--scaling", "global", "--overshoot", 0]),
    "cross": ({"holdback": "cross", "n_targets": 25}, ["--holdback", "cross", "--n-targets", 25]),
    "seed": ({"random_state": 3, "holdback": 0.3}, ["--seed", 3, "--holdback", 0.3]),
    "groups": ({}, ["--group", "session"]),
}
# Only a file as a whole can be selected from; only a batch can be decided on average.
WHOLE = ("http", "dask", "spark")
SCORE = [
    Case("model", {}),
    Case("model", {"missing": "marginal"}),
    Case("model", {"alpha": 0.1, "explain": True}),
    Case("model", {"alpha": 0.1, "confidence": 0.9}),
    Case("model", {"explain": True, "missing": "marginal"}),
    Case("model", {"alpha": 0.3, "select": "bh"}, WHOLE),
    Case("model", {"alpha": 0.8, "select": "by", "missing": "marginal"}, WHOLE),
    Case("cross", {"alpha": 0.1}),
    Case("gate", {}),
    Case("gate", {"alpha": 0.05, "missing": "marginal"}, ("python",)),
    Case("gate_guard", {}),
    Case("gate_order", {}),
    Case("gate_cross", {"alpha": 0.1}),
    Case("gate_by", {"by": "subject"}),
    Case("gate_groups", {}),
    Case("gate_average", {}, ("dask", "spark")),
]


def cases_of(face):
    """The cases that a face has, for pytest."""
    return {"argnames": "case", "argvalues": [one for one in SCORE if face not in one.without], "ids": lambda c: c.name}


def bits(column):
    """What is compared, bit by bit; a number that is missing is None everywhere, and so is an infinite one in JSON."""
    found = column.to_pylist() if hasattr(column, "to_pylist") else list(column)
    return [_bit(one) for one in found]


def _bit(one):
    if isinstance(one, float):
        return one.hex() if np.isfinite(one) else None
    return one


def differing(found, known, names):
    """Names of the columns in which a face differs from the reference."""
    return [name for name in names if bits(found[name]) != bits(known[name])]
