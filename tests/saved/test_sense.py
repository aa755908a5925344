"""A file whose checksum is right is still read with care: a part that makes no sense is refused in one line.

A checksum guards against accidents. Whoever alters a number and computes a new checksum can only be found out where
the number contradicts another one, or what it stands for. What cannot be found out is listed here, and nothing else.
"""

import warnings
from functools import cache

import numpy as np
import pytest
from altered_files import altered_arrays, altered_fields, parts_of
from sklearn.naive_bayes import GaussianNB

from good_answers import sampled_answers
from vecuq import (
    AnswerPipeline,
    ClassifierOutputs,
    Conformal,
    EstimatorPipeline,
    Gate,
    LiveGate,
    Monitor,
    PartialFit,
    Ranker,
    ScoreTable,
    Settings,
    VecUQPipeline,
    fit_ranker,
    fit_stream,
    from_estimator,
    learn_weights,
    load,
)
from vecuq._load import _READERS
from vecuq.baselines import copula, z_sum
from vecuq.errors import ModelFileError, VecuqError

RNG = np.random.default_rng(0)
RNG_OF_GATE = np.random.default_rng(1)
ROWS = RNG.gamma(1.0, size=(60, 3))
WITH_CONSTANT = {"a": ROWS[:, 0], "b": ROWS[:, 1], "same": np.full(60, 2.0), "c": ROWS[:, 2]}
NEW = RNG.gamma(1.2, size=(6, 3)) * 2
NEW[0] = 50.0
LACKING = np.where(np.eye(6, 3) == 1, np.nan, NEW)
DRIFTED = RNG.gamma(1.0, size=(80, 3)) + np.linspace(0, 3, 80)[:, None]
DRIFTED[::9, 1] = np.nan
LOGITS = RNG.normal(size=(2, 60, 3))
LABELS = LOGITS.mean(axis=0).argmax(axis=1)
DENSITIES = ["entropy", "mahalanobis", "relative_mahalanobis", "gmm", "knn"]
FEW = {"n_targets": 27, "anchors": 2.0}


def grid_model(**settings):
    return fit_ranker(ScoreTable.of(WITH_CONSTANT, flip=["b"]), Settings(**FEW | settings))


def weighted_model():
    labelled = ScoreTable.of({**WITH_CONSTANT, "same": np.arange(60.0)}, flip=["b"])
    weights = learn_weights(labelled, labelled.values[:, 0] > np.median(labelled.values[:, 0] + np.arange(60) % 7 / 9))
    assert len(set(weights.values())) > 2
    return grid_model(weights=weights)


def streamed_model():
    chunks = [ScoreTable.of(part) for part in np.split(ROWS, 4)]
    return fit_stream(lambda: iter(chunks), Settings(epsilon=1.0, n_targets=27))


def partial(few=True, sample=False):
    """Gather rows: all are kept, or those held back beside a sketch or a sample."""
    start = PartialFit(settings=Settings(n_targets=27, epsilon=9.0), n_rows=None if few else 6000)
    return (start.for_sample() if sample else start).update(ROWS)


def monitor(new):
    watched = Monitor(fit_ranker(ROWS, Settings(**FEW)), random_state=3, alpha=0.05)
    if len(new):
        assert watched.observe(new)
    return watched


def pipeline():
    known = ClassifierOutputs.of(logits=LOGITS, labels=LABELS)
    return VecUQPipeline(measures=DENSITIES).fit(LOGITS + 0.1, train=known)


def answer_pipeline(labelled=240):
    answers, wrong = sampled_answers(240, 9)
    wrong = None if not labelled else wrong
    return AnswerPipeline(measures=["msp", "consistency"], accuracy=0.7).fit(answers, wrong)


@cache
def classifier():
    return GaussianNB().fit(ROWS[:30], np.arange(30) % 3)


def estimator_pipeline():
    return from_estimator(classifier(), ROWS[:30], np.arange(30) % 3, ROWS[30:])


