"""The audited rows of a gate, in the order of their decisions, and what their labels say so far.

Labels come late and in any order, perhaps because of what they say. So every statement takes the rows in the order of
their *decisions*, and what is not known yet as what speaks against the statement: a missing label is an error to the
upper bound, once it is overdue, and no error to the evidence that the promise is broken.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from vecuq.conformal import Doubt, doubted, running_error_lower, running_error_upper

PENDING, RIGHT, WRONG = -1, 0, 1
# So many audited rows are remembered, the latest; of earlier ones only what they came to.
MOST_AUDITS = 20_000


@dataclass(frozen=True)
class Closed:
    """What the audited rows came to that are no longer remembered one by one."""

    n_rows: int = 0
    wrong: int = 0
    lost: int = 0  # rows that never had a label
    doubt: Doubt = field(default_factory=Doubt.new)
    peak: float = 0.0  # the largest log evidence so far

    def with_rows(self, labels: NDArray[np.int8], allowed: float) -> Closed:
        """Return what it is with further rows."""
        if not len(labels):
            return self
        doubt, evidence = doubted(self.doubt, labels == WRONG, allowed)
        return Closed(
            self.n_rows + len(labels),
            self.wrong + int((labels == WRONG).sum()),
            self.lost + int((labels == PENDING).sum()),
            doubt,
            max(self.peak, float(evidence.max())),
        )


@dataclass(frozen=True)
class Standing:
    """What the labels say: how many rows count, how many of them are wrong, bounds, evidence."""

    n_counted: int  # rows up to the first whose label is awaited
    wrong: int
    missing: int  # rows among these that count as wrong, because their label is overdue
    bound: float
    lower: float
    log_evidence: float  # the largest so far, over all rows


@dataclass
class Ledger:
    """Audited rows by id, in the order of their decisions: awaited, right or wrong."""

    allowed: float
    overdue: int
    labels: dict[str, int] = field(default_factory=dict)
    closed: Closed = field(default_factory=Closed)

    def __len__(self) -> int:
        return self.closed.n_rows + len(self.labels)

    def add(self, ids: list[str]) -> list[str]:
        """Take new rows, and return those that are therefore forgotten, with or without a label."""
        self.labels.update(dict.fromkeys(ids, PENDING))
        gone = list(islice(self.labels, max(0, len(self.labels) - MOST_AUDITS)))
        self.closed = self.closed.with_rows(
            np.array([self.labels.pop(one) for one in gone], dtype=np.int8), self.allowed
        )
        return gone

    def awaited(self, *, overdue: bool) -> tuple[str, ...]:
        """Return the rows without a label: those that are overdue, or the others."""
        last = len(self.labels) - self.overdue
        return tuple(
            name
            for place, (name, label) in enumerate(self.labels.items())
            if label == PENDING and (place < last) == overdue
        )

    def standing(self, delta: float) -> Standing:
        """Return what the labels say so far, each statement wrong with probability at most ``delta``."""
        known = np.fromiter(self.labels.values(), dtype=np.int8, count=len(self.labels))
        counted = self._counted(known)
        done = replace(self.closed).with_rows(known, self.allowed)
        n_rows = self.closed.n_rows + counted
        wrong = self.closed.wrong + int((known[:counted] == WRONG).sum())
        missing = self.closed.lost + int((known[:counted] == PENDING).sum())
        return Standing(
            n_rows,
            wrong,
            missing,
            float(running_error_upper(wrong + missing, n_rows, delta)),
            float(running_error_lower(wrong, n_rows, delta)),
            done.peak,
        )

    def _counted(self, known: NDArray[np.int8]) -> int:
        """Return how many remembered rows come before the first whose label is awaited and not overdue."""
        first = max(0, len(known) - self.overdue)
        waits = np.flatnonzero(known[first:] == PENDING)
        return first + int(waits[0]) if len(waits) else len(known)
