"""How many new rows lie beyond a held-back score: the exact law, for any number of new rows."""

from __future__ import annotations

import numpy as np


def rows_beyond_p_value(beyond: int, n_new: int, rank: int, n_held: int) -> float:
    r"""Return the probability that so many of the new rows, or more, lie above the ``rank``-th largest held-back score.

    **Assumption.** The n held-back rows and the N new rows are exchangeable, and none of them fitted the score.

    **Promise.** If scores do not tie, the number of new rows above the k-th largest held-back score is at least x with
    exactly this probability. Rows that tie with that score do not count as above it, so with ties it is smaller. Hence
    P(p <= alpha) <= alpha for every alpha; the chance of an unusual held-back set is part of it. The same holds for the
    rows below the k-th smallest.

    **Theorem.** At least x new rows are above exactly if at most k - 1 of the x + k - 1 largest of all n + N scores
    are held-back ones, whose number is hypergeometric: the exceedance statistic of Gumbel and von Schelling (1950). It
    is the beta-binomial law, as a sum of k terms instead of N.

    Parameters
    ----------
    beyond
        How many new rows lie above, x.
    n_new, n_held
        How many rows there are, N and n.
    rank
        Which held-back score, k: 1 is the largest.

    Examples
    --------
    >>> round(rows_beyond_p_value(1, n_new=1, rank=5, n_held=99), 12)
    0.05
    >>> round(rows_beyond_p_value(10**9 // 4, n_new=10**9, rank=100, n_held=999), 3)
    0.0
    """
    if beyond <= 0:
        return 1.0
    total, drawn, n = float(n_held + n_new), float(beyond + rank - 1), n_held
    steps = np.arange(n, dtype=float)
    with np.errstate(divide="ignore"):  # a law that stops earlier has terms of probability 0
        among, others, all_of_them = (
            np.concatenate([[0.0], np.cumsum(np.log(np.maximum(start - steps, 0.0) / total))])
            for start in (drawn, total - drawn, total)
        )
    taken = np.arange(rank)  # how many of the largest are held-back rows
    choices = np.concatenate([[0.0], np.cumsum(np.log((n - taken[:-1]) / (taken[:-1] + 1.0)))])
    terms = choices + among[taken] + others[n - taken] - all_of_them[n]
    return float(min(1.0, np.exp(np.logaddexp.reduce(terms))))
