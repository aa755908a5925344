"""A model on its way to the executors: the bytes of its file, and loaded once in each of their processes."""

from __future__ import annotations

from hashlib import sha256
from typing import Any, NamedTuple

from vecuq._load import load
from vecuq.errors import ModelFileError
from vecuq.gate import Gate
from vecuq.ranker import Ranker

# Models that a worker process keeps loaded; more are used one after the other.
_MOST = 4
_LOADED: dict[str, Any] = {}


class Shipped(NamedTuple):
    """A model as bytes, and what they are known by."""

    checksum: str
    content: bytes

    @staticmethod
    def of(model: Ranker | Gate) -> Shipped:
        """Return the model as its ``save`` would write it."""
        content = model.to_bytes()
        return Shipped(sha256(content).hexdigest(), content)


def loaded(shipped: Shipped) -> Any:
    """Return the model, loaded when this process first meets it."""
    if shipped.checksum not in _LOADED:
        if len(_LOADED) >= _MOST:
            _LOADED.pop(next(iter(_LOADED)))
        _LOADED[shipped.checksum] = load(shipped.content)
    return _LOADED[shipped.checksum]


def decider_in(model: Any) -> Ranker | Gate:
    """Return the ranker or gate that was given, fitted by an estimator, or saved at a path or as bytes."""
    found = load(model) if isinstance(model, str | bytes) or hasattr(model, "__fspath__") else model
    found = found if hasattr(found, "measure") else getattr(found, "ranker_", found)
    if not isinstance(found, Ranker | Gate):
        raise ModelFileError(
            f"A Ranker, a fitted VecUQ, a Gate or a saved one is needed here; got a {type(found).__name__}. A monitor "
            f"and a pipeline take rows that are collected."
        )
    return found
