"""A model's results kept by content: in memory, and in a file if one is named, so that a second run costs nothing."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from vecuq._check import Array
from vecuq.compare.checked import floats
from vecuq.compare.store import Store
from vecuq.compare.supplied import name_of
from vecuq.errors import TableError

# What a model may be asked about: a text, a pair of texts, or a question with two answers.
Item = str | tuple[str, ...]
_MOST_IN_MEMORY = 20_000


class Model(Protocol):
    """What is asked: a function of a list of items, with a name for people and an identity for the cache."""

    @property
    def name(self) -> str:
        """Mentions the model in messages and files."""

    @property
    def identity(self) -> str:
        """Changes whenever the same items might get other results."""

    def __call__(self, items: Sequence[Any]) -> Any:
        """Return one number, or one row of numbers, per item."""


class Remembered:
    """Asks a model about each item once.

    Parameters
    ----------
    model
        A function of a list of items that has a ``name`` and an ``identity``; one without is known by its Python name.
    cache
        File (SQLite) that keeps the results; made if it does not exist. None keeps them in memory only.

    Examples
    --------
    >>> lengths = Remembered(lambda texts: [[len(text)] for text in texts])
    >>> lengths(["one", "three", "one"]).tolist(), lengths(["three"]).tolist(), lengths.n_asked
    ([[3.0], [5.0], [3.0]], [[5.0]], 2)
    """

    def __init__(self, model: Model | Callable[..., Any], cache: str | Path | None = None) -> None:
        self.model, self.name = model, name_of(model)
        self.n_asked = 0
        self._store = None if cache is None else Store(cache)
        self._memory: dict[bytes, list[float] | float] = {}

    def __call__(self, items: Sequence[Any]) -> Array:
        """Return one number, or one row of numbers, per item; only new items reach the model."""
        identity = getattr(self.model, "identity", self.name)
        keys = [_key(identity, item) for item in items]
        found = self._known(keys)
        new = {key: item for key, item in zip(keys, items, strict=True) if key not in found}
        if new:
            found |= self._asked(new)
        return _together([found[key] for key in keys], self.name)

    def _known(self, keys: Sequence[bytes]) -> dict[bytes, Any]:
        found = {key: self._memory[key] for key in keys if key in self._memory}
        rest = [key for key in dict.fromkeys(keys) if key not in found]
        return found if self._store is None or not rest else found | self._store.get(rest)

    def _asked(self, new: dict[bytes, Any]) -> dict[bytes, Any]:
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
        if self._store is not None:
            self._store.put(found)
        return found

    def __getstate__(self) -> dict[str, Any]:
        return {**vars(self), "_memory": {}}


def _together(results: list[Any], name: str) -> Array:
    """Return results as one array; those that were kept may come from a file of somebody else."""
    if len({len(one) if isinstance(one, list) else 0 for one in results}) > 1:
        raise TableError(f"The results kept for {name} differ in length; delete the cache, they are computed again.")
    return np.array(results, dtype=float)


def _key(identity: str, item: Item) -> bytes:
    """Return the digest of a model's identity and of what it is asked."""
    return hashlib.sha256(json.dumps([identity, item]).encode()).digest()
