"""Before labelling, and after: what must be deferred whatever the order, and how many labels a target may need."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from vecuq.conformal import fewest_labels
from vecuq.gate.rule import Labelled, acceptance

# A number of labels is enough if so many of the resampled sets certify something.
_ENOUGH = 0.8
_DRAWS = 40
_TIMES = (1.0, 1.25, 1.5, 2.0, 3.0, 4.0, 6.0, 8.0, 12.0, 16.0, 32.0)
TARGETS = (0.8, 0.9, 0.95, 0.99)


@dataclass(frozen=True)
class Plan:
    """What a target is likely to take."""

    allowed: float
    confidence: float
    base_error: float | None  # of all rows, as far as labels show
    least_deferred: float | None  # whatever the order
    fewest: int  # accepted labels without any error that would do
    likely: int | None  # labels with which a certificate is likely; None where it is not in sight

    def __str__(self) -> str:
        lines = [
            f"Accuracy {1 - self.allowed:g} with confidence {self.confidence:g} takes at least {self.fewest:,} "
            f"accepted labels without an error."
        ]
        if self.base_error is not None:
            lines.append(
                f"{100 * self.base_error:.3g} % of the labelled rows are wrong: whatever the order, at least "
                f"{100 * (self.least_deferred or 0.0):.3g} % of the rows must be deferred."
            )
            lines.append(
                f"About {self.likely:,} labels in all are likely to certify it."
                if self.likely is not None
                else "With this order a certificate is not in sight, even with 32 times as many labels."
            )
        return "\n".join(lines)

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values."""
        return dict(vars(self))


def least_deferred(base_error: float, allowed: float) -> float:
    """Return the share of rows that must be deferred whatever the order, (mu - a) / (1 - a): only wrong ones go.

    Examples
    --------
    >>> round(least_deferred(0.3, 0.1), 3)
    0.222
    """
    return max(0.0, (base_error - allowed) / (1.0 - allowed))


def plan_for(rows: Labelled | None, *, allowed: float, confidence: float, random_state: int = 0) -> Plan:
    """Return what a target is likely to take, from labelled rows if there are any."""
    delta = 1.0 - confidence
    fewest = fewest_labels(allowed, delta)
    if rows is None:
        return Plan(allowed, confidence, None, None, fewest, None)
    base = float(rows.losses.mean())
    likely = labels_needed(rows, allowed, delta, random_state)
    return Plan(allowed, confidence, base, least_deferred(base, allowed), fewest, likely)


def labels_needed(rows: Labelled, allowed: float, delta: float, random_state: int = 0) -> int | None:
    """Return how many labels are likely to certify something, by the procedure itself on resampled rows; None if none.

    Rows are drawn again from those that have labels, with errors as frequent as a monotone fit to the labels has them;
    with few labels it is a rough guess.
    """
    rng, rates = np.random.default_rng(random_state), _monotone(rows)
    for times in _TIMES:
        drawn = (_again(rates, times, rng) for _ in range(_DRAWS))
        if np.mean([acceptance(_labelled(one, rng), allowed, delta).certified for one in drawn]) >= _ENOUGH:
            return int(np.ceil(times * len(rows.scores)))
    return None


def most_tried(rows: Labelled) -> int:
    """Return the largest number of labels that :func:`labels_needed` tries."""
    return int(_TIMES[-1] * len(rows.scores))


def _monotone(rows: Labelled) -> Labelled:
    """Return the rows with their expected losses, which do not fall with the score, in place of their losses."""
    from scipy.optimize import isotonic_regression

    order = np.argsort(rows.scores, kind="stable")  # rows without a score come last
    fitted = np.empty(len(order))
    fitted[order] = isotonic_regression(rows.losses[order]).x
    return replace(rows, losses=fitted)


def _labelled(rows: Labelled, rng: np.random.Generator) -> Labelled:
    """Return rows that are right or wrong as often as expected."""
    return replace(rows, losses=(rng.random(len(rows.losses)) < rows.losses).astype(float))


def _again(rows: Labelled, times: float, rng: np.random.Generator) -> Labelled:
    """Return so many times as many rows, or groups of rows, drawn with replacement."""
    units = np.arange(len(rows.scores)) if rows.groups is None else rows.groups
    order, sizes = np.argsort(units, kind="stable"), np.bincount(units)
    drawn = rng.integers(len(sizes), size=int(np.ceil(times * len(sizes))))
    starts = np.cumsum(sizes) - sizes
    numbers = np.repeat(np.arange(len(drawn)), sizes[drawn])
    inside = np.arange(len(numbers)) - np.repeat(np.cumsum(sizes[drawn]) - sizes[drawn], sizes[drawn])
    chosen = order[starts[drawn][numbers] + inside]
    groups = None if rows.groups is None else numbers
    return replace(rows, scores=rows.scores[chosen], losses=rows.losses[chosen], groups=groups)


def coverage_table(rows: Labelled, delta: float, targets: tuple[float, ...] = TARGETS) -> list[dict[str, Any]]:
    """Return what is certified at several targets at once: each has an equal share of delta, so all hold together."""
    return [_line(rows, target, delta / len(targets)) for target in targets]


def _line(rows: Labelled, target: float, delta: float) -> dict[str, Any]:
    found = acceptance(rows, 1.0 - target, delta)
    last = found.walk.last
    accepted = int(found.n_accepted[last]) if found.certified else 0
    return {
        "accuracy": target,
        "coverage": accepted / max(rows.n_rows, 1),
        "accepted": accepted,
        "wrong": float(found.losses[last]) if found.certified else 0.0,
        "threshold": found.threshold if found.certified else None,
    }
