r"""The risk of a prediction under a proper scoring rule, and its split into Bayes and excess risk.

A proper score S(q, k) is what a prediction q earns when class k comes true; for each rule here

.. math:: \text{total}(\eta, q) = c - \sum_k \eta_k S(q, k), \quad \text{bayes}(\eta) = \text{total}(\eta, \eta),
          \quad \text{excess} = \text{total} - \text{bayes} \ge 0.

The unknown truth :math:`\eta` and the prediction q are approximated from the members of an ensemble: 1, each member in
turn, averaged (outer); 2, their mean (inner); 3, the rule's central prediction. The total risk is linear in the truth
and in the score of the prediction, so an average over all pairs of members needs only two averages over members:
nothing here is quadratic in their number.

Kotelevskii et al., From Risk to Uncertainty (ICLR 2025); Hofman et al., Quantifying Aleatoric and Epistemic
Uncertainty with Proper Scoring Rules (2024).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from vecuq._check import one_of
from vecuq.errors import SettingError
from vecuq.measures.arrays import Array, in_row_blocks, members_first, one_hot, probabilities, vecdot

KINDS = ("total", "bayes", "excess")
RULES = ("log", "brier", "spherical", "zero-one")
APPROXIMATIONS = (1, 2, 3)


def risk(
    logits: Any,
    *,
    kind: str = "total",
    rule: str = "log",
    truth: int = 1,
    prediction: int = 1,
) -> Array:
    """Return one kind of risk per row.

    Parameters
    ----------
    logits
        Logits of an ensemble, shape (members, rows, classes), or of one model, (rows, classes), as arrays of
        any library. Log-probabilities are logits too, so probabilities p go in as log p.
    kind
        ``"total"``, ``"bayes"`` (of the truth alone; ``prediction`` does not matter) or ``"excess"``.
    rule
        ``"log"``, ``"brier"``, ``"spherical"`` or ``"zero-one"``.
    truth, prediction
        1: each member in turn; 2: the mean of the members; 3: the central prediction.

    Returns
    -------
    array
        Shape (rows,); higher = more uncertain. Range: Bayes risk in [0, log K] for ``"log"`` and in [0, 1] for the
        other rules; excess risk at least 0.

    Examples
    --------
    >>> import numpy as np
    >>> agree, differ = [[2.0, 0.0], [2.0, 0.0]], [[5.0, 0.0], [0.0, 5.0]]
    >>> risk(np.array([agree, differ]).transpose(1, 0, 2), kind="excess").round(3)
    array([0.   , 2.467])
    """
    one_of("kind", kind, KINDS)
    one_of("rule", rule, RULES)
    for name, value in (("truth", truth), ("prediction", prediction)):
        if value not in APPROXIMATIONS:
            raise SettingError(f"{name} must be 1 (each member), 2 (their mean) or 3 (central); got {value!r}.")
    return in_row_blocks(
        lambda part: RuleOnBlock(Predictions(part), rule).risk(kind, truth, prediction), members_first(logits)
    )


class Predictions:
    """The members' probabilities on a block of rows, (members, rows, classes), computed once for all rules."""

    def __init__(self, logits: Array) -> None:
        self.log_p, self.p = probabilities(logits)
        self.mean = np.mean(self.p, axis=0)


class RuleOnBlock:
    """One scoring rule applied to a block of rows; what several risks need is computed once."""

    def __init__(self, predictions: Predictions, rule: str) -> None:
        self.rule = rule
        self.log_p, self.p, self.mean = predictions.log_p, predictions.p, predictions.mean
        self.known: dict[tuple[str, int], Any] = {}

    def risk(self, kind: str, truth: int, prediction: int) -> Any:
        """Return one kind of risk per row."""
        bayes = self._once("bayes", truth, self._bayes)
        if kind == "bayes":
            return bayes
        score = self._once("score", prediction, self._score)
        total = self.offset - vecdot(self.truth(truth), score)
        # The difference of two nearly equal numbers may round below zero, where no excess can be.
        excess = np.maximum(total - bayes, 0.0)
        return excess if kind == "excess" else bayes + excess

    @property
    def offset(self) -> float:
        """The constant that makes the risk of a certain, right prediction zero."""
        return 0.0 if self.rule == "log" else 1.0

    def truth(self, approximation: int) -> Any:
        """Average of the truths: the total risk is linear in it."""
        return self._once("central", 3, lambda _: self._central()) if approximation == 3 else self.mean

    def _once(self, what: str, approximation: int, compute: Callable[[int], Any]) -> Any:
        if (what, approximation) not in self.known:
            self.known[what, approximation] = compute(approximation)
        return self.known[what, approximation]

    def _score(self, approximation: int) -> Any:
        """Average score of the predictions, per row and class."""
        if approximation == 1:
            return np.mean(self.scores_of(self.p, self.log_p), axis=0)
        chosen = self.truth(approximation)
        return self.scores_of(chosen, self.log_of(approximation))

    def _bayes(self, truth: int) -> Any:
        if truth == 1:
            own = np.mean(self.own_score(self.p, self.log_p), axis=0)
        else:
            own = self.own_score(self.truth(truth), self.log_of(truth))
        return np.maximum(self.offset - own, 0.0)

    def own_score(self, p: Any, log_p: Any) -> Any:
        """Return what a prediction earns on average when it is the truth, sum_k p_k S(p, k)."""
        if self.rule == "log":
            return vecdot(p, log_p)
        if self.rule == "zero-one":
            return np.max(p, axis=-1)
        squares = vecdot(p, p)
        return squares if self.rule == "brier" else np.sqrt(squares)

    def scores_of(self, p: Any, log_p: Any) -> Any:
        """Return S(p, k) for every class."""
        if self.rule == "log":
            return log_p
        if self.rule == "brier":
            return 2.0 * p - vecdot(p, p)[..., None]
        if self.rule == "spherical":
            return p / np.sqrt(vecdot(p, p))[..., None]
        return one_hot(p.argmax(axis=-1), p.shape[-1])

    def log_of(self, approximation: int) -> Any:
        """Return the logarithm of the mean or of the central prediction; only the log rule looks at it."""
        if self.rule != "log":
            return None
        if approximation == 2:
            return self._once("mean logs", 2, lambda _: _log_mean_exp(self.log_p))
        return self._once("central logs", 3, lambda _: probabilities(np.mean(self.log_p, axis=0))[0])

    def _central(self) -> Any:
        """Return the prediction in the middle of the members.

        Log: softmax of the mean logarithms. Brier and zero-one: the mean. Spherical: the point of the simplex's plane
        in the direction of the members' mean direction.
        """
        if self.rule == "log":
            return np.exp(self.log_of(3))
        if self.rule != "spherical":
            return self.mean
        x = self._once("score", 1, self._score)
        n_classes = self.p.shape[-1]
        y = x - np.mean(x, axis=-1, keepdims=True)
        length = np.sqrt(1.0 - vecdot(y, y))[..., None]
        return 1.0 / n_classes + y / length * n_classes**-0.5


def _log_mean_exp(log_p: Any) -> Any:
    top = np.max(log_p, axis=0, keepdims=True)
    return np.log(np.mean(np.exp(log_p - top), axis=0)) + top[0, ...]
