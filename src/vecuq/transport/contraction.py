"""A grid of sources against a grid of targets: contract one axis at a time, in the log domain."""

from __future__ import annotations

import numpy as np

from vecuq.transport.targets import Array

__all__ = ["contract", "log_sum_exp", "safe_log"]


def safe_log(values: Array) -> Array:
    """Natural logarithm with log 0 = -inf and no warning."""
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(values))


def log_sum_exp(values: Array, axis: int) -> Array:
    """Logarithm of the sum of exponentials along one axis; an axis of nothing but -inf gives -inf."""
    top = values.max(axis=axis, keepdims=True)
    top = np.where(np.isneginf(top), 0.0, top)
    return np.asarray(safe_log(np.exp(values - top).sum(axis=axis)) + np.squeeze(top, axis=axis))


def contract(log_tensor: Array, log_factors: list[Array]) -> Array:
    """Return log sum_j exp(T[j_1 .. j_m] + sum_k L_k[a_k, j_k]) for every (a_1 .. a_m).

    Each step turns the first axis of the tensor into a new last one, so after m steps the axes are in their
    old order. The cost is that of the first axis: (points of the small grid) x (points of the large one).
    """
    for log_factor in log_factors:
        rest = log_tensor.shape[1:]
        flat = log_tensor.reshape(len(log_tensor), -1)
        columns = [log_sum_exp(flat + row[:, None], axis=0) for row in log_factor]
        log_tensor = np.stack(columns, axis=-1).reshape(*rest, len(log_factor))
    return log_tensor
