"""Rows against any cloud of targets, entry by entry in the log domain: slow, simple, and the tests' oracle."""

from __future__ import annotations

import numpy as np

from vecuq._check import Array
from vecuq._run import spans
from vecuq.transport.contraction import log_sum_exp, safe_log
from vecuq.transport.targets import Cloud, Sources

_ENTRIES = 2_000_000


class DenseKernel:
    """The kernel between sources and a cloud; blocks of rows keep memory flat, time is rows x targets."""

    def __init__(self, sources: Sources, cloud: Cloud, epsilon: float) -> None:
        corners = sources.corners
        rows, weights = sources.rows, np.full(len(sources.rows), sources.row_weight)
        if corners is not None:
            rows = np.concatenate([rows, corners.points])
            weights = np.concatenate([weights, corners.weights[corners.weights > 0]])
        self.rows, self.log_a = rows, safe_log(weights)
        self.cloud, self.epsilon = cloud, epsilon

    @property
    def work(self) -> int:
        """Exponentials of one sweep."""
        return len(self.rows) * self.cloud.size

    def push(self, log_v: Array) -> Array:
        """Return log K'u with u = a / (K v): the mass that each target would receive per unit of v."""
        total = np.full(self.cloud.size, -np.inf)
        for span in spans(len(self.rows), max(1, _ENTRIES // self.cloud.size)):
            log_kernel = -self.cost(self.rows[span]) / self.epsilon
            log_u = self.log_a[span] - log_sum_exp(log_kernel + log_v, axis=1)
            total = np.logaddexp(total, log_sum_exp(log_kernel + log_u[:, None], axis=0))
        return total

    def cost(self, rows: Array) -> Array:
        """Return the squared distance of each row to each target, (rows, targets)."""
        # Summing squares of differences is exact where |z|^2 - 2 z t + |t|^2 cancels.
        total = np.zeros((len(rows), self.cloud.size))
        for k in range(rows.shape[1]):
            total += (rows[:, k, None] - self.cloud.points[:, k]) ** 2
        return total
