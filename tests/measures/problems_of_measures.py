"""Random ensembles, and every risk written out from its definition: slow, literal loops."""

import numpy as np
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

RULES = ("log", "brier", "spherical", "zero-one")


def ensembles(most_members=5):
    """Logits (members, rows, classes), a few of each."""
    shapes = st.tuples(st.integers(1, most_members), st.integers(1, 4), st.integers(2, 6))
    return shapes.flatmap(lambda shape: hnp.arrays(float, shape, elements=st.floats(-20, 20, allow_subnormal=False)))


def probabilities(logits):
    p = np.exp(logits - logits.max(axis=-1, keepdims=True))
    return p / p.sum(axis=-1, keepdims=True)


def convex(rule, p):
    """G(p), the convex function behind the rule."""
    return {
        "log": lambda: sum(x * np.log(x) for x in p),
        "brier": lambda: sum(x * x for x in p) - 1,
        "spherical": lambda: np.sqrt(sum(x * x for x in p)) - 1,
        "zero-one": lambda: max(p) - 1,
    }[rule]()


def gradient(rule, p):
    return {
        "log": lambda: np.log(p) + 1,
        "brier": lambda: 2 * p,
        "spherical": lambda: p / np.linalg.norm(p),
        "zero-one": lambda: np.eye(len(p))[np.argmax(p)],
    }[rule]()


def bregman(rule, eta, q):
    return convex(rule, eta) - convex(rule, q) - gradient(rule, q) @ (eta - q)


def central(rule, members):
    if rule == "log":
        return probabilities(np.mean([np.log(p) for p in members], axis=0))
    if rule != "spherical":
        return np.mean(members, axis=0)
    x = np.mean([p / np.linalg.norm(p) for p in members], axis=0)
    x0 = np.full(len(x), 1 / len(x))
    y = x - x0 * (x @ x0) / (x0 @ x0)
    return x0 + y / np.sqrt(1 - y @ y) * np.linalg.norm(x0)


def candidates(rule, members, approximation):
    return {1: members, 2: [np.mean(members, axis=0)], 3: [central(rule, members)]}[approximation]


def literal_risk(logits, kind, rule, truth, prediction):
    """Average over every pair of a truth and a prediction, row by row."""
    out = []
    for row in probabilities(logits).transpose(1, 0, 2):
        truths, predictions = candidates(rule, row, truth), candidates(rule, row, prediction)
        bayes = np.mean([-convex(rule, eta) for eta in truths])
        excess = np.mean([bregman(rule, eta, q) for eta in truths for q in predictions])
        out.append({"bayes": bayes, "excess": excess, "total": bayes + excess}[kind])
    return np.array(out)
