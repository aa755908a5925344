"""Cascade: compute cheap columns first, and stop as soon as the decision cannot change whatever the rest would be.

The score grows with every column. With the columns that are not known yet at the least and at the greatest values that
they can have, it therefore brackets the score of the full row. Once both ends lie on one side of the threshold, the
decision is made, and it is the one that the full row would get.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vecuq._check import Array, finite_rows, in_range
from vecuq._draw import html_card
from vecuq.cascade.bounds import Bounds, Given
from vecuq.cascade.brackets import need_brackets, need_monotone
from vecuq.cascade.order import Step, cheapest_path, costs_of, given_order, useful_steps
from vecuq.cascade.walk import Decision, Savings, Walk
from vecuq.errors import ColumnError, SettingError
from vecuq.ranker import Ranker, is_proven_monotone

Fetch = Callable[[str, NDArray[np.intp]], Array]

# Two ways to the same score may differ by rounding, and where brackets are tried, not proven, a small fall may escape;
# an early decision keeps more of a distance than that.
_ROOM = 1e-6
# Enough rows to compare orders of the columns.
_MOST_ROWS = 2_000


class Cascade:
    """Decide whether to flag a row at false-alarm rate ``alpha``, as all its columns would, from as few as will do.

    Parameters
    ----------
    ranker
        A fitted ranker whose score grows with every column. That is proven from its map (``proven`` is then True), or
        else tried on thousands of rows, near and far; a ranker that fails is refused.
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
        ``"calibration"`` assumes the range of the calibration rows: much is saved, but a row whose unseen
        column leaves that range may be cleared wrongly.
    order
        ``"cheap"``: the cheapest first. ``"best"``: the order that costs least on ``rows``, exactly. Or the keys of
        ``costs`` in the order that you want.
    rows
        Rows like those to come, for ``order="best"``.

    Notes
    -----
    A missing value is noticed when it is requested, and flags the row then. :meth:`vecuq.Ranker.flag` flags
    every row that lacks a value; a cascade clears one whose missing value could not have changed the decision.

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
        bounds: Given | str | None = None,
        order: str | Sequence[str | Step] = "cheap",
        rows: Any = None,
    ) -> None:
        need_monotone(ranker)
        self.ranker = ranker
        self.alpha = in_range("alpha", alpha, 0.0, 1.0, ends="()")
        self.threshold = ranker.threshold(self.alpha)
        self.costs = costs_of(costs, ranker)
        self._bounds = Bounds.of(bounds, ranker)
        self.order = self._order_of(order, rows)
        # Whether the score is proven to grow with every column; otherwise it is tried.
        self.proven = is_proven_monotone(ranker)
        if not self.proven:
            need_brackets(ranker, self.order, self._bounds)

    @property
    def bounds(self) -> dict[str, Any]:
        """The bounds by column, in the direction in which the columns come."""
        return dict(self._bounds.given)

    @property
    def assumed(self) -> bool:
        """Whether the bounds are assumed, so that a value beyond them is no error."""
        return self._bounds.assumed

    @property
    def full_cost(self) -> float:
        """What all columns of one row cost, those left out that are constant and never computed."""
        return math.fsum(self.costs[step] for step in self.order)

    def __repr__(self) -> str:
        steps = " -> ".join(" + ".join(step) for step in self.order)
        return f"Cascade({steps}; alpha={self.alpha:g}, all columns cost {self.full_cost:g})"

    def _repr_html_(self) -> str:
        costs = {" + ".join(step): f"{self.costs[step]:g}" for step in self.order}
        proof = "proven" if self.proven else "tried, not proven"
        facts = {"alpha": f"{self.alpha:g}", "threshold": f"{self.threshold:.4g}", "monotone": proof}
        return html_card(repr(self), facts, folded={"Cost of every step, in order": costs})

    def decide(self, get_component: Callable[[str], Any]) -> Decision:
        """Decide one row, requesting its columns one after the other until the decision cannot change.

        A value that is requested and missing (None, NaN, infinite) flags the row at once: nothing shows that it is
        in-distribution.

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
        """Decide recorded rows as :meth:`decide` would one by one, and return what it saves."""
        values = np.asarray(self.ranker.values_of(table), dtype=float)
        as_they_come = values * self._bounds.signs
        walk = self._walk(lambda name, rows: as_they_come[rows, self.ranker.columns.index(name)], len(values))
        # From all columns; rows that lack a value are flagged.
        full = self.ranker.flag(self.ranker.as_table(values), self.alpha, warn=False)
        different = walk.flagged != full
        incomplete = ~finite_rows(values)
        spent = self.full_cost * len(values)
        return Savings(
            walk.flagged,
            walk.cost,
            walk.n_computed,
            self.order,
            share_saved=1.0 - float(walk.cost.sum()) / spent if spent else 0.0,
            n_different=int(different.sum()),
            n_cleared_incomplete=int((different & incomplete).sum()),
        )

    def _walk(self, fetch: Fetch, n_rows: int) -> Walk:
        """Take the rows through the steps; each leaves when it is decided."""
        walk = Walk.of(n_rows, len(self.ranker.columns))
        for step in ((), *self.order):
            rows = np.flatnonzero(walk.open)
            if not len(rows):
                break
            if step:
                self._take(step, fetch, walk, rows)
            self._judge(walk, rows, last=step == self.order[-1])
        return walk

    def _take(self, step: Step, fetch: Fetch, walk: Walk, rows: NDArray[np.intp]) -> None:
        """Fetch the columns of a step; a value beyond its bounds is an error."""
        ends = self._bounds.ends(walk.values[rows], walk.known)
        places = [self.ranker.columns.index(name) for name in step]
        for name, k in zip(step, places, strict=True):
            found = fetch(name, rows)
            found = np.where(np.isfinite(found), found, np.nan) * self._bounds.signs[k]
            self._bounds.refuse_outside(k, found, *(end[:, k] for end in ends))
            walk.values[rows, k] = found
        walk.note(rows, places, self.costs[step])

    def _judge(self, walk: Walk, rows: NDArray[np.intp], *, last: bool) -> None:
        """Close the rows that are decided, or that miss a value."""
        rows = walk.close_incomplete(rows)
        ends = self._bounds.ends(walk.values[rows], walk.known)
        lower, upper = (self.ranker.rank_complete(np.where(walk.known, walk.values[rows], end))[1] for end in ends)
        # With every column known both ends are the score itself, and the decision is the ranker's own.
        room = 0.0 if last else _ROOM * (1.0 + abs(self.threshold))
        flag = lower > self.threshold + room
        clear = upper <= self.threshold if last else upper < self.threshold - room
        walk.lower[rows], walk.upper[rows] = lower, upper
        walk.flagged[rows[flag]], walk.open[rows[flag | clear]] = True, False

    def _order_of(self, order: str | Sequence[str | Step], rows: Any) -> tuple[Step, ...]:
        """Return the steps in their order; columns that never matter are never computed."""
        useful = useful_steps(self.costs, self.ranker)
        steps = given_order(order, self.costs, useful)
        if steps is not None:
            return tuple(steps)
        if rows is None:
            raise SettingError("order='best' needs rows like those to come, to see what each order costs: give rows.")
        values = np.asarray(self.ranker.values_of(rows), dtype=float)
        complete = values[finite_rows(values)]
        sample = complete[:: 1 + len(complete) // _MOST_ROWS]
        return tuple(cheapest_path(useful, self.costs, lambda done: self._share_open(sample, done)))

    def _share_open(self, sample: Array, done: frozenset[Step]) -> float:
        """Return the share of rows that these steps leave undecided."""
        known = np.array([any(name in step for step in done) for name in self.ranker.columns])
        walk = Walk.with_known(sample, known)
        self._judge(walk, np.arange(len(sample)), last=False)
        return float(walk.open.mean()) if len(sample) else 1.0


def _number(name: str, value: object) -> float:
    try:
        return math.nan if value is None else float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        raise ColumnError(f"The value of {name!r} must be a number; got {value!r}.") from None
