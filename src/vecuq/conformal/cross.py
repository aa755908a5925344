"""Cross-conformal p-values: every row is held back once, from the map that has not seen it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from vecuq._check import Array


def cross_p_values(p_values: Sequence[Array], counts: Sequence[int]) -> Array:
    """Return ``p = (1 + sum over folds of #{held-back scores of the fold >= score}) / (n + 1)``.

    Each fold has a score of its own, fitted to the other folds, by which new row and held-back rows are compared.

    **Assumption.** The new row and the n calibration rows (or groups) are exchangeable.

    **Promise.** P(p <= alpha) <= 2 alpha + 2 (1 - alpha) (K - 1) / (n + K) with K folds; in simulations P(p <= alpha)
    stays near alpha. This is weaker than what rows that are held back once and for all promise.

    **Theorem.** The average of p-values is at most doubled: Vovk and Wang, *Combining p-values via averaging* (2020);
    Vovk, Nouretdinov, Manokhin and Gammerman, *Cross-conformal predictive distributions* (2018), section 5; compare
    Barber, Candes, Ramdas and Tibshirani, *Predictive inference with the jackknife+* (2021), theorem 4.

    Parameters
    ----------
    p_values
        Of the same new rows by each fold alone, ``(1 + count) / (n_k + 1)``.
    counts
        How many rows, or groups, each fold holds back: n_k.

    Examples
    --------
    >>> cross_p_values([np.array([0.5]), np.array([1.0])], [9, 9])
    array([0.73684211])
    """
    beyond = [p * (n + 1.0) - 1.0 for p, n in zip(p_values, counts, strict=True)]
    return np.asarray((1.0 + np.sum(beyond, axis=0)) / (sum(counts) + 1.0))
