"""Several tasks at once: Pareto share, ranks, regret, wins and losses.

Every function takes a table of metric values: for each method one number per task entry (a task on one data set), as a
mapping, a frame with one column per method, or an array (entries, methods). Higher is better throughout: negate a
metric of which less is better. A method without any value is judged nowhere, and its numbers are NaN; an entry in
which any of the others has no value is left out for all.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from vecuq._check import Array, wanted_columns
from vecuq.errors import TableError
from vecuq.table import ScoreTable


class Record(NamedTuple):
    """How often a method was better, equal and worse than another."""

    wins: int
    ties: int
    losses: int


def pareto_share(table: Any) -> dict[str, float]:
    """Share of the pairs of task entries in which each method lies on the Pareto front of the two metrics.

    All pairs of different entries count, also those of one task on two data sets. A method lies on the front if no
    other is at least as good in both metrics and better in one; equal methods share the front. Table "Pareto
    dominance" of the VecUQ-OT paper.

    Parameters
    ----------
    table
        For each method one metric value per task entry, higher = better; see the module.

    Returns
    -------
    dict of str to float
        In [0, 1], higher is better; NaN for all if fewer than two entries are complete.

    Examples
    --------
    >>> pareto_share({"ours": [0.9, 0.8], "a": [0.95, 0.4], "b": [0.85, 0.8]})
    {'ours': 1.0, 'a': 1.0, 'b': 0.0}
    """
    names, values = _complete(table)
    first, second = np.triu_indices(len(values), k=1)
    on_front = [_undominated(values[[i, j]]) for i, j in zip(first, second, strict=True)]
    share = np.mean(on_front, axis=0) if on_front else np.full(len(names), np.nan)
    share[np.isnan(values).any(axis=0)] = np.nan
    return dict(zip(names, share.tolist(), strict=True))


def ranks(table: Any) -> dict[str, Array]:
    """Rank of each method in every complete task entry: 1 for the best, equal methods share the mean of their ranks.

    Examples
    --------
    >>> ranks({"ours": [0.9, 0.8], "a": [0.9, 0.4]})
    {'ours': array([1.5, 1. ]), 'a': array([1.5, 2. ])}
    """
    names, values = _complete(table)
    better = (values[:, None, :] > values[:, :, None]).sum(axis=2)
    equal = (values[:, None, :] == values[:, :, None]).sum(axis=2)
    rank = np.where(np.isnan(values), np.nan, better + (equal + 1) / 2)
    return dict(zip(names, rank.T, strict=True))


def average_rank(table: Any) -> dict[str, float]:
    """Mean rank of each method over the task entries; equal methods share the mean of their ranks (Demsar 2006).

    Returns
    -------
    dict of str to float
        In [1, methods], lower is better; NaN if no entry is complete.

    Examples
    --------
    >>> average_rank({"ours": [0.9, 0.8], "a": [0.9, 0.4]})
    {'ours': 1.25, 'a': 1.75}
    """
    return {name: float(rank.mean()) if len(rank) else float("nan") for name, rank in ranks(table).items()}


def regret(table: Any, components: Sequence[str] | None = None) -> dict[str, Array]:
    """How far each method stays behind the best component of every task entry.

    ``regret = max over components of their metric - metric of the method``, per entry.

    Parameters
    ----------
    table
        For each method one metric value per task entry, higher = better; see the module.
    components
        The methods among which the best is looked for; by default all.

    Returns
    -------
    dict of str to array
        One number per complete task entry, lower is better; 0 for the best component, negative for a method that
        beats all of them. Its mean says what is lost on average, its maximum in the worst case.

    Examples
    --------
    >>> behind = regret({"ours": [0.9, 0.75], "a": [1.0, 0.5]}, components=["a"])
    >>> behind["ours"].round(2).tolist()
    [0.1, -0.25]
    """
    names, values = _complete(table)
    chosen = wanted_columns(components or names, names, purpose="named as components")
    best = np.fmax.reduce(values[:, [names.index(name) for name in chosen]], axis=1)
    return dict(zip(names, (best[:, None] - values).T, strict=True))


def wins_and_losses(table: Any) -> dict[str, dict[str, Record]]:
    """For every two methods, in how many task entries the first is better, equal and worse.

    Values count as they are, however small the difference: :meth:`MethodComparison.record` looks at intervals instead.

    Examples
    --------
    >>> wins_and_losses({"ours": [0.9, 0.8], "a": [0.9, 0.4]})["ours"]["a"]
    Record(wins=1, ties=1, losses=0)
    """
    names, values = _complete(table)
    columns = dict(zip(names, values.T, strict=True))
    return {one: {two: _record(columns[one], columns[two]) for two in names if two != one} for one in names}


def _record(one: Array, two: Array) -> Record:
    return Record(int((one > two).sum()), int((one == two).sum()), int((one < two).sum()))


def _undominated(pair: Array) -> Array:
    """Return which columns of a (2, methods) table no other column dominates."""
    as_good = (pair[:, :, None] >= pair[:, None, :]).all(axis=0)
    better = (pair[:, :, None] > pair[:, None, :]).any(axis=0)
    return np.asarray(~(as_good & better).any(axis=0))


def _complete(table: Any) -> tuple[tuple[str, ...], Array]:
    """Return the method names, and the values (entries, methods) in the entries in which every method has one.

    A method without any value stays in as NaN: it would leave no entry to the others.
    """
    plain = _by_method(table) if isinstance(table, Mapping) else table
    scores = ScoreTable.of(plain, columns=list(plain) if isinstance(plain, dict) else None)
    absent = np.isnan(scores.values)
    complete = ~absent[:, ~absent.all(axis=0)].any(axis=1)
    return scores.columns, np.asarray(scores.values[complete], dtype=float)


def _by_method(table: Mapping[str, Any]) -> dict[str, Any]:
    """Return the values of each method as a list; named entries are put into the order of the first method."""
    named = {name: set(values) for name, values in table.items() if isinstance(values, Mapping)}
    if not named:
        return dict(table)
    if len(named) < len(table) or len({frozenset(keys) for keys in named.values()}) > 1:
        entries = {name: sorted(keys) for name, keys in named.items()}
        raise TableError(f"All methods must have the same entries; got {entries}.")
    order = list(next(iter(table.values())))
    return {name: [values[entry] for entry in order] for name, values in table.items()}
