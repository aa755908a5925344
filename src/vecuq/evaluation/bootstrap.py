"""Bootstrap: how far a metric would move had other rows been drawn.

Rows are drawn with replacement, as many as there are, and plainly: the share of positive rows moves from resample to
resample as it would from test set to test set. All methods and metrics see the same resamples, so that a difference
between two methods is paired. Intervals are percentile intervals (Efron 1979). Rows that come together (sessions,
documents) are drawn together: whole groups with replacement, as many as there are (Davison and Hinkley 1997, 3.8).
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from vecuq._check import Array, in_range, whole_number
from vecuq.evaluation.inputs import Kernel
from vecuq.evaluation.tally import Order, Tally

# Counts of one block of resamples: few enough to stay in the cache.
BLOCK_CELLS = 1 << 18
# Below this share of resamples in which a metric exists, an interval would describe an unusual few.
MIN_DEFINED = 0.9
# Fewer groups than this say too little about how groups differ.
MIN_GROUPS = 10


@dataclass(frozen=True)
class Bootstrap:
    """How intervals are made.

    Parameters
    ----------
    resamples
        How many times the rows are drawn; 0 for no intervals.
    level
        Share of resamples inside an interval, in (0, 1).
    random_state
        Seed of the draws; None is a fixed seed too. Equal seeds give equal intervals, whatever the number of cores.
    """

    resamples: int = 500
    level: float = 0.95
    random_state: int | None = None

    def __post_init__(self) -> None:
        whole_number("resamples", self.resamples, 0)
        in_range("level", self.level, 0.0, 1.0, ends="()")
        if self.random_state is not None:
            whole_number("random_state", self.random_state, 0)


@dataclass(frozen=True)
class Estimate:
    """A number with its interval, or the reason why there is none.

    Parameters
    ----------
    value
        The number on all rows; NaN if there is none.
    low, high
        The ends of its interval; NaN if there is none.
    n
        Rows it was computed on.
    reason
        In one line, why value or interval is missing; None if both are there or no interval was wanted.
    """

    value: float
    low: float
    high: float
    n: int
    reason: str | None = None

    @property
    def excludes_zero(self) -> bool:
        """Whether the interval lies on one side of 0: for one difference, named beforehand, whether it is no chance.

        Of many differences some lie on one side by chance: :meth:`MethodComparison.separated` judges them together.
        """
        return self.low > 0.0 or self.high < 0.0


def resampled(
    scores: Array,
    target: Array,
    kernels: Sequence[Kernel],
    bootstrap: Bootstrap,
    groups: NDArray[np.intp] | None = None,
) -> Array:
    """Return what each kernel gives for each method on each resample, shape (kernels, methods, resamples).

    Parameters
    ----------
    scores
        Uncertainties, shape (methods, rows).
    target
        Label or quality, shape (rows,).
    kernels
        What to compute, in shape (resamples,) from a tally.
    bootstrap
        How many resamples, and their seed.
    groups
        The group of each row, from 0; whole groups are drawn. None to draw rows.
    """
    orders, best = [Order.of(one) for one in scores], Order.of(-target)
    whole = bool(np.isin(target, (0.0, 1.0)).all())

    def block(size: int, seed: np.random.SeedSequence) -> Array:
        n_drawn = len(target) if groups is None else int(groups.max()) + 1
        drawn = row_counts(n_drawn, size, seed)
        counts = drawn if groups is None else drawn[groups]
        weighted = counts * target[:, None]
        ideal = Tally(best.grouped(counts), best.grouped(weighted), whole=whole)
        tallies = (Tally(order.grouped(counts), order.grouped(weighted), ideal, whole) for order in orders)
        return np.stack([[kernel(tally) for kernel in kernels] for tally in tallies], axis=1)

    sizes = block_sizes(len(target), bootstrap.resamples)
    seeds = np.random.SeedSequence(bootstrap.random_state or 0).spawn(len(sizes))
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        blocks = list(pool.map(block, sizes, seeds))
    return np.concatenate([np.empty((len(kernels), len(scores), 0)), *blocks], axis=2)


def block_sizes(n_rows: int, resamples: int) -> list[int]:
    """Share the resamples into blocks; the same on every machine, since each block has its own seed."""
    most = max(1, BLOCK_CELLS // max(n_rows, 1))
    return [min(most, resamples - done) for done in range(0, resamples, most)]


def row_counts(n_rows: int, resamples: int, seed: np.random.SeedSequence) -> Array:
    """Draw rows with replacement and return how often each came, shape (rows, resamples)."""
    drawn = np.random.default_rng(seed).integers(n_rows, size=(n_rows, resamples))
    places = drawn * resamples + np.arange(resamples)
    counts = np.bincount(places.ravel(), minlength=n_rows * resamples)
    return counts.reshape(n_rows, resamples).astype(float)


def interval(value: float, draws: Array, n_rows: int, level: float) -> Estimate:
    """Return a number with the percentile interval of its resamples, NaN among them left out."""
    defined = draws[~np.isnan(draws)]
    if not len(draws):
        return Estimate(value, np.nan, np.nan, n_rows)
    if len(defined) < MIN_DEFINED * len(draws):
        reason = f"no interval: the metric exists on only {len(defined):,} of {len(draws):,} resamples"
        return Estimate(value, np.nan, np.nan, n_rows, reason)
    low, high = np.quantile(defined, [0.5 - level / 2, 0.5 + level / 2])
    return Estimate(value, float(low), float(high), n_rows)
