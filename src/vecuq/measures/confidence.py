"""Confidence measures: how peaked a prediction is, and how far the members of an ensemble agree.

All take logits of an ensemble, (members, rows, classes), or of one model, (rows, classes), in NumPy, torch or JAX, and
return one number per row, higher = more uncertain. Log-probabilities are logits too. Divide the logits by a
temperature beforehand if you use one.
"""

from __future__ import annotations

from typing import Any

from vecuq.measures.arrays import in_row_blocks, members_first, namespace, one_hot, probabilities
from vecuq.measures.risk import risk


def msp(logits: Any) -> Any:
    """One minus the largest probability of the mean prediction, in [0, 1 - 1/K].

    Hendrycks and Gimpel, A Baseline for Detecting Misclassified and Out-of-Distribution Examples (ICLR 2017).

    Examples
    --------
    >>> import numpy as np
    >>> msp(np.log([[0.7, 0.2, 0.1]])).round(6)
    array([0.3])
    """
    return risk(logits, kind="bayes", rule="zero-one", truth=2)


def entropy(logits: Any) -> Any:
    """Entropy of the mean prediction in nats, in [0, log K].

    Examples
    --------
    >>> import numpy as np
    >>> entropy(np.zeros((1, 4))).round(6)
    array([1.386294])
    """
    return risk(logits, kind="bayes", rule="log", truth=2)


def mutual_information(logits: Any) -> Any:
    """Entropy of the mean minus the mean entropy of the members, in [0, log min(K, members)]; 0 for one model.

    Houlsby et al., Bayesian Active Learning for Classification and Preference Learning (2011).

    Examples
    --------
    >>> import numpy as np
    >>> mutual_information(np.log([[[0.9, 0.1]], [[0.1, 0.9]]])).round(6)
    array([0.368064])
    """
    return risk(logits, kind="excess", rule="log", truth=1, prediction=2)


def margin(logits: Any) -> Any:
    """One minus the gap between the two largest probabilities of the mean prediction, in [0, 1].

    Examples
    --------
    >>> import numpy as np
    >>> margin(np.log([[0.7, 0.2, 0.1]])).round(6)
    array([0.5])
    """

    def of_block(part: Any) -> Any:
        xp = namespace(part)
        mean = xp.mean(probabilities(part)[1], axis=0)
        if mean.shape[-1] == 1:
            return 1.0 - mean[:, 0]
        ordered = xp.sort(mean, axis=-1)
        return 1.0 - (ordered[:, -1] - ordered[:, -2])

    return in_row_blocks(of_block, members_first(logits))


def max_logit(logits: Any) -> Any:
    """Minus the largest logit, averaged over members; any real number.

    Needs logits, not probabilities. Hendrycks et al., Scaling Out-of-Distribution Detection for Real-World Settings
    (ICML 2022).

    Examples
    --------
    >>> import numpy as np
    >>> max_logit(np.array([[3.0, -1.0]]))
    array([-3.])
    """

    def of_block(part: Any) -> Any:
        xp = namespace(part)
        return -xp.mean(xp.max(part, axis=-1), axis=0)

    return in_row_blocks(of_block, members_first(logits))


def energy(logits: Any) -> Any:
    """Minus the log of the summed exponentials of the logits, averaged over members; any real number.

    Needs logits, not probabilities. Liu et al., Energy-based Out-of-distribution Detection (NeurIPS 2020).

    Examples
    --------
    >>> import numpy as np
    >>> energy(np.zeros((1, 4))).round(6)
    array([-1.386294])
    """

    def of_block(part: Any) -> Any:
        xp = namespace(part)
        top = xp.max(part, axis=-1, keepdims=True)
        return -xp.mean(xp.log(xp.sum(xp.exp(part - top), axis=-1)) + top[..., 0], axis=0)

    return in_row_blocks(of_block, members_first(logits))


def variation_ratio(logits: Any) -> Any:
    """Share of members that do not vote for the most voted class, in [0, 1 - 1/members]; 0 for one model.

    Examples
    --------
    >>> import numpy as np
    >>> variation_ratio(np.array([[[2.0, 0.0]], [[3.0, 0.0]], [[0.0, 1.0]]])).round(6)
    array([0.333333])
    """

    def of_block(part: Any) -> Any:
        xp = namespace(part)
        votes = xp.mean(one_hot(xp.argmax(part, axis=-1), part), axis=0)
        unknown = xp.any(xp.isnan(part), axis=(0, 2))
        ratio = 1.0 - xp.max(votes, axis=-1)
        return xp.where(unknown, ratio * xp.nan, ratio)

    return in_row_blocks(of_block, members_first(logits))
