"""A grid of sources against a grid of targets: contract one axis at a time, in the log domain."""

from __future__ import annotations

import numpy as np

from vecuq._check import Array


def safe_log(values: Array) -> Array:
    """Natural logarithm with log 0 = -inf and no warning."""
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(values))


def log_sum_exp(values: Array, axis: int) -> Array:
    """Logarithm of the sum of exponentials along one axis; an axis of nothing but -inf gives -inf."""
    top = values.max(axis=axis, keepdims=True)
    top = np.where(np.isneginf(top), 0.0, top)
    return np.asarray(safe_log(np.exp(values - top).sum(axis=axis)) + np.squeeze(top, axis=axis))


class Contraction:
    """The map T -> log sum_j exp(T[j_1 .. j_m] + sum_k L_k[a_k, j_k]) for every (a_1 .. a_m), for fixed factors L.

    The cost is that of the first axis: (points of the small grid) x (points of the large one). Where everything
    fits into the range of a float64 the sums are matrix products; otherwise they are taken in the log domain.
    """

    def __init__(self, log_factors: list[Array]) -> None:
        shifts = [factor.max(axis=1) for factor in log_factors]
        self.shifted = [factor - shift[:, None] for factor, shift in zip(log_factors, shifts, strict=True)]
        self.factors = [np.exp(factor) for factor in self.shifted]
        self.reach = -sum(float(factor.min()) for factor in self.shifted)
        self.shift = np.zeros(())
        for shift in shifts:
            self.shift = np.add.outer(self.shift, shift)

    def __call__(self, log_tensor: Array) -> Array:
        """Contract every axis of the tensor."""
        live = log_tensor[np.isfinite(log_tensor)]
        top = float(live.max()) if live.size else 0.0
        if live.size and top - float(live.min()) + self.reach < _LINEAR_RANGE:
            return np.asarray(safe_log(contract_linear(np.exp(log_tensor - top), self.factors)) + (top + self.shift))
        return _contract_log(log_tensor, self.shifted) + self.shift


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
