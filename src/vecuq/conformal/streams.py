r"""Selections from the batches of a stream, with the false-discovery rate of everything that was ever selected.

A selection per batch keeps its rate on average over batches. Many batches together have another one: most hold nothing
to be found, and what they select is false. Here a batch is selected from with what the batches before it have shown.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from vecuq._check import Array, in_range
from vecuq.conformal.p_values import SLACK

# The share of alpha that a batch gets falls with its number: these are the terms of a sum that is 1.
_POWER, _SUM = 1.6, 2.2857656
# p-values are turned into e-values at the smallest level, or at this one if that is larger.
_LEVEL = 1 / 5_000


@dataclass(frozen=True)
class Discoveries:
    """What the batches so far have come to: enough to go on."""

    batches: int
    selected: int
    counts: NDArray[np.int64]  # rows by p-value: 1, 2, ..., n + 1 of n + 1

    @staticmethod
    def new(n_held: int) -> Discoveries:
        """Return the state before any batch, for p-values of so many held-back rows."""
        return Discoveries(0, 0, np.zeros(n_held + 1, dtype=np.int64))


def select_by_e_values(found: Discoveries, p_values: Array, alpha: float) -> tuple[Discoveries, NDArray[np.bool_]]:
    r"""Return which rows of the next batch are selected, and the state after it; a row without a p-value is not.

    A p-value becomes the e-value :math:`e = 1\{p \le \beta\} / \beta`. Of batch b with N rows, k of which have
    :math:`p \le \beta`, these k are selected if :math:`\beta N \le \alpha \gamma_b (R + k)`, with R rows selected
    before and :math:`\sum_b \gamma_b = 1`.

    **Assumption.** Every in-distribution row is exchangeable with the calibration rows. How rows depend on each other,
    and what out-of-distribution rows are like, does not matter.

    **Promise.** Of all rows selected so far, after any batch, a share of at most ``alpha`` is in-distribution on
    average. The price is power: see ``docs/decisions.md``.

    **Theorem.** e-LOND, which holds under arbitrary dependence: Xu and Ramdas, *Online multiple testing with e-values*,
    AISTATS (2024), with the rows of a batch taken together as in Wang and Ramdas, *False discovery rate control with
    e-values*, JRSS B (2022). An in-distribution row adds to the false share at most :math:`1 / R_{end}` where
    :math:`e \ge N / (\alpha \gamma_b (R + k))`, so at most :math:`e \alpha \gamma_b / N`, and E(e) <= 1.

    Examples
    --------
    >>> found, chosen = select_by_e_values(Discoveries.new(4_999), np.array([0.0002, 0.5, 0.9, 0.03]), alpha=0.1)
    >>> chosen, found.selected
    (array([ True, False, False, False]), 1)
    """
    in_range("alpha", alpha, 0.0, 1.0, ends="()")
    after = _counted(found, p_values)
    level = max(1, int(len(found.counts) * _LEVEL)) / len(found.counts)
    small = np.asarray(p_values <= level * (1.0 + SLACK))
    share = alpha * after.batches**-_POWER / _SUM
    passed = level * int((~np.isnan(p_values)).sum()) <= share * (found.selected + int(small.sum())) * (1.0 + SLACK)
    chosen = small & passed
    return replace(after, selected=found.selected + int(chosen.sum())), chosen


def select_by_pooling(found: Discoveries, p_values: Array, alpha: float) -> tuple[Discoveries, NDArray[np.bool_]]:
    r"""Return which rows of the next batch are selected, and the state after it; a row without a p-value is not.

    Of all rows so far, N of them, R(t) have :math:`p \le t`. The largest t with :math:`(1 + N t) / R(t) \le \alpha` is
    the threshold of this batch. At least 1 / alpha rows must lie below a threshold before anything is selected.

    **Assumption.** As for :func:`vecuq.conformal.selected`; and out-of-distribution rows keep coming at about the same
    rate.

    **Promise.** None that is proven. In simulations a share of at most ``alpha`` of all rows ever selected was
    in-distribution on average.

    **Theorem.** None: the threshold is that of Benjamini and Hochberg (1995) for all rows so far, but earlier rows keep
    the decisions that earlier thresholds made.

    Examples
    --------
    >>> p_values = np.array([0.001] * 30 + [0.5] * 70)
    >>> found, chosen = select_by_pooling(Discoveries.new(999), p_values, alpha=0.1)
    >>> int(chosen.sum()), found.selected
    (30, 30)
    """
    in_range("alpha", alpha, 0.0, 1.0, ends="()")
    after = _counted(found, p_values)
    below, n_levels = np.cumsum(after.counts), len(after.counts)
    expected = 1.0 + below[-1] * np.arange(1, n_levels + 1) / n_levels
    passed = np.flatnonzero(expected <= alpha * below * (1.0 + SLACK))
    chosen = np.asarray(p_values <= (passed[-1] + 1) / n_levels * (1.0 + SLACK)) if len(passed) else p_values < 0
    return replace(after, selected=found.selected + int(chosen.sum())), chosen


def _counted(found: Discoveries, p_values: Array) -> Discoveries:
    """Return the state with the rows of one more batch, none of them selected yet."""
    places = p_values[~np.isnan(p_values)] * len(found.counts) * (1.0 - SLACK)
    levels = np.maximum(np.ceil(places), 1.0).astype(np.int64) - 1
    counts = found.counts + np.bincount(levels, minlength=len(found.counts))
    return Discoveries(found.batches + 1, found.selected, counts)
