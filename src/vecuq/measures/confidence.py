"""Confidence measures: how peaked a prediction is, and how far the members of an ensemble agree.

All take logits of an ensemble, (members, rows, classes), or of one model, (rows, classes), as arrays of any library,
and return a NumPy array with one number per row, higher = more uncertain. Log-probabilities are logits too. Divide the
logits by a temperature beforehand if you use one.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from vecuq.measures.arrays import Array, in_row_blocks, members_first, one_hot, probabilities
from vecuq.measures.risk import risk


def msp(logits: Any) -> Array:
    """One minus the largest probability of the mean prediction, in [0, 1 - 1/K].

    Hendrycks and Gimpel, A Baseline for Detecting Misclassified and Out-of-Distribution Examples (ICLR 2017).

    Examples
    --------
    >>> import numpy as np
    >>> msp(np.log([[0.7, 0.2, 0.1]])).round(6)
    array([0.3])
    """
    return risk(logits, kind="bayes", rule="zero-one", truth=2)


def entropy(logits: Any) -> Array:
    """Entropy of the mean prediction in nats, in [0, log K].

    Examples
    --------
    >>> import numpy as np
    >>> entropy(np.zeros((1, 4))).round(6)
    array([1.386294])
    """
    return risk(logits, kind="bayes", rule="log", truth=2)


def mutual_information(logits: Any) -> Array:
    """Entropy of the mean minus the mean entropy of the members, in [0, log min(K, members)]; 0 for one model.

    Houlsby et al., Bayesian Active Learning for Classification and Preference Learning (2011).

    Examples
    --------
    >>> import numpy as np
    >>> mutual_information(np.log([[[0.9, 0.1]], [[0.1, 0.9]]])).round(6)
    array([0.368064])
    """
    return risk(logits, kind="excess", rule="log", truth=1, prediction=2)


def margin(logits: Any) -> Array:
    """One minus the gap between the two largest probabilities of the mean prediction, in [0, 1].

    Examples
    --------
    >>> import numpy as np
    >>> margin(np.log([[0.7, 0.2, 0.1]])).round(6)
    array([0.5])
    """

    def of_block(part: Array) -> Any:
        mean = np.mean(probabilities(part)[1], axis=0)
        if mean.shape[-1] == 1:
            return 1.0 - mean[:, 0]
        ordered = np.sort(mean, axis=-1, kind="stable")
        return 1.0 - (ordered[:, -1] - ordered[:, -2])

    return in_row_blocks(of_block, members_first(logits))


def max_logit(logits: Any) -> Array:
    """Minus the largest logit, averaged over members; any real number.

    Needs logits, not probabilities. Hendrycks et al., Scaling Out-of-Distribution Detection for Real-World Settings
    (ICML 2022).

    Examples
    --------
    >>> import numpy as np
    >>> max_logit(np.array([[3.0, -1.0]]))
    array([-3.])
    """

    def of_block(part: Array) -> Any:
        return np.negative(part.max(axis=-1).mean(axis=0))

    return in_row_blocks(of_block, members_first(logits))


def energy(logits: Any) -> Array:
    """Minus the log of the summed exponentials of the logits, averaged over members; any real number.

    Needs logits, not probabilities. Liu et al., Energy-based Out-of-distribution Detection (NeurIPS 2020).

    Examples
    --------
    >>> import numpy as np
    >>> energy(np.zeros((1, 4))).round(6)
    array([-1.386294])
    """

    def of_block(part: Array) -> Any:
        top = np.max(part, axis=-1, keepdims=True)
        return -np.mean(np.log(np.sum(np.exp(part - top), axis=-1)) + top[..., 0], axis=0)

    return in_row_blocks(of_block, members_first(logits))


def variation_ratio(logits: Any) -> Array:
    """Share of members that do not vote for the most voted class, in [0, 1 - 1/members]; 0 for one model.

    Examples
    --------
    >>> import numpy as np
    >>> variation_ratio(np.array([[[2.0, 0.0]], [[3.0, 0.0]], [[0.0, 1.0]]])).round(6)
    array([0.333333])
    """

    def of_block(part: Array) -> Any:
        votes = np.mean(one_hot(part.argmax(axis=-1), part.shape[-1]), axis=0)
        unknown = np.any(np.isnan(part), axis=(0, 2))
        ratio = 1.0 - np.max(votes, axis=-1)
        return np.where(unknown, ratio * np.nan, ratio)

    return in_row_blocks(of_block, members_first(logits))
