"""Whether a gate has kept its promise, by labels of rows that it decided."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vecuq._check import Array
from vecuq.conformal import error_rate_lower, error_rate_upper, group_codes, group_means, mean_loss_upper
from vecuq.errors import TableError
from vecuq.gate.gate import Gate

# Fewer rows may have the scores of others by chance.
_FEWEST = 20


@dataclass(frozen=True)
class Audited:
    """What later labels say of a promise."""

    verdict: str  # "kept", "broken" or "open"
    n_labels: int
    n_accepted: int
    n_errors: float
    error_rate: float | None
    lower: float
    upper: float
    allowed: float
    confidence: float
    promise: str = "confidence"  # of the gate; one audit cannot settle "average"
    graded: bool = False  # whether errors are losses of a graded quality
    broken_in: tuple[str, ...] = ()  # of a gate by category: where the promise is broken, and where it is open
    open_in: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values."""
        return dict(vars(self))


def audited(
    gate: Gate, accepted: NDArray[np.bool_], losses: Array, groups: list[Any] | None = None, *, by: Any = None
) -> Audited:
    """Check a promise on labelled rows that are a random sample of what was decided.

    The promise is kept if an upper bound on the error rate of accepted rows is at most what it allows, broken if a
    lower bound is above, and open otherwise. Either verdict is wrong with probability at most 1 - confidence. A promise
    on average, over batches and labels, stays open: the labels of one gate may give more errors and still keep it. A
    promise about each category is kept if every category keeps it, and broken if one breaks it.

    Parameters
    ----------
    gate
        A fitted gate whose target is an accuracy or a mean quality.
    accepted
        Which of the labelled rows it accepts.
    losses
        1 where an answer was wrong and 0 where it was right; for a quality, 1 minus it.
    groups
        Which rows come together; None if they are independent.
    by
        The category of every row, for a gate with a certificate per category.
    """
    lost = losses[accepted]
    if np.isnan(lost).any():
        raise TableError(f"{int(np.isnan(lost).sum()):,} accepted rows have no label; label them, or leave them out.")
    delta, n = 1.0 - gate.confidence, len(lost)
    lower, upper = _bounds(gate, accepted, losses, groups, (delta, delta))
    verdicts = {"": _verdict(gate, n, lower, upper)} if by is None else _by_unit(gate, accepted, losses, groups, by)
    broken, unsettled = (tuple(k for k, one in verdicts.items() if one == word and k) for word in ("broken", "open"))
    found = (_worst(verdicts.values()), len(losses), n, float(lost.sum()), float(lost.mean()) if n else None)
    graded = gate.target.kind == "quality"
    return Audited(
        *found, lower, upper, gate.allowed, gate.confidence, gate.promise, graded, broken_in=broken, open_in=unsettled
    )


def are_own_rows(gate: Gate, scores: Array) -> bool:
    """Return whether rows are those that fitted a gate, all of them or a part: such rows cannot check its promise.

    All scores of one side come again on the other. Where half of the gate's scores occur once, as many as half of all
    other rows have scores of their own, so that twenty rows do not repeat old scores by chance.
    """
    labelled = gate.learned_.labelled
    own, times = np.unique(labelled.scores[np.isfinite(labelled.scores)], return_counts=True)
    new = scores[np.isfinite(scores)]
    if (times == 1).sum() < max(_FEWEST, len(labelled.scores) / 2) or len(new) < _FEWEST:
        return False
    return bool(np.isin(own, new).all() or np.isin(new, own).all())


def _verdict(gate: Gate, n: int, lower: float, upper: float) -> str:
    if not n or gate.promise == "average":
        return "open"
    return "kept" if upper <= gate.allowed else "broken" if lower > gate.allowed else "open"


def _by_unit(
    gate: Gate, accepted: NDArray[np.bool_], losses: Array, groups: list[Any] | None, by: Any
) -> dict[str, str]:
    """Return the verdict on every certified category, or pool of categories.

    All must keep the promise for it to be kept, so each upper bound has the whole error probability. One is enough to
    break it, so the lower bounds share theirs.
    """
    places, delta, units = gate.units_of(by, len(losses)), 1.0 - gate.confidence, gate.certificate().units
    certified = [(k, unit.unit) for k, unit in enumerate(units) if unit.certified]
    found = {}
    for k, name in certified:
        inside = accepted & (places == k)
        lower, upper = _bounds(gate, inside, losses, groups, (delta / len(certified), delta))
        found[name] = _verdict(gate, int(inside.sum()), lower, upper)
    return found


def _worst(verdicts: Iterable[str]) -> str:
    """Return what several verdicts come to: one is enough to break a promise, all are needed to keep it."""
    given = set(verdicts)
    return "broken" if "broken" in given else "kept" if given == {"kept"} else "open"


def _bounds(
    gate: Gate,
    accepted: NDArray[np.bool_],
    losses: Array,
    groups: list[Any] | None,
    deltas: tuple[float, float],
) -> tuple[float, float]:
    """Return a lower and an upper bound on the error rate of accepted rows, each with its probability to be wrong."""
    lost = losses[accepted]
    if np.isin(lost, (0.0, 1.0)).all() and groups is None:
        errors, n = lost.sum(), len(lost)
        return float(error_rate_lower(errors, n, deltas[0])), float(error_rate_upper(errors, n, deltas[1]))
    return _bounds_of_means(losses, groups, accepted, deltas, gate.coverage_)


def _bounds_of_means(
    losses: Array, groups: list[Any] | None, accepted: NDArray[np.bool_], deltas: tuple[float, float], coverage: float
) -> tuple[float, float]:
    """Return bounds on the mean loss of accepted rows: over a random row of a random group, or over rows."""
    if not accepted.any():
        return 0.0, 1.0
    if groups is None:
        shares, lost, coverage = None, losses[accepted], 1.0
        kept = 1.0 - lost
    else:
        codes = group_codes(groups, len(accepted))
        shares, lost = group_means(accepted.astype(float), codes), group_means(np.where(accepted, losses, 0.0), codes)
        kept = shares - lost
    low, high = (
        mean_loss_upper(one, delta, shares=shares, coverage=coverage)
        for one, delta in zip((kept, lost), deltas, strict=True)
    )
    return 1.0 - low, high
