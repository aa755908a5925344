"""A file whose checksum is right is still read with care: a part that makes no sense is refused in one line.

A checksum guards against accidents. Whoever alters a number and computes a new checksum can only be found out where
the number contradicts another one, or what it stands for. What cannot be found out is listed here, and no more.
"""

import warnings

import numpy as np

from vecuq import (
    ClassifierOutputs,
    Monitor,
    Ranker,
    ScoreTable,
    Settings,
    Sketch,
    VecUQPipeline,
    fit_ranker,
    fit_stream,
    load,
    sketch,
)
from vecuq.errors import ModelFileError, VecuqError

RNG = np.random.default_rng(0)
ROWS = RNG.gamma(1.0, size=(160, 3))
WITH_CONSTANT = {"a": ROWS[:, 0], "b": ROWS[:, 1], "same": np.full(160, 2.0), "c": ROWS[:, 2]}
NEW = RNG.gamma(1.2, size=(30, 3)) * 2
LOGITS = RNG.normal(size=(2, 90, 3))
LABELS = LOGITS.mean(axis=0).argmax(axis=1)
DENSITIES = ["entropy", "mahalanobis", "relative_mahalanobis", "gmm", "knn"]


def gate():
    return fit_ranker(ScoreTable.of(WITH_CONSTANT, flip=["b"]))


def watched(n_rows):
    monitor = Monitor(fit_ranker(ROWS), random_state=3)
    if n_rows:
        new = np.random.default_rng(1).gamma(1.0, size=(n_rows, 3)) + np.linspace(0, 3, n_rows)[:, None]
        new[::9, 1] = np.nan
        monitor.observe(new)
        assert monitor.alarms
    return monitor


def pipeline():
    known = ClassifierOutputs.of(logits=LOGITS, labels=LABELS)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return VecUQPipeline(measures=DENSITIES).fit(LOGITS + 0.1, train=known)


def streamed():
    chunks = [ScoreTable.of(part) for part in np.split(ROWS, 4)]
    return fit_stream(lambda: iter(chunks), Settings(epsilon=1.0))


MADE = {
    "grid model": gate,
    "cloud model": lambda: fit_ranker(ROWS[:, :2], Settings(reference="ball", n_targets=60, anchors=2.0)),
    "quantile model": lambda: fit_ranker(ROWS, Settings(scaling="quantile", n_targets=64)),
    "global model": lambda: fit_ranker(ROWS, Settings(scaling="global", n_targets=64, holdback=0.0)),
    "identity model": lambda: fit_ranker(ROWS, Settings(scaling="identity", n_targets=64, epsilon=5.0)),
    "streamed model": streamed,
    "model of a sketch": lambda: fit_ranker(sketch(ROWS)),
    "sketch": lambda: sketch(ROWS, ranges=dict.fromkeys(("x0", "x1", "x2"), (-1.0, 40.0))),
    "new monitor": lambda: watched(0),
    "monitor": lambda: watched(80),
    "pipeline": pipeline,
}


def numbers_of_ranker(ranker):
    """Return everything that a model says of new rows."""
    new = {name: NEW[:, k % 3] for k, name in enumerate(ranker.columns)} if ranker.named else NEW
    lacking = {
        name: np.where(np.arange(30) % (3 + k) == 0, np.nan, column) for k, (name, column) in enumerate(new.items())
    }
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = [*vars(ranker.rank(new)).values(), ranker.explain(new), ranker.offset, ranker.why(new)]
        if ranker.diagnostics.n_held:
            found += [ranker.flag(new), ranker.threshold(0.1), *vars(ranker.rank(lacking, missing="marginal")).values()]
    return found


def numbers_of(thing):
    """Return everything that a loaded thing says of new rows."""
    if isinstance(thing, Ranker):
        return numbers_of_ranker(thing)
    if isinstance(thing, Sketch):
        return numbers_of_ranker(fit_ranker(thing))
    if isinstance(thing, Monitor):
        thing.observe(NEW)
        return [list(thing.evidence.items()), thing.alarms, thing.rows, thing.n_missing, thing.n_watched]
    return [*vars(thing.rank(LOGITS)).values(), thing.predict(LOGITS)]


def same(found, before):
    return all(
        np.array_equal(a, b, equal_nan=True) if isinstance(a, np.ndarray) and a.dtype == float else np.all(a == b)
        for a, b in zip(found, before, strict=True)
    )


def verdict(saved, before):
    """Return what became of an altered file: refused, the same numbers, refused when it is used, or other numbers."""
    try:
        thing = load(saved)
    except ModelFileError as error:
        assert "\n" not in str(error)
        return "refused"
    try:
        return "same" if same(numbers_of(thing), before) else "OTHER"
    except VecuqError:
        return "refused in use"
