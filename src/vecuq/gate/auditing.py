"""Whether a gate has kept its promise, by labels of rows that it decided."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vecuq._check import Array
from vecuq.conformal import error_rate_lower, error_rate_upper, group_codes, group_means, mean_loss_upper
from vecuq.errors import TableError
from vecuq.gate.gate import Gate


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

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values."""
        return dict(vars(self))


def audited(gate: Gate, accepted: NDArray[np.bool_], losses: Array, groups: list[Any] | None = None) -> Audited:
    """Check a promise on labelled rows that are a random sample of what was decided.

    The promise is kept if an upper bound on the error rate of accepted rows is at most what it allows, broken if a
    lower bound is above, and open otherwise. Either verdict is wrong with probability at most 1 - confidence. A promise
    on average, over batches and labels, stays open: the labels of one gate may give more errors and still keep it.

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
    """
    lost = losses[accepted]
    if np.isnan(lost).any():
        raise TableError(f"{int(np.isnan(lost).sum()):,} accepted rows have no label; label them, or leave them out.")
    delta, n = 1.0 - gate.confidence, len(lost)
    lower, upper = (float(bound(lost.sum(), n, delta)) for bound in (error_rate_lower, error_rate_upper))
    if not np.isin(lost, (0.0, 1.0)).all() or groups is not None:
        lower, upper = _bounds_of_means(losses, groups, accepted, delta, gate.coverage_)
    settled = n and gate.promise != "average"
    verdict = "kept" if settled and upper <= gate.allowed else "broken" if settled and lower > gate.allowed else "open"
    rate = float(lost.mean()) if n else None
    found = (verdict, len(losses), n, float(lost.sum()), rate, lower, upper, gate.allowed, gate.confidence)
    return Audited(*found, promise=gate.promise, graded=gate.target.kind == "quality")


def _bounds_of_means(
    losses: Array, groups: list[Any] | None, accepted: NDArray[np.bool_], delta: float, coverage: float
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
    low, high = (mean_loss_upper(one, delta, shares=shares, coverage=coverage) for one in (kept, lost))
    return 1.0 - low, high
