"""From counts to what a gate learns: the same steps as for rows in memory, each on counts."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from vecuq.conformal import Ladder
from vecuq.errors import SettingError
from vecuq.gate.choosing import coverage_of
from vecuq.gate.deciding import Decider
from vecuq.gate.fitting import rates_of
from vecuq.gate.labels import doubts_about_counts
from vecuq.gate.plan import coverage_table
from vecuq.gate.rule import Labelled
from vecuq.gate.seen import usable_counts
from vecuq.gate.settings import Learned
from vecuq.gate.units import ALL, EVERYTHING, units_of_counts

if TYPE_CHECKING:
    from vecuq.gate.partial import Counted, PartialGate


def learned_from(partial: PartialGate, *, simultaneous: bool) -> Learned:
    """Return what the counts of labelled rows teach; see :meth:`vecuq.gate.PartialGate.fit`."""
    settings = partial.settings
    if simultaneous and not partial.by_category:
        raise SettingError("simultaneous=True is about several categories; name those with by=, or leave it out.")
    leave_out = usable_counts(partial.model, partial.seen, own_thresholds=not partial.given)
    kept = {name: found[0] + (0 if leave_out else found[1]) for name, found in partial.counts.items()}
    kept = {name: found for name, found in kept.items() if found.any()}
    delta, units = settings.delta, EVERYTHING
    if partial.by_category:
        sizes = {name: int(found[0].sum()) for name, found in kept.items()}
        units = units_of_counts(sizes, allowed=settings.target.allowed, delta=delta)
        delta = delta / len(units.names) if simultaneous else delta
    by_unit = np.zeros((len(units.names), *next(iter(kept.values())).shape), dtype=np.int64)
    for name, found in kept.items():
        by_unit[units.of_category[name]] += found
    labelled, places = _lines(by_unit[:, 0], partial.ladders[partial.orders[0]])
    doubts_about_counts(by_unit[:, 0].sum(axis=0), len(labelled.ladder.thresholds))
    parts = [labelled.only(places == k, name) for k, name in enumerate(units.names)]
    return Learned(
        order=settings.order,
        weights=None,
        units=units,
        labelled=labelled,
        places=places,
        kept=None,
        decider=Decider.of(parts, settings.target, delta, promise=settings.promise),
        rates=rates_of(labelled, settings),
        simultaneous=simultaneous,
        table=tuple(coverage_table(labelled, settings.delta)),
        orders=_coverages(partial, by_unit.sum(axis=0)),
        date=datetime.now(UTC).isoformat(timespec="seconds"),
    )


def _lines(counts: Counted, ladder: Ladder) -> tuple[Labelled, NDArray[np.intp]]:
    """Return one line per unit, cell and label that has rows, and the unit of each; counts are (units, cells, 2).

    A cell is represented by the threshold that ends it, the one beyond all by the next number, and rows without a score
    by NaN: whatever is compared with a threshold compares alike.
    """
    steps = ladder.thresholds
    beyond = np.nextafter(steps[-1:], np.inf)
    scores = np.concatenate([steps, beyond, [np.nan]])
    places, cells, wrong = np.nonzero(counts[:, : len(scores)])
    times = counts[places, cells, wrong]
    found = Labelled(ALL, scores[cells], wrong.astype(float), None, ladder, times)
    return found, places.astype(np.intp)


def _coverages(partial: PartialGate, counts: Counted) -> dict[str, float]:
    """Return what each order would have covered with the same labels, without categories; counts are (orders, ...)."""
    settings = partial.settings
    if settings.target.kind != "accuracy":
        return {}
    return {
        order: coverage_of(_lines(counts[k][None], ladder)[0], settings.target.allowed, settings.delta)
        for k, (order, ladder) in enumerate(partial.ladders.items())
    }
