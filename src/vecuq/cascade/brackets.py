"""Whether scores with unknown columns at their ends bracket the scores of full rows: the promise of a cascade."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations

import numpy as np

from vecuq._check import Array
from vecuq.cascade.bounds import FAR, Bounds
from vecuq.cascade.order import Step
from vecuq.cascade.walk import Flags
from vecuq.errors import CalibrationError
from vecuq.ranker import Ranker, falls
from vecuq.transport import GridMap, maps_in

# Rows of each kind: held back, random around the box, far out.
_ROWS = 576
# Where trial values lie beyond the box, in widths of it.
_REACH = np.array([-FAR, -300.0, -100.0, -30.0, -10.0, -3.0, -1.0, 1.0, 10.0, FAR])
_FEW_STEPS = 4
# Rounding of a score; decisions keep a thousand times this distance.
_ROUNDING = 1e-9


def need_monotone(ranker: Ranker) -> None:
    """Refuse a ranker whose score is known not to grow with every column."""
    share = ranker.diagnostics.monotone_violations
    if share is None:
        raise CalibrationError(
            "A cascade needs a score that grows with every column, and this ranker's order is centre-outward "
            "(a reference for signed scores). Fit it with reference='beta'."
        )
    if share > 0:
        raise _refusal(f"in this ranker {share:.1%} of raised values lower the score", ranker)
    if not all(isinstance(one, GridMap) for one in maps_in(ranker.rank_map)):
        raise _refusal("with reference points that are no full grid it does not, far from the rows", ranker)


def need_brackets(ranker: Ranker, order: Sequence[Step], bounds: Bounds) -> None:
    """Try the brackets at every stage on held-back rows, rows around the box, and far ones; refuse if one fails."""
    rng = np.random.default_rng(0)
    ends = bounds.fixed_ends()
    rows = _trial_rows(ranker, rng)
    # A known value beyond given bounds is refused; one beyond assumed bounds is not.
    given = rows if bounds.assumed else np.clip(rows, *ends)
    for known in stages(ranker, order):
        ways = np.stack([np.where(known, given, level) for level in _levels(ranker, rows, ends, rng)], axis=1)
        scores = ranker.rank_complete(ways.reshape(-1, rows.shape[1]))[1].reshape(ways.shape[:2])
        fall = float(falls(scores).max())
        if fall > _ROUNDING:
            named = [name for name, is_known in zip(ranker.columns, known, strict=True) if is_known]
            raise _refusal(f"with {named or 'nothing'} known, raising the others lowers it by up to {fall:.1g}", ranker)


def _refusal(why: str, ranker: Ranker) -> CalibrationError:
    epsilon = max(0.5, 2.0 * ranker.settings.epsilon)
    return CalibrationError(
        f"A cascade needs a score that grows with every column; {why}. Fit with reference='beta', grid='midpoint' and "
        f"epsilon={epsilon:g} or more, leave out columns that nearly repeat others, or flag rows with all columns."
    )


def stages(ranker: Ranker, order: Sequence[Step]) -> Iterator[Flags]:
    """Yield which columns may be known while others are not; of few steps every set, so that no order is favoured."""
    sets = [order[:count] for count in range(len(order))]
    if len(order) <= _FEW_STEPS:
        sets = [chosen for size in range(len(order)) for chosen in combinations(order, size)]
    for chosen in sets:
        yield np.array([any(name in step for step in chosen) for name in ranker.columns], dtype=bool)


def _trial_rows(ranker: Ranker, rng: np.random.Generator) -> Array:
    """Return held-back rows, rows at random around the box, and such rows with some columns far out."""
    low, width = _box(ranker)
    around = low + rng.uniform(-0.25, 1.25, size=(2 * _ROWS, len(width))) * width
    thrown = rng.random(around.shape) < 1.0 / len(width)
    thrown[::2] = False
    around = np.where(thrown, low + rng.choice(_REACH, size=around.shape) * width, around)
    held = ranker.kept.held
    picked = held[rng.permutation(len(held))[:_ROWS]]
    return np.asarray(np.clip(np.concatenate([picked, around]), -FAR, FAR))


def _levels(ranker: Ranker, rows: Array, ends: tuple[Array, Array], rng: np.random.Generator) -> list[Array]:
    """Return values of all columns, from their least through those of the rows to their greatest."""
    low, width = _box(ranker)
    reach = 2.0 ** rng.uniform(-1.0, 1.0, size=rows.shape) * width
    below = [np.minimum(low - reach * distance, rows) for distance in (100.0, 10.0, 3.0, 1.0)]
    levels = [np.full(rows.shape, -FAR), *below, rows, rows + 0.1 * reach, np.full(rows.shape, FAR)]
    return [np.clip(level, *ends) for level in levels]


def _box(ranker: Ranker) -> tuple[Array, Array]:
    """Return the least values and the widths of all columns; a constant one keeps its value."""
    low, width = ranker.kept.centre.copy(), np.zeros(len(ranker.columns))
    active = list(ranker.active)
    least, greatest = ranker.scaler.unweighted(np.stack([ranker.low, ranker.high]))
    low[active] = ranker.scaler.lower + ranker.scaler.span * least
    width[active] = ranker.scaler.span * (greatest - least)
    return np.nan_to_num(low), width
