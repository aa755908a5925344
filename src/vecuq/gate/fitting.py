"""How a gate learns: score, leave out what the model has seen, make thresholds without labels, decide per unit."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vecuq._check import Array
from vecuq.conformal import Ladder, WrongRates, group_codes, wrong_rates
from vecuq.errors import CalibrationError, SettingError
from vecuq.gate.choosing import coverages
from vecuq.gate.deciding import Decider
from vecuq.gate.labels import doubts_about, losses_of
from vecuq.gate.plan import coverage_table
from vecuq.gate.rule import Labelled
from vecuq.gate.scoring import Scoring
from vecuq.gate.seen import unseen_rows
from vecuq.gate.settings import GateSettings, Learned
from vecuq.gate.units import ALL, EVERYTHING, categories, units_of


def learn(
    model: Any,
    settings: GateSettings,
    rows: Any,
    correct: Any,
    *,
    groups: Any = None,
    by: Any = None,
    simultaneous: bool = False,
    unlabelled: Any = None,
) -> Learned:
    """Return what labelled rows teach; see :meth:`vecuq.Gate.fit`."""
    refuse_together(settings, groups=groups, by=by, simultaneous=simultaneous)
    graded = settings.target.kind == "quality"
    scores = Scoring(model, guard=settings.guard).scores(rows)
    losses = losses_of(correct, len(scores), graded=graded)
    numbers = None if groups is None else group_codes(groups, len(scores))
    named = None if by is None else categories(by, len(scores))
    seen = unseen_rows(model, rows, len(scores))
    kept, scoring = seen.usable, Scoring(model, settings.order, settings.guard)
    scores = scores if scoring.is_of_model else scoring.scores(rows)
    if not graded:
        doubts_about(scores, losses)
    known = np.empty(0) if seen.among_held_back else scoring.unlabelled()
    known = known if unlabelled is None else scoring.scores(unlabelled)
    ladder, kept = _thresholds(known, scores, kept, numbers, settings.seed)
    labelled = Labelled(ALL, scores, losses, numbers, ladder).only(kept, ALL)
    delta = settings.delta
    units, places = EVERYTHING, np.zeros(len(labelled.scores), dtype=np.intp)
    if named is not None:
        chosen = [named[k] for k in np.flatnonzero(kept)]
        units = units_of(chosen, allowed=settings.target.allowed, delta=delta)
        places = units.places(chosen)
        delta = delta / len(units.names) if simultaneous else delta
    parts = [labelled.only(places == k, name) for k, name in enumerate(units.names)]
    decider = Decider.of(parts, settings.target, delta, promise=settings.promise)
    orders = coverages(model, settings, rows, labelled, kept)
    return Learned(
        order=scoring.order,
        weights=scoring.weights,
        units=units,
        labelled=labelled,
        places=places,
        kept=kept,
        decider=decider,
        rates=rates_of(labelled, settings),
        simultaneous=simultaneous,
        table=tuple(coverage_table(labelled, settings.delta)),
        orders=orders,
        date=datetime.now(UTC).isoformat(timespec="seconds"),
    )


def refuse_together(settings: GateSettings, *, groups: Any, by: Any, simultaneous: bool) -> None:
    """Raise for what cannot be had together."""
    if settings.promise == "average" and groups is not None:
        raise SettingError(
            "promise='average' counts rows as independent of each other, so it takes no groups=. Use "
            "promise='confidence', or label one row of each group."
        )
    if settings.target.kind == "rows" and by is not None:
        raise SettingError("A budget of rows is one for the whole batch; leave out by=, or give the budget as a share.")
    if simultaneous and by is None:
        raise SettingError("simultaneous=True is about several categories; name those with by=, or leave it out.")


def rates_of(labelled: Labelled, settings: GateSettings) -> WrongRates:
    """Return how often rows with a score are wrong, by that score; the interval counts one row of each group."""
    scored = ~np.isnan(labelled.scores)
    cells = labelled.ladder.places_of(labelled.scores[scored])
    alone = None
    if labelled.groups is not None:
        shuffled = np.random.default_rng(settings.seed).permutation(len(cells))
        alone = np.zeros(len(cells), dtype=bool)
        alone[shuffled[np.unique(labelled.groups[scored][shuffled], return_index=True)[1]]] = True
    n_cells = len(labelled.ladder.thresholds) + 1
    return wrong_rates(cells, labelled.losses[scored], n_cells, settings.delta, independent=alone)


def _thresholds(
    known: Array, scores: Array, kept: NDArray[np.bool_], groups: NDArray[np.intp] | None, seed: int
) -> tuple[Ladder, NDArray[np.bool_]]:
    """Return thresholds made without labels, and the rows that certify: without other rows, some lend their scores."""
    if np.isfinite(known).sum() >= 2:
        return Ladder.of(known), kept
    lent = _some_of(kept, np.arange(len(kept)) if groups is None else groups, seed)
    return Ladder.of(scores[lent]), kept & ~lent


def _some_of(kept: NDArray[np.bool_], units: NDArray[np.intp], seed: int) -> NDArray[np.bool_]:
    """Return about a tenth of the labelled rows, 20 to 200, which lend their scores, not their labels; groups whole."""
    n_rows, candidates = int(kept.sum()), np.unique(units[kept])
    wanted = min(max(n_rows // 10, 20), 200)
    n_lent = int(np.ceil(wanted * len(candidates) / max(n_rows, 1)))
    if n_rows < 40 or n_lent >= len(candidates):
        raise CalibrationError(
            f"{n_rows:,} labelled rows are too few to set the thresholds as well. Give rows without labels, for "
            f"example unlabelled=new."
        )
    return np.isin(units, np.random.default_rng(seed).choice(candidates, n_lent, replace=False)) & kept
