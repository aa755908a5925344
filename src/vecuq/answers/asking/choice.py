"""One step of generation: from logits to the next token, its log-probability and how sure the choice was."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from vecuq._check import Array

# exp of this is 0, and so is 0 times this: a logit of minus infinity gives no NaN.
_LEAST_SHIFT = -1e4


class Chosen(NamedTuple):
    """A token, its log-probability, and the entropy, margin and certainty of the distribution it comes from.

    The margin is the most likely token's probability minus the second's; the certainty is the divergence of the uniform
    law from the distribution.
    """

    token: int
    logprob: float
    entropy: float
    margin: float
    certainty: float


class Distribution:
    """The next token under the model, at temperature 1, over the whole vocabulary.

    Examples
    --------
    >>> even = Distribution([0.0, 0.0])
    >>> even.greedy()
    Chosen(token=0, logprob=-0.6931471805599453, entropy=0.6931471805599453, margin=0.0, certainty=0.0)
    """

    def __init__(self, logits: Any) -> None:
        values = np.fromiter(logits, float, len(logits))
        self._best = int(values.argmax())
        self._shifted = np.maximum(values - values[self._best], _LEAST_SHIFT)
        weights = np.exp(self._shifted)
        total = float(weights.sum())
        self._log_total = float(np.log(total))
        self.entropy = max(0.0, self._log_total - float(weights @ self._shifted) / total)
        # The most likely token has the weight 1.
        self.margin = (1.0 - float(np.delete(weights, self._best).max(initial=0.0))) / total
        # A token that cannot be, with a logit of minus infinity, does not count.
        possible = self._shifted[values > -np.inf]
        self.certainty = max(0.0, self._log_total - float(possible.mean()) - float(np.log(len(possible))))
        self._weights = weights
        self._cumulative: dict[float, Array] = {}

    def greedy(self) -> Chosen:
        """Return the most likely token."""
        return self._chosen(self._best)

    def most_likely(self, number: int) -> list[Chosen]:
        """Return the most likely tokens, most likely first."""
        order = np.argsort(-self._shifted, kind="stable")[:number]
        return [self._chosen(int(token)) for token in order]

    def draw(self, random: np.random.Generator, temperature: float) -> Chosen:
        """Return a token drawn with logits divided by ``temperature``; its log-probability is that at 1."""
        cumulative = self._cumulative_weights(temperature)
        point = random.random() * cumulative[-1]
        return self._chosen(min(int(np.searchsorted(cumulative, point, side="right")), len(cumulative) - 1))

    def _cumulative_weights(self, temperature: float) -> Array:
        if temperature not in self._cumulative:
            weights = self._weights if temperature == 1.0 else np.exp(self._shifted / temperature)
            self._cumulative[temperature] = np.cumsum(weights)
        return self._cumulative[temperature]

    def _chosen(self, token: int) -> Chosen:
        logprob = float(self._shifted[token]) - self._log_total
        return Chosen(token, logprob, self.entropy, self.margin, self.certainty)
