"""PartialGate: labelled rows counted, part by part; the counts give the gate that all rows in memory would."""

from __future__ import annotations

import os
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vecuq._check import Array
from vecuq._files import tensor_bytes, write_tensors
from vecuq.conformal import Ladder
from vecuq.errors import CalibrationError, SettingError, TableError
from vecuq.gate.gate import Gate
from vecuq.gate.labels import losses_of
from vecuq.gate.scoring import MODEL, Scoring, columns_in
from vecuq.gate.seen import SeenCounts, seen_in
from vecuq.gate.settings import GateSettings
from vecuq.gate.target import Target
from vecuq.gate.units import ALL, categories

# What is counted: (whether the row fitted the map, order, cell, whether it is wrong).
Counted = NDArray[np.int64]


class PartialGate:
    """Labelled rows of any number, as counts between the thresholds of a gate.

    **Promise.** That of the gate: :meth:`fit` chooses, to the last bit, the thresholds that :meth:`vecuq.Gate.fit`
    chooses from all rows in memory, in whatever order the parts were added. It costs no coverage.

    **Why counts suffice.** A gate tests at most a hundred thresholds, made before any label is seen: quantiles of the
    scores of rows without labels. Which rows lie between two of them does not matter, only how many, and how many are
    wrong. For the same reason thresholds cannot come from the rows that are counted: a model that keeps no scores needs
    ``unlabelled``.

    What needs the rows themselves is refused: ``groups=``, a graded ``quality=``, ``promise="average"``, a budget of
    rows per batch.

    Parameters
    ----------
    gate
        A gate with its model and target, not fitted: ``Gate(model, accuracy=0.95)``.
    unlabelled
        Rows without labels whose scores set the thresholds; by default those that the model keeps.

    Examples
    --------
    >>> import numpy as np
    >>> from vecuq import Gate, VecUQ
    >>> rng = np.random.default_rng(0)
    >>> model = VecUQ().fit(rng.gamma(1.0, size=(500, 2)))
    >>> rows = rng.gamma(1.0, size=(600, 2))
    >>> correct = rng.random(600) > rows.sum(axis=1) / 10
    >>> gate = Gate(model, accuracy=0.85)
    >>> parts = [PartialGate(gate).update(rows[k::3], correct[k::3]) for k in range(3)]
    >>> sum(parts).fit().threshold_ == gate.fit(rows, correct).threshold_
    True
    """

    def __init__(self, gate: Gate, *, unlabelled: Any = None) -> None:
        if not isinstance(gate, Gate):
            raise TableError(f"Give a gate with its target: PartialGate(Gate(model, accuracy=0.95)); got {gate!r}.")
        self.model, self.settings = gate.model, gate.settings
        refuse_rows_needed(self.settings)
        self.given = unlabelled is not None
        self.ladders = ladders_of(self.model, self.settings, unlabelled)
        self.by_category: bool | None = None  # None before any row
        self.counts: dict[str, Counted] = {}  # by category
        self.seen = SeenCounts()

    @property
    def n_rows(self) -> int:
        """How many rows were counted."""
        return self.seen.n_rows

    @property
    def n_unscored(self) -> int:
        """How many of them have no score in the order of the gate."""
        place = len(self.ladders[self.orders[0]].thresholds) + 1
        return sum(int(found[:, 0, place].sum()) for found in self.counts.values())

    @property
    def needs_rows(self) -> bool:
        """Whether :meth:`fit` would refuse: labelled rows are the held-back ones that made the thresholds."""
        return not self.given and self.seen.among_held_back

    @property
    def n_cells(self) -> int:
        """How many cells an order may have: one per threshold, one beyond, and one for rows without a score."""
        return max(len(ladder.thresholds) for ladder in self.ladders.values()) + 2

    def update(self, rows: Any, correct: Any, *, by: Any = None) -> PartialGate:
        """Count labelled rows, and return this summary; parameters are those of :meth:`vecuq.Gate.fit`.

        Examples
        --------
        >>> import numpy as np
        >>> from vecuq import Gate, fit_ranker
        >>> rng = np.random.default_rng(0)
        >>> ranker = fit_ranker(rng.gamma(1.0, size=(400, 2)))
        >>> PartialGate(Gate(ranker)).update(rng.gamma(1.0, size=(50, 2)), np.ones(50)).n_rows
        50
        """
        scores = {order: Scoring(self.model, order, self.settings.guard).scores(rows) for order in self.orders}
        n_rows = len(next(iter(scores.values())))
        if not n_rows:
            return self
        losses = losses_of(correct, n_rows)
        named = [ALL] * n_rows if by is None else categories(by, n_rows)
        if self.by_category is not None and self.by_category != (by is not None):
            raise SettingError("Every part needs by=, the category of every row, or none of them.")
        seen, fitted_map = seen_in(self.model, rows, n_rows)
        names, places = np.unique(np.asarray(named, dtype=object).astype(str), return_inverse=True)
        found = self._counted(scores, places, fitted_map, losses > 0.5, len(names))
        self._add(dict(zip(names.tolist(), found, strict=True)), seen, by is not None)
        return self

    @property
    def orders(self) -> tuple[str, ...]:
        """The orders that are counted; that of the gate comes first."""
        return tuple(self.ladders)

    def _counted(
        self,
        scores: dict[str, Array],
        places: NDArray[np.intp],
        fitted_map: NDArray[np.bool_],
        wrong: NDArray[np.bool_],
        n_names: int,
    ) -> Counted:
        """Return the counts of one batch by category."""
        shape = (n_names, 2, len(scores), self.n_cells, 2)
        found = np.zeros(shape, dtype=np.int64)
        for k, (order, one) in enumerate(scores.items()):
            ladder = self.ladders[order]
            cells = np.where(np.isnan(one), len(ladder.thresholds) + 1, ladder.places_of(one))
            index = (places, fitted_map.astype(int), k, cells, wrong.astype(int))
            flat = np.ravel_multi_index(index, shape)
            found += np.bincount(flat, minlength=found.size).reshape(shape)
        return found

    def _add(self, counts: dict[str, Counted], seen: SeenCounts, by_category: bool) -> None:
        for name, found in counts.items():
            self.counts[name] = self.counts[name] + found if name in self.counts else found
        self.seen, self.by_category = self.seen + seen, by_category

    def __add__(self, other: object) -> PartialGate:
        if not isinstance(other, PartialGate):
            return NotImplemented
        self._refuse_other(other)
        made = self._copy()
        if other.by_category is not None:
            made._add(other.counts, other.seen, other.by_category)
        return made

    def __radd__(self, other: object) -> PartialGate:
        """Let ``sum(parts)`` begin with 0."""
        return self._copy() if isinstance(other, int) and other == 0 else NotImplemented

    def _copy(self) -> PartialGate:
        made = PartialGate.__new__(PartialGate)
        made.__dict__.update({**self.__dict__, "counts": dict(self.counts)})
        return made

    def _refuse_other(self, other: PartialGate) -> None:
        """Raise unless both count between the same thresholds, for the same target."""
        same = all(
            np.array_equal(one.thresholds, two.thresholds) and np.array_equal(one.coverage, two.coverage)
            for one, two in zip(self.ladders.values(), other.ladders.values(), strict=False)
        )
        if self.settings != other.settings or self.orders != other.orders or not same:
            raise SettingError("Only parts of one gate add up: the same model, target and thresholds.")
        if None not in (self.by_category, other.by_category) and self.by_category != other.by_category:
            raise SettingError("Every part needs by=, the category of every row, or none of them.")

    def fit(self, *, simultaneous: bool = False) -> Gate:
        """Return the gate that :meth:`vecuq.Gate.fit` would make of all rows; it keeps counts in place of rows."""
        from vecuq.gate.counted import learned_from

        if not self.n_rows:
            raise CalibrationError("There are no labelled rows; a gate needs some hundreds of them.")
        return Gate.from_counts(self.model, self.settings, learned_from(self, simultaneous=simultaneous))

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write counts and model to one file, whole or not at all; :func:`vecuq.load` reads it."""
        from vecuq.gate.partial_file import parts_of

        write_tensors(path, *parts_of(self))

    def to_bytes(self) -> bytes:
        """Return what :meth:`save` would write; :func:`vecuq.load` reads it too."""
        from vecuq.gate.partial_file import parts_of

        return tensor_bytes(*parts_of(self))

    def describe(self) -> dict[str, Any]:
        """Return what was counted as plain values."""
        return {
            "target": self.settings.target.words,
            "confidence": self.settings.confidence,
            "rows counted": self.n_rows,
            "order": self.orders[0],
            "threshold steps": len(self.ladders[self.orders[0]].thresholds),
            "categories": [name for name in self.counts if name != ALL],
        }

    def __repr__(self) -> str:
        return f"PartialGate({self.settings.target.words}, {self.n_rows:,} rows)"


def refuse_rows_needed(settings: GateSettings) -> None:
    """Raise for what counts cannot give, with the reason."""
    needs = rows_needed(settings.target, settings.promise, settings.order)
    if needs:
        raise SettingError(f"{needs}, so counts do not suffice. Fit the rows themselves: Gate.fit(rows, correct).")


def rows_needed(target: Target, promise: str, order: str) -> str | None:
    """Return why a gate needs the rows themselves, in one line; None where counts suffice."""
    if target.kind == "quality":
        return "A graded quality is bounded by bets on every row"
    if target.kind == "rows":
        return "A budget of rows per batch is decided by the rows of the batch"
    if promise == "average":
        return "promise='average' compares every new row with all labelled ones"
    return None


def ladders_of(model: Any, settings: GateSettings, unlabelled: Any, *, required: bool = True) -> dict[str, Ladder]:
    """Return the thresholds of the gate's order, and of the others that the model has, where there are any."""
    scoring = Scoring(model, settings.order, settings.guard)
    known = scoring.unlabelled() if unlabelled is None else scoring.scores(unlabelled)
    enough = np.isfinite(known).sum() >= 2
    if required and not enough:
        raise CalibrationError(
            "Thresholds must be known before rows are counted, and this model keeps no scores of rows without labels. "
            "Give such rows: PartialGate(gate, unlabelled=rows)."
        )
    ladders = {settings.order: Ladder.of(known)} if enough else {}
    if settings.target.kind == "accuracy":
        for order in (MODEL, *columns_in(model)):
            others = Scoring(model, order, settings.guard).unlabelled()
            if order != settings.order and len(others) > 1:
                ladders[order] = Ladder.of(others)
    return ladders
