"""One step of generation: from logits to the next token, its log-probability and the entropy of the choice."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from vecuq._check import Array

# exp of this is 0, and 0 times it is still 0: a logit of minus infinity makes no NaN.
_LEAST_SHIFT = -1e4


class Chosen(NamedTuple):
    """A token, its log-probability and the entropy of the distribution it comes from."""

    token: int
    logprob: float
    entropy: float


class Distribution:
    """The next token under the model, at temperature 1, over the whole vocabulary.

    Examples
    --------
    >>> even = Distribution([0.0, 0.0])
    >>> even.greedy()
    Chosen(token=0, logprob=-0.6931471805599453, entropy=0.6931471805599453)
    """

    def __init__(self, logits: Any) -> None:
        values = np.fromiter(logits, float, len(logits))
        self._best = int(values.argmax())
        self._shifted = np.maximum(values - values[self._best], _LEAST_SHIFT)
        weights = np.exp(self._shifted)
        total = float(weights.sum())
        self._log_total = float(np.log(total))
        self.entropy = max(0.0, self._log_total - float(weights @ self._shifted) / total)
        self._weights = weights
        self._cumulated: dict[float, Array] = {}

    def greedy(self) -> Chosen:
        """Return the likeliest token."""
        return self._chosen(self._best)

    def draw(self, random: np.random.Generator, temperature: float) -> Chosen:
        """Return a token drawn with logits divided by ``temperature``; its log-probability is that at 1."""
        cumulated = self._cumulate(temperature)
        point = random.random() * cumulated[-1]
        return self._chosen(min(int(np.searchsorted(cumulated, point, side="right")), len(cumulated) - 1))

    def _cumulate(self, temperature: float) -> Array:
        if temperature not in self._cumulated:
            weights = self._weights if temperature == 1.0 else np.exp(self._shifted / temperature)
            self._cumulated[temperature] = np.cumsum(weights)
        return self._cumulated[temperature]

    def _chosen(self, token: int) -> Chosen:
        return Chosen(token, float(self._shifted[token]) - self._log_total, self.entropy)
