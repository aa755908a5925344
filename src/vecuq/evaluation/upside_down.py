"""Methods that are worse than chance: perhaps a confidence that was taken for an uncertainty."""

from __future__ import annotations

import numpy as np

from vecuq.evaluation.comparison import MethodComparison
from vecuq.evaluation.results import Evaluation


def below_chance(evaluation: Evaluation) -> tuple[str, ...]:
    """Return the methods that are worse than chance on every metric that knows chance, with their whole intervals.

    Examples
    --------
    >>> from vecuq.evaluation import Bootstrap, evaluate
    >>> scores = {"entropy": [0.1, 0.2, 0.8, 0.9], "confidence": [0.9, 0.8, 0.2, 0.1]}
    >>> below_chance(evaluate(scores, ood=[0, 0, 1, 1], bootstrap=Bootstrap(resamples=0)))
    ('confidence',)
    """
    said = [one for one in evaluation.comparisons if one.metric.chance is not None]
    return tuple(name for name in evaluation.methods if said and all(_is_below(one, name) for one in said))


def inverted_labels(evaluation: Evaluation) -> tuple[str, ...]:
    """Return the tasks whose labels look inverted: every method, and more than one or the uncertainty, is below chance.

    One column below chance is more likely a confidence that was taken for an uncertainty; see :func:`below_chance`.
    Without resamples, values are looked at instead of intervals.

    Examples
    --------
    >>> from vecuq.evaluation import evaluate
    >>> wrong, entropy = [1] * 30 + [0] * 30, [0.01 * k for k in range(60)]
    >>> inverted_labels(evaluate({"uncertainty": entropy}, error=wrong, metrics=["roc_auc"]))
    ('error',)
    """
    said = [one for one in evaluation.comparisons if one.metric.chance is not None]
    tasks = dict.fromkeys(one.metric.task for one in said)
    return tuple(task for task in tasks if all(_all_below(one) for one in said if one.metric.task == task))


def _all_below(compared: MethodComparison) -> bool:
    """Whether every method is below chance, and no single column alone says so."""
    judged = compared.ranked
    known = len(judged) > 1 or "uncertainty" in judged
    return known and all(_is_below(compared, name) for name in judged)


def _is_below(compared: MethodComparison, method: str) -> bool:
    found, chance = compared.estimate(method), compared.metric.chance
    highest = found.value if np.isnan(found.high) else found.high
    return chance is not None and bool(highest < chance)


def best_upside_down(evaluation: Evaluation) -> tuple[str, ...]:
    """Return the methods below chance that would be the best or second best of a metric the other way round."""
    return tuple(
        name for name in below_chance(evaluation) if any(_would_be_marked(one, name) for one in evaluation.comparisons)
    )


def _would_be_marked(compared: MethodComparison, method: str) -> bool:
    """Whether a method, mirrored at chance, is as good as the second best of the others."""
    chance = compared.metric.chance
    own = compared.values[compared.methods.index(method)]
    others = [value for name, value in zip(compared.methods, compared.values, strict=True) if name != method]
    rivals = sorted((value for value in others if not np.isnan(value)), reverse=True)[:2]
    return chance is not None and bool(rivals) and bool(2.0 * chance - own >= rivals[-1])
