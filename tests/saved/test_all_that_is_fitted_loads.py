"""Strict reading refuses nothing that was fitted: whatever can be saved is loaded, and scores as before."""

import warnings

import numpy as np
import numpy.testing as npt
import pytest

from vecuq import Monitor, PartialFit, ScoreTable, Settings, VecUQ, VecUQPipeline, fit_ranker, fit_stream, load
from vecuq.transport import Cloud, Grid

RNG = np.random.default_rng(0)
ROWS = RNG.gamma(1.0, size=(90, 3))
NEW = RNG.gamma(1.3, size=(20, 3)) * 2


class OfAUser:
    """A cloud with a point of no weight, or a grid whose axes differ in length."""

    def __init__(self, *, signed, grid):
        self.signed, self.grid = signed, grid

    def targets(self, n_columns, n_targets):
        if self.grid:
            axes = tuple(np.linspace(0, 1 + k, 3 + k) for k in range(n_columns))
            shape = tuple(map(len, axes))
            return Grid(axes, np.full(shape, 1 / np.prod(shape)))
        return Cloud(np.random.default_rng(1).random((30, n_columns)), np.append(np.full(29, 1 / 29), 0.0))


SETTINGS = {
    "as it comes": {},
    "paper": {"overshoot": 0.0, "holdback": 0.0, "n_targets": "rows"},
    "authors": {"grid": "authors", "holdback": 0.0, "n_targets": "rows", "overshoot": 0.0},
    "exponential": {"reference": "exponential(1.5)"},
    "two masses": {"reference": "beta(0.001, 0.001)", "n_targets": 1000},
    "ball": {"reference": "ball"},
    "ball, quantile": {"reference": "ball", "scaling": "quantile"},
    "global": {"scaling": "global"},
    "global ball": {"scaling": "global", "reference": "ball"},
    "identity": {"scaling": "identity", "epsilon": 20.0},
    "quantile": {"scaling": "quantile"},
    "small epsilon": {"epsilon": 0.05, "n_targets": 125},
    "many targets": {"n_targets": 8000},
    "a cloud of a user": {"reference": OfAUser(signed=False, grid=False)},
    "a signed cloud of a user": {"reference": OfAUser(signed=True, grid=False)},
    "a grid of a user": {"reference": OfAUser(signed=False, grid=True)},
    "nearly all held back": {"holdback": 0.9999},
    "did not converge": {"max_iter": 2, "on_failure": "warn"},
}


def assert_loads(thing, new=NEW):
    again = load(thing.to_bytes())
    assert again.to_bytes() == thing.to_bytes()
    for how in ({}, {"missing": "marginal"}) if len(thing.kept.draws) and len(thing.kept.held) else ({},):
        npt.assert_array_equal(again.uncertainty(new, **how), thing.uncertainty(new, **how))


@pytest.fixture(autouse=True)
def _quiet():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        yield


@pytest.mark.parametrize("name", SETTINGS)
def test_models_of_all_settings_load(name):
    assert_loads(fit_ranker(ROWS, Settings(**SETTINGS[name])))


ROWS_OF_ALL_KINDS = {
    "one column": ROWS[:, :1],
    "twelve columns": RNG.gamma(1.0, size=(60, 12)),
    "ten columns": RNG.gamma(1.0, size=(60, 10)),
    "two rows": ROWS[:2],
    "three rows": ROWS[:3],
    "whole numbers with ties": RNG.integers(0, 3, size=(80, 3)).astype(float),
    "a column that never moves": np.column_stack([ROWS, np.ones(90)]),
    "a column that hardly moves": ROWS * [1.0, 1.0, 1e-14] + 5.0,
    "negative": -ROWS,
    "tiny": ROWS * 1e-300,
    "huge": ROWS * 1e300,
    "of very different sizes": ROWS * [1e-150, 1.0, 1e150],
    "a far row": np.vstack([ROWS, [1e12, 1e-12, 0.0]]),
}


@pytest.mark.parametrize("name", ROWS_OF_ALL_KINDS)
@pytest.mark.parametrize("scaling", ["featurewise", "global", "quantile"])
@pytest.mark.parametrize("holdback", [0.0, 0.5])
def test_models_of_all_rows_load(name, scaling, holdback):
    rows = ROWS_OF_ALL_KINDS[name]
    ranker = fit_ranker(rows, Settings(scaling=scaling, holdback=holdback, n_targets=64, epsilon=1.0))
    assert_loads(ranker, rows[:20])


@pytest.mark.parametrize("size", [1, 2, 7, 44])
@pytest.mark.parametrize("rows", [ROWS, ROWS.round(), -ROWS], ids=["scores", "ties", "negative"])
def test_models_of_rows_in_groups_load(rows, size):
    ranker = fit_ranker(rows, groups=np.arange(90) // size)
    assert_loads(ranker)
    npt.assert_array_equal(load(ranker.to_bytes()).p_values(NEW), ranker.p_values(NEW))


@pytest.mark.parametrize("n_rows", [3, 4, 5, 90])
def test_models_of_streams_load_however_few_rows(n_rows):
    chunk = ScoreTable.of(ROWS[:n_rows])
    assert_loads(fit_stream(lambda: iter([chunk]), Settings(epsilon=2.0)))


def test_models_of_sketches_and_of_chunks_load():
    assert_loads(PartialFit(settings=Settings(epsilon=2.0, holdback=0.0), n_rows=10**6).update(ROWS).fit())
    constant = np.column_stack([ROWS, np.ones(90)])
    assert_loads(
        PartialFit(settings=Settings(epsilon=5.0, holdback=0.0), n_rows=10**6).update(constant).fit(), constant
    )
    model = VecUQ(epsilon=2.0)
    for part in np.split(np.random.default_rng(2).uniform(0.0, 1.0, size=(6_000, 2)), 3):
        model.partial_fit(np.clip(part, 0.01, 0.99) if hasattr(model, "ranker_") else np.vstack([part, [0, 0], [1, 1]]))
        assert_loads(model.ranker_, part)


def test_monitors_load_at_every_step_with_any_calibration_rows():
    ranker = fit_ranker(ROWS)
    odd = ROWS.copy()
    odd[::7, 0], odd[3, 1] = np.nan, np.inf
    steps = [NEW, NEW[:0], np.full((2, 3), np.nan), np.full((1, 3), np.inf), NEW + 9.0, np.full((1, 3), -np.inf)]
    for watched in (Monitor(ranker), Monitor(ranker, odd, direction="up"), Monitor(ranker, random_state=10**30)):
        for rows in steps:
            assert load(watched.to_bytes()).to_bytes() == watched.to_bytes()
            watched.observe(rows)
        assert load(watched.to_bytes()).evidence == watched.evidence


def test_monitors_of_p_values_load():
    ranker = fit_ranker(ROWS)
    watched = Monitor(ranker)
    watched.update(ranker.p_values(NEW))
    watched.update([[np.nan, 1.0, np.nan, 1.0], [1.0, 1.0, np.nan, 1.0]])
    assert load(watched.to_bytes()).to_bytes() == watched.to_bytes()


def test_a_pipeline_of_some_of_its_columns_loads():
    logits = np.random.default_rng(3).normal(size=(2, 80, 4))
    made = VecUQPipeline(measures=["entropy", "msp", "margin"], estimator=VecUQ(columns=["msp", "entropy"])).fit(logits)
    npt.assert_array_equal(load(made.to_bytes()).uncertainty(logits), made.uncertainty(logits))
