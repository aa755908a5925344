"""Populations: score vectors with labels. Some rows fit a map and set thresholds, all others are to be decided."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from vecuq import VecUQ, baselines
from vecuq.conformal import Ladder
from vecuq.gate.scoring import Scoring

FAMILIES = ("mcq", "vlm", "reasoning", "rank")
# The column that users take by themselves; `rank` has no probability, and the likelihood stands for it.
MAX_PROBABILITY = {"mcq": "msp_direct", "vlm": "msp", "reasoning": "probas-min", "rank": "nll"}
VECUQ, SUM = "vecuq", "min-max sum"
N_MAP = 1000


@dataclass(frozen=True)
class Order:
    """One order of the population, with thresholds from rows outside it."""

    ladder: Ladder
    scores: np.ndarray  # (rows,), NaN for a row that the guard turns away


@dataclass(frozen=True)
class Population:
    """Rows that are to be decided, all of whose labels are known to the study, and a model that saw none of them."""

    name: str
    model: Any
    columns: tuple[str, ...]
    orders: dict[str, Order]
    wrong: np.ndarray  # (rows,), bool
    values: np.ndarray  # (rows, columns)
    held: np.ndarray  # (rows held back by the model, columns)
    groups: np.ndarray | None = None
    others: np.ndarray | None = None  # rows of another distribution, (rows, columns)


def read_family(data: Path, family: str) -> Iterator[tuple[str, dict[str, np.ndarray]]]:
    """Yield the sets of a family by name: x, wrong, columns, and perhaps group and foreign."""
    with np.load(data / f"{family}.npz", allow_pickle=False) as file:
        for name in sorted({key.rsplit("/", 1)[0] for key in file.files}):
            fields = ("x", "wrong", "columns", "group", "foreign")
            yield name, {field: file[f"{name}/{field}"] for field in fields if f"{name}/{field}" in file.files}


def populations(data: Path, family: str) -> list[Population]:
    """Return the populations of a family: 1,000 rows of each set, a quarter of a small one, fit the map."""
    return [population_of(name, **fields) for name, fields in read_family(data, family)]


def population_of(
    name: str,
    x: np.ndarray,
    wrong: np.ndarray,
    columns: np.ndarray,
    group: np.ndarray | None = None,
    foreign: np.ndarray | None = None,
    *,
    seed: int = 0,
) -> Population:
    """Split one set at random, fit a map on some rows, and score the others in every order."""
    mixed = np.random.default_rng(seed).permutation(len(x))
    size = min(N_MAP, len(x) // 4)
    values, failed = x.astype(float), wrong.astype(bool)
    model = fit_model(values[mixed[:size]])
    rows = mixed[size:]
    names = tuple(str(column) for column in columns)
    orders = orders_of(model, names, values[mixed[:size]], values[rows])
    groups = None if group is None else group[rows]
    others = None if foreign is None else foreign.astype(float)
    return Population(name, model, names, orders, failed[rows], values[rows], held_by(model), groups, others)


def fit_model(rows: np.ndarray) -> VecUQ:
    """Fit the default model."""
    return _without_warnings(VecUQ().fit, rows)


def _without_warnings(fit: Callable[[np.ndarray], Any], rows: np.ndarray) -> Any:
    """Fit; what a model thinks of single columns is no part of this study."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return fit(rows)


def held_by(model: VecUQ) -> np.ndarray:
    """Return the rows that the model held back, of which a gate makes its thresholds."""
    return np.asarray(model.ranker_.kept.held)


def orders_of(
    model: VecUQ, columns: tuple[str, ...], fitted: np.ndarray, rows: np.ndarray, *, guard: float | None = None
) -> dict[str, Order]:
    """Return the model's order, each column's and the min-max sum's, with thresholds as a gate makes them."""
    own = Scoring(model, guard=guard)
    orders = {VECUQ: Order(Ladder.of(own.unlabelled()), own.scores(rows))}
    held = held_by(model)
    added = _without_warnings(baselines.minmax_sum().fit, fitted)
    orders[SUM] = Order(Ladder.of(added.uncertainty(held)), added.uncertainty(rows))
    for k, name in enumerate(columns):
        orders[name] = Order(Ladder.of(held[:, k]), rows[:, k])
    return orders