def gate():
    rows = RNG_OF_GATE.gamma(1.0, size=(150, 3))
    right = RNG_OF_GATE.random(150) > rows.sum(axis=1) / 20
    how = {"by": np.where(np.arange(150) % 2, "a", "b"), "groups": np.arange(150) // 2}
    return Gate(fit_ranker(ROWS, Settings(**FEW)), accuracy=0.6, guard=0.1).fit(rows, right, **how)


def live(n_rows):
    watched = LiveGate(gate(), audit=0.5, random_state=3, overdue=9)
    for epoch in range(2):
        done = watched.record(n_rows * epoch + np.arange(n_rows), np.arange(n_rows) % 4 > 0)
        drawn = [name for name in done.ids if name in watched.ledger.labels]
        watched.update(drawn[3:], np.arange(len(drawn) - 3) % 9 > 0)
        watched.update([n_rows * epoch], [1])
        if not epoch:
            watched.recalibrate(watched.gate)
    watched.record(range(-60, 0), np.ones(60, dtype=bool))
    return watched


MADE = {
    "model": grid_model,
    "cloud": lambda: grid_model(reference="ball"),
    "quantile": lambda: grid_model(scaling="quantile"),
    "global": lambda: grid_model(scaling="global"),
    "identity": lambda: grid_model(scaling="identity", epsilon=5.0, anchors=0.0),
    "nothing held back": lambda: grid_model(holdback=0.0),
    "weighted": weighted_model,
    "zero weight": lambda: grid_model(weights={"a": 1.0, "b": 0.0, "same": 1.0, "c": 0.5}),
    "in groups": lambda: fit_ranker(ROWS, Settings(**FEW, holdback=0.8), groups=np.arange(60) * 2 // 5),
    "columns in groups": lambda: grid_model(column_groups={"one": ["a", "same", "c"], "two": ["b"]}),
    "streamed": streamed_model,
    "of a sketch": lambda: (
        PartialFit(settings=Settings(n_targets=27, epsilon=2.0, holdback=0.0), n_rows=10**6).update(ROWS).fit()
    ),
    "partial fit": lambda: partial(few=False),
    "partial fit of few rows": partial,
    "partial fit with a sample": lambda: partial(few=False, sample=True),
    "cross": lambda: fit_ranker(ROWS, Settings(**FEW, holdback="cross")),
    "conformal": lambda: Conformal(z_sum(columns=list(WITH_CONSTANT), flip=["b"])).fit(WITH_CONSTANT),
    "conformal in groups": lambda: Conformal(copula()).fit(
        {"a": ROWS[:, 0], "b": ROWS[:, 1], "c": ROWS[:, 2]}, groups=np.arange(60) // 2
    ),
    "new monitor": lambda: monitor(()),
    "monitor": lambda: monitor(DRIFTED),
    "pipeline": pipeline,
    "answer pipeline": answer_pipeline,
    "answer pipeline without labels": lambda: answer_pipeline(labelled=0),
    "estimator pipeline": estimator_pipeline,
    "gate": gate,
    "live": lambda: live(40),
    "live for long": lambda: live(54_000),
}


def in_columns(ranker, values):
    """Return rows by the names that the altered file should still have; a new name is then missed."""
    names = ("a", "b", "c") if {"same", "a"} & set(ranker.columns) else ("x0", "x1", "x2")
    constant = {"same": np.full(len(values), 2.0)} if "same" in ranker.columns else {}
    return {**constant, **dict(zip(names, values.T, strict=True))}


def numbers_of_ranker(ranker):
    new, lacking = in_columns(ranker, NEW), in_columns(ranker, LACKING)
    if ranker.settings.holdback == "cross":
        return [*vars(ranker.rank(new)).values(), ranker.flag(new, 0.1), ranker.explain(new), ranker.predict(new)]
    found = [*vars(ranker.rank(new)).values(), ranker.explain(new), ranker.offset, *ranker.why(new)]
    if ranker.diagnostics.n_held:
        found += [ranker.flag(new), ranker.threshold(0.1), *vars(ranker.rank(lacking, missing="marginal")).values()]
    return found


def numbers_of(thing):  # noqa: PLR0911 - one for each kind
    """Return what a loaded thing says of new rows."""
    if isinstance(thing, PartialFit):
        thing = thing + thing.empty().update(ROWS[::-1] + 0.5, first_row=60)
        return [*numbers_of_ranker(thing.fit()), thing.count, thing.n_dropped]
    if isinstance(thing, Ranker):
        return numbers_of_ranker(thing)
    if isinstance(thing, Conformal):
        new = in_columns(thing, NEW)
        return [thing.uncertainty(new), thing.p_values(new), thing.flag(new, 0.1), thing.threshold(0.1), thing.alpha]
    if isinstance(thing, Monitor):
        thing.observe(NEW)
        return [repr(thing.evidence), repr(thing.alarms), thing.rows, thing.n_missing, thing.n_watched]
    if isinstance(thing, LiveGate):
        done = thing.record([*range(8), *range(10**6, 10**6 + 24)], np.arange(32) % 4 > 0)
        return [done.accept, done.audit, thing.standing, str(thing), thing.pending, thing.overdue, thing.describe()]
    if isinstance(thing, Gate):
        by = ["a", "b"] * 3
        return [thing.accept(NEW, by=by), thing.p_wrong(NEW, interval=True), str(thing.certificate()), thing.table_]
    return numbers_of_pipeline(thing)


def numbers_of_pipeline(thing):
    if isinstance(thing, AnswerPipeline):
        found = [thing.judge(one) for one in [*sampled_answers(15, 11)[0], {"text": "a", "samples": ["a", "b"]}]]
        facts = [(one.uncertainty, one.p_value, one.p_wrong, one.accept, one.why, one.missing) for one in found]
        return [*facts, thing.split_, thing.measures_]
    if isinstance(thing, EstimatorPipeline):
        said, thing = thing.describe(), load(thing.to_bytes(), estimator=classifier())
        return [*vars(thing.rank(NEW)).values(), thing.predict(NEW), said]
    return [*vars(thing.rank(LOGITS)).values(), thing.predict(LOGITS)]


def outcome(saved, known):
    """Return what became of an altered file: refused, the same numbers, refused when it is used, or other numbers."""
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        warnings.simplefilter("ignore", UserWarning)
        try:
            thing = load(saved)
        except ModelFileError as error:
            return "refused" if "\n" not in str(error) and len(str(error)) < 600 else "refused at length"
        try:
            found = numbers_of(thing)
        except VecuqError:
            return "refused in use"
    try:
        np.testing.assert_equal(found, known)
    except AssertionError:
        return "other numbers"
    return "same"


@cache
def made(name):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        saved = MADE[name]().to_bytes()
        return saved, numbers_of(load(saved))


def own_array(name):
    """Whether to alter an array: models inside other files, and further streams, are checked by the same functions."""
    inner = ("model/", "ranker/", "2.", "3.", "fold.1/", "fold.2/", "fold.3/", "fold.4/", "whole/")
    return not name.startswith(inner) and name not in ("model", "gate")


def own_field(path):
    if path[0] == "folds":
        return path[1:2] in ((), (0,))
    return path[0] not in ("model", "ranker", "whole") and (
        path[0] not in ("alarms", "streams") or path[1:2] in ((), (0,))
    )


def label(name):
    """Return which part of a kind an array or a field is."""
    path = name.split(".") if isinstance(name, str) else [str(word) for word in name]
    return ".".join(word for word in path if not word.isdigit())


def outcomes(name):
    """Return what became of every altered file of a kind, by what was altered."""
    saved, known = made(name)
    found = {}
    for part, what, altered in (
        *altered_arrays(saved, wanted=own_array),
        *altered_fields(saved, wanted=own_field),
    ):
        found.setdefault(outcome(altered, known), []).append((label(part), what))
    return found


# What can be changed to other numbers that make sense, so that nobody can find it out, by these alterations at least.
# The names and the meaning of columns, the rate of alarms, and rows that stand for others:
OF_MODELS = {"columns", "flipped", "named", "settings.alpha", "kept.draws"}
OF_LIVE = {
    *("audit", "confidence", "overdue", "seed", "epochs"),
    *(f"epochs.{name}" for name in ("decided", "accepted", "audited", "wrong")),
    *("n_labels", "n_unaudited", "audits.labels", "memory.codes", "memory.hashes"),
}
OF_PARTS = {
    *("columns", "part", "n_dropped", "rows.hashes", "rows.values"),
    *(f"settings.{name}" for name in ("alpha", "anchors", "epsilon", "n_targets", "overshoot", "random_state", "tol")),
}
NOT_FOUND_OUT = {
    "model": OF_MODELS - {"columns"},
    "cloud": OF_MODELS - {"columns"},
    "quantile": OF_MODELS - {"columns"},
    # No held-back row lies far beyond the box, so that hardly any shows what is added there.
    "global": OF_MODELS - {"columns"} | {"settings.overshoot"},
    "identity": OF_MODELS - {"columns"},
    # Weights know the directions that they were learned with; a column of weight 0 may point anywhere.
    "weighted": OF_MODELS - {"columns", "flipped"} | {"settings.overshoot"},
    "zero weight": OF_MODELS - {"columns", "flipped"} | {"settings.overshoot"},
    "nothing held back": OF_MODELS - {"columns", "kept.draws"} | {"settings.overshoot", "kept.centre"},
    "in groups": OF_MODELS - {"flipped", "named"},
    "columns in groups": OF_MODELS - {"columns"},
    # Of an even number of rows, whatever lies between the two in the middle is a median.
    "streamed": OF_MODELS - {"flipped", "named"} | {"settings.overshoot", "kept.centre"},
    # It keeps no row that could be scored again.
    "of a sketch": {"columns", "settings.overshoot", "kept.centre", "scaler.lower", "scaler.span"},
    # What was gathered and how: nothing else remembers it.
    "partial fit": OF_PARTS | {"box_low", "box_high", "seen_low", "moments"},
    "partial fit of few rows": OF_PARTS | {"settings.holdback"},
    "partial fit with a sample": OF_PARTS | {"sample.hashes", "sample.values", "seen_low", "seen_high"},
    "cross": set(),
    "conformal": {"alpha", "columns", "flipped", "named"},
    "conformal in groups": {"alpha", "columns"},
    # Rows of the columns may be the user's; another seed gives other random numbers, as good as these.
    "new monitor": {"alpha", "scores", "breakers", "seed", "thin"},
    # What happened before: nothing else remembers it.
    "monitor": {
        *("scores", "breakers", "counts", "staked", "seed", "n_missing"),
        *("alarms", "alarms.row", "alarms.since", "alarms.evidence"),
    },
    # No training row is kept, and no logits.
    "pipeline": {
        *(f"density/{name}/{part}" for name in DENSITIES[1:3] for part in ("means", "whitening")),
        *(f"density/relative_mahalanobis/all_{part}" for part in ("means", "whitening")),
        *(f"density/gmm/{part}" for part in ("means", "whitening", "log_weights")),
        *("density/knn/rows", "density/knn/k", "temperature"),
    },
    # Neither a training row nor the classifier is kept, only what it says at some points.
    "estimator pipeline": {
        *(f"density/mahalanobis/{part}" for part in ("means", "whitening")),
        *("density/knn_euclidean/rows", "density/knn_euclidean/k", "left_out", "left_out.mutual_information"),
    },
    # No answer is kept: how many were left out, and how they were made, only the file remembers.
    "answer pipeline": {"split.incomplete", "made", "made.fewest_samples", "made.most_samples"},
    "answer pipeline without labels": {"split.incomplete"},
    # No labelled row is kept, only its score; a zero of either sign is a zero.
    "gate": {
        *("rates.probability", "rates.lower"),
        *("settings.confidence", "settings.guard", "simultaneous", "table.coverage", "table.wrong"),
    },
    # What happened before, and what was chosen: nothing else remembers it.
    # While no row is forgotten, the rows that are remembered are all that were decided.
    "live": OF_LIVE - {"accepted", "decided"},
    "live for long": OF_LIVE | {"closed.lost", "closed.peak"},
}
# Rows that match the model's, a decision that was another, a name that new rows lack, medians that reasons need, a
# density of other members.
# Settings that the rows gathered so far do not allow.
SAID_IN_USE = {
    *("seen", "memory.codes", "memory.hashes", "columns", "kept.centre", "shape", "density/knn/rows"),
    *("flip", "rows.hashes", "settings.anchors", "settings.reference"),
    # What another classifier has, or says.
    *("classes", "classifier", "members", "n_features", "features/centre", "features/probe", "features/spread"),
    "prepared_by",
}
QUICK = (
    "model",
    "weighted",
    "columns in groups",
    "partial fit",
    "monitor",
    "pipeline",
    "answer pipeline",
    "estimator pipeline",
    "gate",
    "live",
    "conformal",
    "cross",
)
SLOW = tuple(name for name in MADE if name not in QUICK)


@pytest.mark.parametrize("name", [*QUICK, *(pytest.param(name, marks=pytest.mark.slow) for name in SLOW)])
def test_an_altered_file_is_refused_or_gives_the_same_numbers_but_for_what_nobody_can_know(name):
    found = outcomes(name)
    assert set(found) <= {"refused", "same", "refused in use", "other numbers"}
    assert {part for part, _ in found.get("other numbers", [])} == NOT_FOUND_OUT[name]
    assert {part for part, _ in found.get("refused in use", [])} <= SAID_IN_USE


def test_every_kind_that_can_be_loaded_is_altered_here():
    assert {parts_of(made(name)[0])[0]["kind"] for name in QUICK} == set(_READERS)
