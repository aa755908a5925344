"""Verdicts: which method is best on a metric, and whether its lead is larger than chance explains."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from vecuq.evaluation.results import Evaluation
from vecuq.evaluation.separation import shared_level


@dataclass(frozen=True)
class Verdict:
    """Who is best on one metric.

    Parameters
    ----------
    metric
        The key of the metric, such as ``"ood roc_auc"``.
    best
        The method with the best value; None if no method has one.
    value
        Its value; None without one.
    level
        The level of all verdicts that were given together; None if there were no resamples. If all methods are equal,
        any verdict names one that is separated from the best with probability 1 - level.
    not_separated
        The methods over which chance explains the lead of the best, all pairs of methods judged at once: see
        :meth:`MethodComparison.separated`.
    """

    metric: str
    best: str | None
    value: float | None
    level: float | None
    not_separated: tuple[str, ...] = ()

    def __str__(self) -> str:
        """Return the verdict as one sentence."""
        if self.best is None:
            return f"{self.metric}: no method has a value."
        lead = f"{self.metric}: {self.best} is best ({self.value:.3f})"
        if self.level is None:
            return f"{lead}; without resamples it is not known whether by chance."
        if not self.not_separated:
            return f"{lead}, by more than chance explains."
        return f"{lead}, but chance explains its lead over {_listed(self.not_separated)}."

    def to_dict(self) -> dict[str, Any]:
        """Return plain values."""
        return asdict(self)


def verdicts(evaluation: Evaluation, keys: Sequence[str]) -> tuple[Verdict, ...]:
    """Return one verdict for each of the named metrics; together they keep the level of the evaluation.

    Examples
    --------
    >>> from vecuq.evaluation import evaluate
    >>> scores = {"good": [0.1, 0.2, 0.3, 0.9, 0.8, 0.7], "bad": [0.9, 0.2, 0.3, 0.1, 0.8, 0.7]}
    >>> done = evaluate(scores, ood=[0, 0, 0, 1, 1, 1], metrics=["roc_auc"])
    >>> print(verdicts(done, ["ood roc_auc"])[0])
    ood roc_auc: good is best (1.000), but chance explains its lead over bad.
    """
    return tuple(_verdict(evaluation, key, len(keys)) for key in keys)


def _verdict(evaluation: Evaluation, key: str, tables: int) -> Verdict:
    compared = evaluation.comparison(key)
    if not compared.ranked:
        return Verdict(key, None, None, None)
    best, *others = compared.ranked
    value = compared.estimate(best).value
    if not compared.draws.shape[-1]:
        return Verdict(key, best, value, None)
    worse = compared.separated(best, level=shared_level(compared.level, tables))
    near = tuple(name for name in others if name not in worse)
    return Verdict(key, best, value, compared.level, near)


def _listed(names: Sequence[str]) -> str:
    """Return the first three names, and how many there are beside them."""
    if len(names) > 3:
        return f"{', '.join(names[:3])} and {len(names) - 3} others"
    return ", ".join(names[:-1]) + " and " + names[-1] if len(names) > 1 else names[0]
