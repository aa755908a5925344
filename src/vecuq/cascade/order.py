"""What the columns cost, and the order in which they are computed."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import combinations

from vecuq._check import in_range, one_of, wanted_columns
from vecuq.errors import SettingError
from vecuq.ranker import Ranker

# Columns that come from one computation.
Step = tuple[str, ...]

ORDERS = ("cheap", "best")


def costs_of(costs: Mapping[str | Step, float], ranker: Ranker) -> dict[Step, float]:
    """Return the cost of every step; each column of the ranker must have one."""
    steps = {_step(key): in_range(f"the cost of {key!r}", cost, 0.0) for key, cost in costs.items()}
    named = wanted_columns(
        [name for step in steps for name in step], ranker.columns, purpose="which have a cost", where="The ranker"
    )
    unpriced = [name for name in ranker.columns if name not in named]
    if unpriced:
        raise SettingError(f"Every column of the ranker needs a cost; {unpriced} have none. Give 0 for what is free.")
    return steps


def useful_steps(costs: Mapping[Step, float], ranker: Ranker) -> list[Step]:
    """Return the steps that can matter, the cheapest first: those of constant columns alone never do."""
    active = {ranker.columns[k] for k in ranker.active}
    return sorted((step for step in costs if active & set(step)), key=lambda step: costs[step])


def given_order(
    order: str | Sequence[str | Step], costs: Mapping[Step, float], useful: list[Step]
) -> list[Step] | None:
    """Return the steps in the given order; None if the best one is to be found."""
    if isinstance(order, str):
        return useful if one_of("order", order, ORDERS) == "cheap" else None
    given = [_step(key) for key in order]
    if sorted(given) != sorted(costs):
        raise SettingError(f"order must name each key of costs once: {list(costs)}; got {list(order)}.")
    return [step for step in given if step in useful]


def cheapest_path(
    steps: list[Step], costs: Mapping[Step, float], share_open: Callable[[frozenset[Step]], float]
) -> list[Step]:
    """Return the order of least mean cost, given the share of rows that each set of steps leaves open.

    What is decided depends on which columns are known, not on their order, and stays decided. The cost of an order
    is therefore a sum along a path through the sets of steps, and the cheapest path is found set by set.

    Examples
    --------
    >>> steps = [("x0",), ("x1",)]
    >>> cheapest_path(steps, dict.fromkeys(steps, 1.0), lambda done: 0.2 if ("x1",) in done else 1.0)
    [('x1',), ('x0',)]
    """
    best: dict[frozenset[Step], tuple[float, list[Step]]] = {frozenset(): (0.0, [])}
    for done in _subsets(steps):
        spent, path = best[done]
        still_open = share_open(done)
        for step in [step for step in steps if step not in done]:
            reached, price = done | {step}, spent + still_open * costs[step]
            if reached not in best or price < best[reached][0]:
                best[reached] = price, [*path, step]
    return best[frozenset(steps)][1]


def _subsets(steps: list[Step]) -> Iterator[frozenset[Step]]:
    """Yield all sets of steps but the full one, smaller ones first."""
    for size in range(len(steps)):
        yield from map(frozenset, combinations(steps, size))


def _step(key: str | Step) -> Step:
    return (key,) if isinstance(key, str) else tuple(key)
