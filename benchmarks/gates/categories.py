"""Categories: a certificate for each (``by=``), and categories that the labels never saw, with and without a guard."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from benchmarks.gates.draws import (
    DELTA,
    Outcome,
    cells_of,
    certified,
    counts_of,
    draw_counts,
    oracle,
    outcome,
    shares_for,
    walks,
)
from benchmarks.gates.population import N_MAP, VECUQ, Order, Population, fit_model, orders_of
from vecuq.conformal import error_rate_p_values
from vecuq.gate.units import units_of

GUARD = 0.01
# How many times the categories are divided into those with labels and those without.
SPLITS = 10


@dataclass(frozen=True)
class ByCategory:
    """What many gates with ``by=`` came to, on one set."""

    name: str
    n_labels: int
    units: float  # per draw
    certified: float  # units per draw
    broken: float  # share of all units, of all draws: at most delta is promised
    broken_of_certified: float
    limit_of_certified: float  # delta plus three standard errors, of as many certified units
    worst: float  # the largest share of draws that break it, over categories and the pool
    any_broken: float  # share of draws with a broken unit, where the certificates hold together
    coverage: float
    coverage_together: float
    oracle: float  # the best threshold for every category


def study_by(population: Population, n_labels: int, allowed: float, draws: int, *, seed: int = 0) -> ByCategory:
    """Draw labels many times, pool categories as the gate does, and certify each unit."""
    if population.groups is None:
        raise ValueError("the set has no categories")
    rng, order = np.random.default_rng([seed, n_labels]), population.orders[VECUQ]
    names, numbers = np.unique(population.groups, return_inverse=True)
    inside = [numbers == k for k in range(len(names))]
    cells = np.stack([cells_of(Order(order.ladder, order.scores[rows]), population.wrong[rows]) for rows in inside])
    drawn = []
    for draw in range(draws):
        seen = rng.multinomial(n_labels, cells.ravel() / cells.sum()).reshape(cells.shape)
        of = units_of(np.repeat(names, seen.sum(axis=(1, 2))).tolist(), allowed=allowed, delta=DELTA)
        drawn += _units(draw, seen, cells, of.places(names.tolist()))
    best = sum(rows.sum() * oracle(order.scores[rows], population.wrong[rows], allowed) for rows in inside)
    return _summary(population.name, n_labels, _decided(drawn, order, allowed), draws, float(best / len(numbers)))


def _units(draw: int, seen: np.ndarray, cells: np.ndarray, places: np.ndarray) -> list[tuple]:
    """Return the units of one draw: its number, how many there are, a key, the labels and all rows of each."""
    n_units = int(places.max()) + 1
    chosen = [np.flatnonzero(places == unit) for unit in range(n_units)]
    # A category of its own is known by its number; the pool comes after the last.
    keys = [int(rows[0]) if len(rows) == 1 else len(places) for rows in chosen]
    return [
        (draw, n_units, key, seen[rows].sum(axis=0), cells[rows].sum(axis=0))
        for key, rows in zip(keys, chosen, strict=True)
    ]


def _decided(drawn: list[tuple], order: Order, allowed: float) -> dict[str, np.ndarray]:
    """Certify all units of all draws, each by itself (``apart``) and those of a draw together."""
    draw, n_units, key = (np.array([unit[k] for unit in drawn]) for k in range(3))
    seen, rows = (np.stack([unit[k] for unit in drawn]).cumsum(axis=2) for k in (3, 4))
    labels, accepted, true = seen[:, :, -1].sum(axis=1), seen.sum(axis=1)[:, :-1], rows.sum(axis=1)
    p_values = error_rate_p_values(seen[:, 1, :-1], accepted, allowed)
    found = {"draw": draw, "key": key}
    for kind, deltas in (("apart", np.full(len(drawn), DELTA)), ("together", DELTA / n_units)):
        pairs = zip(labels.tolist(), deltas.tolist(), strict=True)
        last = walks(p_values, np.stack([shares_for(order.ladder, n, allowed, delta) for n, delta in pairs]))
        at, some = np.arange(len(drawn)), last >= 0
        found[kind] = np.where(some, true[at, last], 0)
        found[f"{kind}_broken"] = some & (rows[at, 1, last] > allowed * true[at, last] + 1e-9)
    found["rows"] = true[:, -1]
    return found


def _summary(name: str, n_labels: int, found: dict[str, np.ndarray], draws: int, best: float) -> ByCategory:
    n_rows = found["rows"][found["draw"] == 0].sum()
    certified_units, broken = int((found["apart"] > 0).sum()), found["apart_broken"]
    often, failed = np.bincount(found["key"]), np.bincount(found["key"], weights=broken)
    enough = often >= draws // 2
    return ByCategory(
        name=name,
        n_labels=n_labels,
        units=len(broken) / draws,
        certified=certified_units / draws,
        broken=float(broken.mean()),
        broken_of_certified=float(broken.sum() / max(certified_units, 1)),
        limit_of_certified=float(DELTA + 3 * np.sqrt(DELTA * (1 - DELTA) / max(certified_units, 1))),
        worst=float((failed[enough] / often[enough]).max(initial=0.0)),
        any_broken=len(np.unique(found["draw"][found["together_broken"]])) / draws,
        coverage=float(found["apart"].sum() / draws / n_rows),
        coverage_together=float(found["together"].sum() / draws / n_rows),
        oracle=best,
    )


def study_unseen(
    x: np.ndarray, wrong: np.ndarray, group: np.ndarray, *, labels: tuple[int, ...], draws: int
) -> dict[tuple[str, int], Outcome]:
    """Let map and labels come from one half of the categories, and the rows to be decided from the other half.

    Returns what was covered and broken: ``seen`` on the labels' own categories, ``unseen`` on the others, and
    ``guarded`` on the others if rows with a small p-value are not accepted.
    """
    found: dict[tuple[str, int], list[Outcome]] = {}
    values, failed, names = x.astype(float), wrong.astype(bool), np.unique(group)
    for split in range(SPLITS):
        rng = np.random.default_rng(split)
        inside = np.isin(group, rng.permutation(names)[: len(names) // 2])
        rows = rng.permutation(np.flatnonzero(inside))
        size = min(N_MAP, len(rows) // 3)
        model = fit_model(values[rows[:size]])
        known, other = rows[size:], np.flatnonzero(~inside)
        for kind, guard in (("unseen", None), ("guarded", GUARD)):
            mine, new = (
                orders_of(model, (), values[rows[:size]], values[part], guard=guard)[VECUQ] for part in (known, other)
            )
            for n_labels in labels:
                # The same draws for both, as far as the guard leaves the rows between thresholds alone.
                again = np.random.default_rng([split, n_labels])
                counts = draw_counts(mine, failed[known], n_labels, max(draws // SPLITS, 1), again)
                last = certified(counts, mine.ladder, 0.1)
                cells = cells_of(new, failed[other])
                there = counts_of(np.zeros((1, *cells.shape)), cells, 0)
                found.setdefault((kind, n_labels), []).append(outcome(there, last, 0.1))
                if guard is None:
                    found.setdefault(("seen", n_labels), []).append(outcome(counts, last, 0.1))
    return {
        key: Outcome(np.concatenate([one.coverage for one in many]), np.concatenate([one.broken for one in many]))
        for key, many in found.items()
    }
