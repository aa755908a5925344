"""Gate: which rows may be trusted, with a certificate. Labelled rows in, a decision that keeps a promise out."""

from __future__ import annotations

import os
from html import escape
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vecuq._check import Array, warn_user
from vecuq._draw import fragment
from vecuq._files import tensor_bytes, write_tensors
from vecuq.errors import CalibrationError, CalibrationWarning, SettingError, TableError
from vecuq.gate.certificate import Certificate, certificate_of
from vecuq.gate.choosing import coverage_line, coverage_lines
from vecuq.gate.doubts import shortfall, warn_unlike
from vecuq.gate.fitting import learn
from vecuq.gate.rule import Rule
from vecuq.gate.scoring import Scoring, usable_guard, usable_model, usable_order
from vecuq.gate.settings import GateSettings, Learned
from vecuq.gate.target import Target, target_of
from vecuq.gate.units import EVERYTHING, categories


class Gate:
    """Accept rows by themselves only where labelled rows prove that this keeps a target; defer the others.

    Parameters
    ----------
    model
        Anything fitted that gives an uncertainty: :class:`vecuq.VecUQ`, :class:`vecuq.Ranker`,
        :class:`vecuq.VecUQPipeline`, ``Conformal``, or an object with a method ``uncertainty(rows)``.
    accuracy, error
        The target: the accuracy of accepted rows, or their error rate. Accuracy 0.95 if no target is given.
    quality
        Or the mean quality of accepted rows, between 0 and 1; ``fit`` then takes qualities in place of labels.
    flag_precision, flag_recall
        Or the share of flagged rows that are wrong; the share of wrong rows that are flagged. Flagged is: not accepted.
    cost_wrong, cost_review
        Or the prices of a wrong answer and of a review, whose sum is to be lowest.
    budget
        Or what can be reviewed: a share of all rows, or a whole number of rows per batch.
    confidence
        With which probability, over the draw of the labelled rows, the promise holds.
    promise
        ``"confidence"``: about the rows that one threshold accepts; good for single rows. ``"average"``: the share of
        wrong rows among those accepted from one batch, on average; there is no single threshold.
    guard
        Rows whose p-value is smaller are not accepted, labelled rows alike. With the model's own order this matters
        only where the certified threshold lies beyond that p-value, since p-values fall as the uncertainty rises.
    order
        ``"model"``, or the name of one score column.
    random_state
        Seed of the draws of thresholds that labelled rows must lend; None is a fixed seed.

    Attributes
    ----------
    threshold_ : float or None
        Rows are accepted up to this uncertainty. None with ``promise="average"``, with rows per batch or categories.
    coverage_ : float
        The share of the labelled rows that is accepted; a row without a score is not.
    bound_ : float
        An upper bound on the error rate of accepted rows; ``1 - bound_`` is the certified accuracy.
    certified_ : bool
        Whether the labels prove the target; if not, no row is accepted.
    order_ : str
        The order that was used, and in ``orders_`` what the others would have covered.
    table_ : list of dict
        What is certified at accuracies 0.8, 0.9, 0.95 and 0.99, all at once.

    Examples
    --------
    >>> import numpy as np
    >>> from vecuq import VecUQ
    >>> rng = np.random.default_rng(0)
    >>> model = VecUQ().fit(rng.gamma(1.0, size=(500, 2)))
    >>> rows = rng.gamma(1.0, size=(600, 2))
    >>> correct = rng.random(600) > rows.sum(axis=1) / 10
    >>> gate = Gate(model, accuracy=0.85, confidence=0.9).fit(rows, correct)
    >>> gate.accept([[0.1, 0.1], [9.0, 9.0]])
    array([ True, False])
    """

    _learned: Learned | None = None

    def __init__(
        self,
        model: Any,
        *,
        accuracy: float | None = None,
        error: float | None = None,
        quality: float | None = None,
        flag_precision: float | None = None,
        flag_recall: float | None = None,
        cost_wrong: float | None = None,
        cost_review: float | None = None,
        budget: float | None = None,
        confidence: float = 0.9,
        promise: str = "confidence",
        guard: float | None = None,
        order: str = "model",
        random_state: int | None = None,
    ) -> None:
        if isinstance(model, Gate):
            raise TableError("A gate needs a model, and a gate came; give the model inside it: Gate(gate.model, ...).")
        self.model = usable_model(model)
        target = target_of(
            accuracy=accuracy,
            error=error,
            quality=quality,
            flag_precision=flag_precision,
            flag_recall=flag_recall,
            cost_wrong=cost_wrong,
            cost_review=cost_review,
            budget=budget,
        )
        order = usable_order(model, order)
        self.settings = GateSettings(target, confidence, promise, guard, order, random_state)
        if guard is not None:
            usable_guard(model, guard)

    @classmethod
    def from_learned(cls, model: Any, settings: GateSettings, learned: Learned) -> Gate:
        """Return a fitted gate, for example one that :func:`vecuq.load` found in a file."""
        made = cls(model)
        made.settings, made._learned = settings, learned
        return made

    def fit(
        self,
        rows: Any,
        correct: Any,
        *,
        groups: Any = None,
        by: Any = None,
        simultaneous: bool = False,
        unlabelled: Any = None,
    ) -> Gate:
        """Learn from labelled rows, none of which fitted the model, which rows may be accepted.

        Parameters
        ----------
        rows
            Labelled rows: a random sample of the rows to be decided.
        correct
            1 or True where the answer is right, 0 or False where it is wrong; with ``quality=``, a number in [0, 1].
        groups
            Which rows come together (sessions, documents): the promise then rests on groups, not on rows.
        by
            The category of every row: each has a certificate of its own, those with few labels share one.
        simultaneous
            Whether the certificates of all categories hold together; otherwise each holds by itself.
        unlabelled
            Rows without labels whose scores set the thresholds; by default those that the model keeps.
        """
        self._learned = learn(
            self.model,
            self.settings,
            rows,
            correct,
            groups=groups,
            by=by,
            simultaneous=simultaneous,
            unlabelled=unlabelled,
        )
        self._warn_of_shortfall()
        return self

    def _warn_of_shortfall(self) -> None:
        if self.target.is_certified and not self.certified_:
            warn_user(shortfall(self.settings, self.learned_), CalibrationWarning)

    @property
    def target(self) -> Target:
        """What the gate is to keep."""
        return self.settings.target

    @property
    def confidence(self) -> float:
        """With which probability the promise holds."""
        return self.settings.confidence

    @property
    def promise(self) -> str:
        """``"confidence"`` or ``"average"``."""
        return self.settings.promise

    @property
    def allowed(self) -> float:
        """The error rate of accepted rows that the target allows; 1 where it sets no limit."""
        return self.target.allowed

    @property
    def learned_(self) -> Learned:
        """All that the labelled rows taught."""
        if self._learned is None:
            raise CalibrationError("This gate has no labels yet; call fit(rows, correct) first.")
        return self._learned

    @property
    def rules_(self) -> tuple[Rule, ...]:
        """What decides, one rule per unit."""
        return self.learned_.decider.rules

    @property
    def certified_(self) -> bool:
        """Whether the labels prove the target for some rows; True where the target needs no proof."""
        return not self.target.is_certified or any(rule.certified for rule in self.rules_)

    @property
    def threshold_(self) -> float | None:
        """The uncertainty up to which rows are accepted; None where there is not one for all rows."""
        one = len(self.rules_) == 1 and self.learned_.decider.by_threshold
        return self.rules_[0].threshold if one else None

    @property
    def coverage_(self) -> float:
        """The share of the labelled rows that is accepted; a row without a score is not."""
        return self.learned_.decider.together().coverage

    @property
    def bound_(self) -> float:
        """An upper bound on the error rate of accepted rows, the largest of all units; 1 where nothing is certified."""
        return self.learned_.decider.together().bound

    @property
    def order_(self) -> str:
        """The order that was used."""
        return self.learned_.order

    @property
    def orders_(self) -> dict[str, float]:
        """What each order would have covered with the same labels; only that of ``order_`` is certified."""
        return dict(self.learned_.orders)

    @property
    def table_(self) -> list[dict[str, Any]]:
        """What is certified at accuracies 0.8, 0.9, 0.95 and 0.99, all at once."""
        return [dict(line) for line in self.learned_.table]

    def uncertainty(self, rows: Any) -> Array:
        """Return the uncertainty by which rows are decided; NaN where there is none, or where the guard deferred."""
        return self.scoring.scores(rows)

    @property
    def scoring(self) -> Scoring:
        """How rows are scored for a decision."""
        return Scoring(self.model, self.order_, self.settings.guard, self.learned_.weights)

    def accept(self, rows: Any, *, by: Any = None) -> NDArray[np.bool_]:
        """Return which rows may be trusted; a row without a score, or of a category without labels, is not accepted."""
        scores = self.uncertainty(rows)
        accepted = self.accept_scores(scores, by=by)
        warn_unlike(self.learned_, scores, accepted=accepted)
        return accepted

    def accept_scores(self, scores: Array, *, by: Any = None) -> NDArray[np.bool_]:
        """Return which rows are accepted, by the scores that :meth:`uncertainty` gave them."""
        return self.learned_.decider.accept(scores, self.units_of(by, len(scores)))

    def units_of(self, by: Any, n_rows: int) -> NDArray[np.intp]:
        """Return the unit of every row, by its category; -1 for a category that no label had."""
        units = self.learned_.units
        if (by is None) != (units == EVERYTHING):
            raise SettingError(
                "This gate was fitted by category; give the category of every row with by=."
                if by is None
                else "This gate was fitted without categories; leave by= out, or fit it with by=."
            )
        return np.zeros(n_rows, dtype=np.intp) if by is None else units.places(categories(by, n_rows))

    def p_wrong(self, rows: Any, *, interval: bool = False) -> Array:
        """Return the calibrated probability that each row is wrong, monotone in its uncertainty; NaN without a score.

        With ``interval``, three columns: the probability, and the ends of an interval of the gate's confidence, which
        holds if the error rate does not fall with the uncertainty.
        """
        return self.p_wrong_of_scores(self.uncertainty(rows), interval=interval)

    def p_wrong_of_scores(self, scores: Array, *, interval: bool = False) -> Array:
        """Return :meth:`p_wrong` by the scores that :meth:`uncertainty` gave."""
        cells, rates = self.learned_.labelled.ladder.places_of(scores), self.learned_.rates
        found = rates.probability[cells]
        if interval:
            found = np.stack([found, rates.lower[cells], rates.upper[cells]], axis=1)
        found[np.isnan(scores)] = np.nan
        return np.asarray(found)

    def coverage_lines(self, rows: Any) -> dict[str, list[tuple[float, float]]]:
        """Return what each order covers at many certified accuracies, by the rows that the gate was fitted on.

        Each point (accuracy, coverage) holds by itself, not all of them at once.
        """
        learned = self.learned_
        kept = learned.kept
        if kept is None:
            raise SettingError("A gate that was loaded keeps no labelled rows; fit it to rows to draw its picture.")
        scores = self.scoring.scores(rows)
        if len(scores) != len(kept) or not np.allclose(scores[kept], learned.labelled.scores, equal_nan=True):
            raise TableError(
                f"These are not the {len(kept):,} labelled rows that the gate was fitted on, in the same order, and "
                f"its labels say nothing about others. Give those rows, or none: coverage_line() needs none."
            )
        return coverage_lines(self.model, self.settings, rows, learned.labelled, kept)

    def coverage_line(self) -> list[tuple[float, float]]:
        """Return what the gate's own order covers at many certified accuracies, by the labels that it keeps.

        Each point (accuracy, coverage) holds by itself, for all categories together, with the gate's confidence.
        """
        return coverage_line(self.learned_.labelled, self.settings.delta)

    def certificate(self) -> Certificate:
        """Return what is promised, under which assumption, and what the labels showed."""
        from vecuq.gate.artefact import labels_checksum, model_checksum

        sums = {"model": model_checksum(self.model), "labels": labels_checksum(self.learned_)}
        return certificate_of(self.settings, self.learned_, **sums)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write gate and model to one file, whole or not at all; :func:`vecuq.load` reads it."""
        from vecuq.gate.artefact import parts_of

        write_tensors(path, *parts_of(self))

    def to_bytes(self) -> bytes:
        """Return what :meth:`save` would write."""
        from vecuq.gate.artefact import parts_of

        return tensor_bytes(*parts_of(self))

    def describe(self) -> dict[str, Any]:
        """Return the certificate, the table of targets and the other orders as plain values."""
        return {**self.certificate().to_dict(), "table": self.table_, "orders": self.orders_}

    def __repr__(self) -> str:
        state = "not fitted" if self._learned is None else f"coverage {self.coverage_:.3f}"
        return f"Gate({self.target.words}, confidence {self.confidence:g}, {state})"

    def _repr_html_(self) -> str:
        if self._learned is None:
            return f"<code>{escape(repr(self))}</code>"
        from vecuq.gate.displays import gate_sections

        return fragment(repr(self), gate_sections(self))
