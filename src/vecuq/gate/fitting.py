"""How a gate learns: score, leave out what the model has seen, make thresholds without labels, decide per unit."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vecuq._check import Array
from vecuq.conformal import Ladder, wrong_rates
from vecuq.errors import CalibrationError, SettingError
from vecuq.gate.choosing import BEST, chosen_order, coverages
from vecuq.gate.deciding import Decider
from vecuq.gate.labels import doubts_about, losses_of
from vecuq.gate.plan import coverage_table
from vecuq.gate.rule import Labelled
from vecuq.gate.scoring import Scoring
from vecuq.gate.seen import unseen_rows
from vecuq.gate.settings import GateSettings, Learned
from vecuq.gate.units import ALL, EVERYTHING, categories, group_numbers, units_of


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
    _refuse_ignored(settings, groups=groups, by=by, simultaneous=simultaneous)
    graded = settings.target.kind == "quality"
    scores = Scoring(model, guard=settings.guard).scores(rows)
    losses = losses_of(correct, len(scores), graded=graded)
    numbers = group_numbers(groups, len(scores))
    named = None if by is None else categories(by, len(scores))
    seen = unseen_rows(model, rows, len(scores))
    kept, order = seen.usable, settings.order
    if order == BEST:
        order, others = chosen_order(model, rows, losses, kept, settings, groups=numbers)
        kept = kept & others
    scoring = Scoring(model, order, settings.guard)
    scores = scores if scoring.is_of_model else scoring.scores(rows)
    if not graded:
        doubts_about(scores, losses)
    known = np.empty(0) if seen.among_held_back else scoring.unlabelled()
    known = known if unlabelled is None else scoring.scores(unlabelled)
    ladder, kept = _thresholds(known, scores, kept, settings.seed)
    labelled = Labelled(ALL, scores, losses, numbers, ladder).only(kept, ALL)
    delta = settings.delta
    units, places = EVERYTHING, np.zeros(len(labelled.scores), dtype=np.intp)
    if named is not None:
        chosen = [named[k] for k in np.flatnonzero(kept)]
        units = units_of(chosen, allowed=settings.target.allowed, delta=delta)
        places = units.places(chosen)
        delta = delta / len(units.names) if simultaneous else delta
    parts = [labelled.only(places == k, name) for k, name in enumerate(units.names)]
    cells = ladder.places_of(labelled.scores)
    return Learned(
        order=order,
        units=units,
        labelled=labelled,
        places=places,
        kept=kept,
        decider=Decider.of(parts, settings.target, delta, promise=settings.promise),
        rates=wrong_rates(cells, labelled.losses, len(ladder.thresholds) + 1, settings.delta),
        simultaneous=simultaneous,
        table=tuple(coverage_table(labelled, settings.delta)),
        orders=coverages(model, settings, rows, labelled, kept),
        date=datetime.now(UTC).isoformat(timespec="seconds"),
    )


def _refuse_ignored(settings: GateSettings, *, groups: Any, by: Any, simultaneous: bool) -> None:
    """Refuse what would be ignored: groups in a promise that counts rows, and certificates together that are one."""
    if groups is not None and settings.promise == "average":
        raise SettingError(
            "promise='average' counts rows as independent of each other, so it takes no groups=. Leave groups= out if "
            "they are independent, or use promise='confidence'."
        )
    if simultaneous and by is None:
        raise SettingError("simultaneous=True is about several categories; name those with by=, or leave it out.")


def _thresholds(known: Array, scores: Array, kept: NDArray[np.bool_], seed: int) -> tuple[Ladder, NDArray[np.bool_]]:
    """Return thresholds made without labels, and the rows that certify: without other rows, some lend their scores."""
    if np.isfinite(known).sum() >= 2:
        return Ladder.of(known), kept
    lent = _some_of(kept, seed)
    return Ladder.of(scores[lent]), kept & ~lent


def _some_of(kept: NDArray[np.bool_], seed: int) -> NDArray[np.bool_]:
    """Return a tenth of the labelled rows, at least 20 and at most 200, which lend their scores, not their labels."""
    rows = np.flatnonzero(kept)
    if len(rows) < 40:
        raise CalibrationError(
            f"{len(rows):,} labelled rows are too few to set the thresholds as well. Give rows without labels, for "
            f"example unlabelled=new."
        )
    lent = np.zeros(len(kept), dtype=bool)
    lent[np.random.default_rng(seed).choice(rows, min(max(len(rows) // 10, 20), 200), replace=False)] = True
    return lent
