"""A grid of sources against a grid of targets: contract one axis at a time, in the log domain."""

from __future__ import annotations

import numpy as np

from vecuq.transport.targets import Array

__all__ = ["contract", "contract_linear", "log_sum_exp", "safe_log"]


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

    The cost is that of the first axis: (points of the small grid) x (points of the large one). Where everything
    fits into the range of a float64 the sums are matrix products; otherwise they are taken in the log domain.
    """
    shifts = [factor.max(axis=1) for factor in log_factors]
    shifted = [factor - shift[:, None] for factor, shift in zip(log_factors, shifts, strict=True)]
    live = log_tensor[np.isfinite(log_tensor)]
    if live.size and np.ptp(live) - sum(float(factor.min()) for factor in shifted) < _LINEAR_RANGE:
        out = safe_log(contract_linear(np.exp(log_tensor - live.max()), [np.exp(f) for f in shifted])) + live.max()
    else:
        out = _contract_log(log_tensor, shifted)
    for k, shift in enumerate(shifts):
        out += shift.reshape([-1 if j == k else 1 for j in range(out.ndim)])
    return np.asarray(out)


def contract_linear(tensor: Array, factors: list[Array]) -> Array:
    """Apply one matrix per axis; each step turns the first axis into a new last one, so the order returns."""
    for factor in factors:
        rest = tensor.shape[1:]
        tensor = (tensor.reshape(len(tensor), -1).T @ factor.T).reshape(*rest, len(factor))
    return tensor


def _contract_log(log_tensor: Array, log_factors: list[Array]) -> Array:
    for log_factor in log_factors:
        rest = log_tensor.shape[1:]
        flat = log_tensor.reshape(len(log_tensor), -1)
        columns = [log_sum_exp(flat + row[:, None], axis=0) for row in log_factor]
        log_tensor = np.stack(columns, axis=-1).reshape(*rest, len(log_factor))
    return log_tensor


# Exponentials below exp(-600) of the largest would be lost.
_LINEAR_RANGE = 600.0
