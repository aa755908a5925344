"""A model's results kept in memory by content, so that it is asked about nothing twice."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from vecuq._check import Array
from vecuq.compare.checked import floats
from vecuq.compare.supplied import name_of
from vecuq.errors import TableError

_MOST_IN_MEMORY = 20_000


class Remembered:
    """Asks a model about each item once.

    Parameters
    ----------
    model
        A function of a list of items: texts, pairs of texts, or a question with two answers. It may have a ``name``;
        one without is known by its Python name.

    Examples
    --------
    >>> lengths = Remembered(lambda texts: [[len(text)] for text in texts])
    >>> lengths(["one", "three", "one"]).tolist(), lengths(["three"]).tolist(), lengths.n_asked
    ([[3.0], [5.0], [3.0]], [[5.0]], 2)
    """

    def __init__(self, model: Callable[..., Any]) -> None:
        self.model, self.name = model, name_of(model)
        self.n_asked = 0
        self._memory: dict[Any, list[float] | float] = {}

    def __call__(self, items: Sequence[Any]) -> Array:
        """Return one number, or one row of numbers, per item; only new items reach the model."""
        keys = [item if isinstance(item, str) else tuple(item) for item in items]
        found = {key: self._memory[key] for key in keys if key in self._memory}
        new = {key: item for key, item in zip(keys, items, strict=True) if key not in found}
        if new:
            found |= self._asked(new)
        return _together([found[key] for key in keys], self.name)

    def _asked(self, new: dict[Any, Any]) -> dict[Any, Any]:
        results = floats(self.model(list(new.values())))
        if results.ndim not in (1, 2) or len(results) != len(new):
            raise TableError(
                f"{self.name} must return one result per item: {len(new)} were needed, it returned {results.shape}."
            )
        self.n_asked += len(new)
        found = dict(zip(new, results.tolist(), strict=True))
        if len(self._memory) > _MOST_IN_MEMORY:
            self._memory.clear()
        self._memory |= found
        return found

    def __getstate__(self) -> dict[str, Any]:
        return {**vars(self), "_memory": {}}


def _together(results: list[Any], name: str) -> Array:
    """Return results as one array; those of two calls may differ in length."""
    lengths = {len(one) if isinstance(one, list) else 0 for one in results}
    if len(lengths) > 1:
        raise TableError(f"{name} must return rows of one length; it returned {sorted(lengths)} numbers.")
    return np.array(results, dtype=float)
