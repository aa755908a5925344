"""Cascade: compute cheap columns first, and stop as soon as the decision cannot change whatever the rest would be.

The score grows with every column. With the columns that are not known yet at the least and at the greatest values that
they can have, it therefore brackets the score of the full row. Once both ends lie on one side of the threshold, the
decision is made, and it is the one that the full row would get.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vecuq._check import Array, in_range, one_of, wanted_columns
from vecuq.errors import CalibrationError, ColumnError, SettingError
from vecuq.ranker import Ranker

__all__ = ["Cascade", "Decision", "Savings"]

Step = tuple[str, ...]
Flags = NDArray[np.bool_]
Pair = tuple[Any, Any]
Bounds = Mapping[str, Pair | Callable[[Mapping[str, Array]], Pair]]

ORDERS = ("cheap", "best")
# As low and as high as a score goes, where nothing is known of a column.
_FAR = 1e300
# Two ways to the same score may differ by rounding; a decision needs more of a distance than that.
_ROUNDING = 1e-7
# Enough rows to tell one order of the columns from another.
_MOST_ROWS = 2_000


@dataclass(frozen=True)
class Decision:
    """What a cascade says of one row, from which columns, at what cost."""

    flagged: bool
    computed: tuple[str, ...]  # in the order in which they were asked for
    cost: float
    lower: float  # the score of the full row lies between these two; NaN if a value is missing
    upper: float


@dataclass(frozen=True, eq=False)
class Savings:
    """What a cascade would have saved on recorded rows."""

    flagged: Flags  # (rows,)
    cost: Array  # (rows,)
    n_computed: NDArray[np.int64]  # (rows,), columns
    order: tuple[Step, ...]
    share_saved: float  # of the cost of every column of every row
    n_different: int  # complete rows decided otherwise than from all columns: 0 where the bounds hold


@dataclass(eq=False)
class _Walk:
    """Rows on their way through the steps: what is known of them, and how they stand."""

    values: Array  # (rows, columns), NaN where unknown or missing
    known: Flags  # (columns,)
    open: Flags  # (rows,)
    flagged: Flags
    cost: Array
    n_computed: NDArray[np.int64]
    lower: Array
    upper: Array

    @staticmethod
    def of(n_rows: int, n_columns: int) -> _Walk:
        none = np.full(n_rows, np.nan)
        yes, no = np.ones(n_rows, dtype=bool), np.zeros(n_rows, dtype=bool)
        counts = np.zeros(n_rows, dtype=np.int64)
        values, known = np.full((n_rows, n_columns), np.nan), np.zeros(n_columns, dtype=bool)
        return _Walk(values, known, yes, no, np.zeros(n_rows), counts, none, none.copy())


class Cascade:
    """Decide whether to flag a row at false-alarm rate ``alpha``, as all its columns would, from as few as will do.

    Parameters
    ----------
    ranker
        A fitted ranker whose score grows with every column.
    costs
        What each column costs, in any unit: ``{"msp": 1, "knn": 5}``. Columns that come from one computation share
        a key: ``{"msp": 1, ("entropy", "mutual_information"): 20}``.
    alpha
        The false-alarm rate of the decision; the held-back rows must be able to deliver it.
    bounds
        What is known of a column before it is computed, in the direction in which it comes: its least and greatest
        value, ``{"entropy": (0, math.log(10))}`` (None for an open end), or a function from the columns that are known
        already to these two, ``{"mutual_information": lambda known: (0, known.get("entropy", math.log(10)))}``. A row
        can be *cleared* early only while every unknown column has a greatest value; to be flagged it needs none.
        ``"calibration"`` takes the range of the calibration rows for granted: much is saved, but a row whose unseen
        column leaves that range may be cleared wrongly.
    order
        ``"cheap"``: the cheapest first. ``"best"``: the order that costs least on ``rows``, exactly. Or the keys of
        ``costs`` in the order that you want.
    rows
        Rows like those to come, for ``order="best"``.

    Examples
    --------
    >>> import numpy as np
    >>> from vecuq import fit_ranker
    >>> rows = np.random.default_rng(0).beta(1, 4, size=(400, 2))
    >>> cascade = Cascade(fit_ranker(rows), {"x0": 1, "x1": 9}, 0.05, bounds={"x1": (0, 1)})
    >>> decision = cascade.decide({"x0": 3.0, "x1": 0.2}.get)
    >>> decision.flagged, decision.computed, decision.cost
    (True, ('x0',), 1.0)
    """

    def __init__(
        self,
        ranker: Ranker,
        costs: Mapping[str | Step, float],
        alpha: float,
        *,
        bounds: Bounds | str | None = None,
        order: str | Sequence[str | Step] = "cheap",
        rows: Any = None,
    ) -> None:
        _need_monotone(ranker)
        self.ranker = ranker
        self.alpha = in_range("alpha", alpha, 0.0, 1.0, ends="()")
        self.threshold = ranker.threshold(self.alpha)
        self.costs = _costs_of(costs, ranker)
        # What is taken for granted is no promise that a value could break.
        self.assumed = isinstance(bounds, str)
        self.bounds = _bounds_of(bounds, ranker)
        self.order = self._order_of(order, rows)

    @property
    def full_cost(self) -> float:
        """What all columns of one row cost."""
        return math.fsum(self.costs.values())

    def decide(self, get_component: Callable[[str], Any]) -> Decision:
        """Decide one row, asking for its columns one after the other until nothing more can change.

        A value that is missing (None, NaN, infinite) flags the row at once: nothing says that it is in-distribution.

        Parameters
        ----------
        get_component
            Returns the value of a column by its name; called only for columns that are needed.
        """
        walk = self._walk(lambda name, rows: np.array([_number(name, get_component(name))]), 1)
        names = [name for step in self.order for name in step]
        return Decision(
            bool(walk.flagged[0]),
            tuple(names[: walk.n_computed[0]]),
            float(walk.cost[0]),
            float(walk.lower[0]),
            float(walk.upper[0]),
        )

    def decide_table(self, table: Any) -> Savings:
        """Decide recorded rows as :meth:`decide` would one by one, and tell what it saves."""
        values = self._as_they_come(np.asarray(self.ranker.values_of(table), dtype=float))
        walk = self._walk(lambda name, rows: values[rows, self.ranker.columns.index(name)], len(values))
        complete = np.isfinite(values).all(axis=1)
        full = self.ranker.rank_finite(self._as_they_come(values[complete]))[1] > self.threshold
        spent = self.full_cost * len(values)
        saved = 1.0 - float(walk.cost.sum()) / spent if spent else 0.0
        different = int((walk.flagged[complete] != full).sum())
        return Savings(walk.flagged, walk.cost, walk.n_computed, self.order, saved, different)

    def _walk(self, fetch: Callable[[str, NDArray[np.intp]], Array], n_rows: int) -> _Walk:
        """Take the rows through the steps; each leaves when it is decided."""
        walk = _Walk.of(n_rows, len(self.ranker.columns))
        for step in ((), *self.order):
            rows = np.flatnonzero(walk.open)
            if not len(rows):
                break
            if step:
                self._take(step, fetch, walk, rows)
            self._judge(walk, rows, last=step == self.order[-1])
        return walk

    def _take(
        self, step: Step, fetch: Callable[[str, NDArray[np.intp]], Array], walk: _Walk, rows: NDArray[np.intp]
    ) -> None:
        """Fetch the columns of a step; a value beyond its bounds is an error."""
        ends = self._ends(walk, rows)
        places = [self.ranker.columns.index(name) for name in step]
        for name, k in zip(step, places, strict=True):
            found = fetch(name, rows)
            found = np.where(np.isfinite(found), found, np.nan) * self._signs[k]
            self._refuse_outside(name, found, *(end[:, k] for end in ends))
            walk.values[rows, k] = found
        walk.known[places] = True
        walk.cost[rows] += self.costs[step]
        walk.n_computed[rows] += len(step)

    def _judge(self, walk: _Walk, rows: NDArray[np.intp], *, last: bool) -> None:
        """Close the rows that are decided, or that miss a value."""
        missing = np.isnan(walk.values[np.ix_(rows, walk.known)]).any(axis=1)
        walk.flagged[rows[missing]], walk.open[rows[missing]] = True, False
        walk.lower[rows[missing]] = walk.upper[rows[missing]] = np.nan
        rows = rows[~missing]
        low, high = self._ends(walk, rows)
        lower, upper = (self.ranker.rank_finite(np.where(walk.known, walk.values[rows], end))[1] for end in (low, high))
        # With every column known both ends are the score itself, and the decision is the ranker's own.
        room = 0.0 if last else _ROUNDING * (1.0 + abs(self.threshold))
        flag = lower > self.threshold + room
        clear = upper <= self.threshold if last else upper < self.threshold - room
        walk.lower[rows], walk.upper[rows] = lower, upper
        walk.flagged[rows[flag]], walk.open[rows[flag | clear]] = True, False

    @property
    def _signs(self) -> Array:
        return np.array([-1.0 if name in self.ranker.flipped else 1.0 for name in self.ranker.columns])

    def _as_they_come(self, values: Array) -> Array:
        """Turn values from the ranker's direction into the user's, or back."""
        return values * self._signs

    def _ends(self, walk: _Walk, rows: NDArray[np.intp]) -> tuple[Array, Array]:
        """Return the least and greatest values of all columns in the ranker's direction, each (rows, columns)."""
        given = self._as_they_come(walk.values[rows])
        known = {name: given[:, k] for k, name in enumerate(self.ranker.columns) if walk.known[k]}
        low, high = np.full(given.shape, -_FAR), np.full(given.shape, _FAR)
        for name, bound in self.bounds.items():
            k = self.ranker.columns.index(name)
            least, greatest = bound(known) if callable(bound) else bound
            ends = (-_FAR if least is None else least), (_FAR if greatest is None else greatest)
            low[:, k], high[:, k] = ends if name not in self.ranker.flipped else (-ends[1], -ends[0])
        return low, high

    def _refuse_outside(self, name: str, found: Array, low: Array, high: Array) -> None:
        # A relation between columns may be off by rounding.
        room = 1e-9 * (1.0 + np.abs(found))
        outside = (found < low - room) | (found > high + room)
        if outside.any() and not self.assumed:
            value = float(found[outside.argmax()]) * (-1.0 if name in self.ranker.flipped else 1.0)
            raise ColumnError(
                f"{name!r} is {value:g} in a row, beyond the bounds that were given for it; decisions made with them "
                f"would be wrong. Widen the bounds."
            )

    def _order_of(self, order: str | Sequence[str | Step], rows: Any) -> tuple[Step, ...]:
        """Return the steps in their order; columns that never matter are never computed."""
        active = {self.ranker.columns[k] for k in self.ranker.active}
        useful = [step for step in self.costs if active & set(step)]
        if not isinstance(order, str):
            asked = [_step(key) for key in order]
            if sorted(asked) != sorted(self.costs):
                raise SettingError(f"order must name each key of costs once: {list(self.costs)}; got {list(order)}.")
            return tuple(step for step in asked if step in useful)
        cheap = sorted(useful, key=lambda step: self.costs[step])
        if one_of("order", order, ORDERS) == "cheap":
            return tuple(cheap)
        if rows is None:
            raise SettingError("order='best' needs rows like those to come, to see what each order costs: give rows.")
        return self._best_order(cheap, np.asarray(self.ranker.values_of(rows), dtype=float))

    def _best_order(self, steps: list[Step], values: Array) -> tuple[Step, ...]:
        """Return the order of least mean cost.

        What is decided depends on which columns are known, not on their order, and stays decided. The cost of an order
        is therefore a sum along a path through the sets of steps, and the cheapest path is found set by set.
        """
        complete = values[np.isfinite(values).all(axis=1)]
        sample = complete[:: 1 + len(complete) // _MOST_ROWS]
        best: dict[frozenset[Step], tuple[float, tuple[Step, ...]]] = {frozenset(): (0.0, ())}
        for done in _subsets(steps):
            spent, path = best[done]
            still_open = self._share_open(sample, done)
            for step in [step for step in steps if step not in done]:
                reached, price = done | {step}, spent + still_open * self.costs[step]
                if reached not in best or price < best[reached][0]:
                    best[reached] = price, (*path, step)
        return best[frozenset(steps)][1]

    def _share_open(self, sample: Array, done: frozenset[Step]) -> float:
        walk = _Walk.of(len(sample), sample.shape[1])
        walk.known[:] = [any(name in step for step in done) for name in self.ranker.columns]
        walk.values[:, walk.known] = sample[:, walk.known]
        self._judge(walk, np.arange(len(sample)), last=False)
        return float(walk.open.mean()) if len(sample) else 1.0


def _subsets(steps: list[Step]) -> Iterator[frozenset[Step]]:
    """Yield all sets of steps but the full one, smaller ones first."""
    for size in range(len(steps)):
        yield from map(frozenset, combinations(steps, size))


def _step(key: str | Step) -> Step:
    return (key,) if isinstance(key, str) else tuple(key)


def _number(name: str, value: object) -> float:
    try:
        return math.nan if value is None else float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        raise ColumnError(f"The value of {name!r} must be a number; got {value!r}.") from None


def _need_monotone(ranker: Ranker) -> None:
    share = ranker.diagnostics.monotone_violations
    if share is None:
        raise CalibrationError(
            "A cascade needs a score that grows with every column, and this ranker's order is centre-outward "
            "(a reference for signed scores). Fit it with reference='beta'."
        )
    if share > 0:
        raise CalibrationError(
            f"A cascade needs a score that grows with every column; in this ranker {share:.1%} of raised values lower "
            f"the score. Fit it with grid='midpoint' and reference='beta'."
        )


def _costs_of(costs: Mapping[str | Step, float], ranker: Ranker) -> dict[Step, float]:
    steps = {_step(key): in_range(f"the cost of {key!r}", cost, 0.0) for key, cost in costs.items()}
    named = wanted_columns(
        [name for step in steps for name in step], ranker.columns, purpose="which have a cost", where="The ranker"
    )
    unpriced = [name for name in ranker.columns if name not in named]
    if unpriced:
        raise SettingError(f"Every column of the ranker needs a cost; {unpriced} have none. Give 0 for what is free.")
    return steps


def _bounds_of(bounds: Bounds | str | None, ranker: Ranker) -> dict[str, Any]:
    """Return the bounds by column; ``"calibration"`` is the box of the rows that fitted the map."""
    if isinstance(bounds, str):
        one_of("bounds", bounds, ("calibration",))
        ends = ranker.scaler.lower + ranker.scaler.span * np.stack([ranker.low, ranker.high])
        names = [ranker.columns[k] for k in ranker.active]
        pairs = dict(zip(names, map(tuple, ends.T.tolist()), strict=True))
        return {name: (-b, -a) if name in ranker.flipped else (a, b) for name, (a, b) in pairs.items()}
    given = dict(bounds or {})
    wanted_columns(given, ranker.columns, purpose="for which bounds are given", where="The ranker")
    for name, bound in given.items():
        if not callable(bound):
            _check_pair(name, bound)
    return given


def _check_pair(name: str, bound: object) -> None:
    if not isinstance(bound, Sequence) or len(bound) != 2:
        raise SettingError(f"The bounds of {name!r} must be (least, greatest) or a function; got {bound!r}.")
    least, greatest = bound
    if least is not None and greatest is not None and not least <= greatest:
        raise SettingError(f"The bounds of {name!r} must be (least, greatest); got {bound!r}.")
