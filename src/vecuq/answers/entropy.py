"""Entropies over the likeliest tokens alone, which is all that most servers tell."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any


def truncated_entropy(logprobs: Sequence[float], *, renormalise: bool = False) -> float:
    """Return the entropy of the likeliest tokens alone, as they are or made to sum to 1; at least 0, NaN for none.

    As they are, it is a lower bound of the entropy over the whole vocabulary.

    Examples
    --------
    >>> round(truncated_entropy([math.log(0.5), math.log(0.25)]), 4)
    0.6931
    >>> round(truncated_entropy([math.log(0.5), math.log(0.25)], renormalise=True), 4)
    0.6365
    """
    if not logprobs:
        return math.nan
    entropy = -math.fsum(math.exp(logprob) * logprob for logprob in logprobs)
    mass = math.fsum(map(math.exp, logprobs))
    return max(0.0, entropy / mass + math.log(mass) if renormalise and mass > 0 else entropy)


def entropies_of_top(tops: Sequence[Sequence[float]], n_tokens: int, renormalise: bool) -> dict[str, Any]:
    """Return the entropies over as many of the likeliest tokens as every step tells; none if one step tells none."""
    k = min(map(len, tops), default=0)
    if k < 2 or len(tops) != n_tokens:
        return {}
    likeliest = [sorted(top, reverse=True)[:k] for top in tops]
    values = tuple(round(truncated_entropy(top, renormalise=renormalise), 6) for top in likeliest)
    return {"entropies": values, "entropy_top_k": k, "entropy_renormalised": renormalise}
