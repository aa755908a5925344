"""One ``load`` for everything that was saved."""

from __future__ import annotations

from functools import partial
from importlib import import_module
from typing import Any

import numpy as np

from vecuq._check import one_line
from vecuq._files import Source, place_of, read_tensors
from vecuq._removed import KINDS
from vecuq.errors import ModelFileError, SettingError

# What a file holds, and which room puts it together again.
_READERS = {
    "model": ("vecuq.ranker", "ranker_of"),
    "partial": ("vecuq.ranker", "partial_of"),
    "pipeline": ("vecuq.pipeline", "pipeline_of"),
    "answer_pipeline": ("vecuq.pipeline", "answers_of"),
    "estimator_pipeline": ("vecuq.pipeline", "estimator_of"),
    "monitor": ("vecuq.monitor", "monitor_of"),
    "gate": ("vecuq.gate", "gate_of"),
    "live": ("vecuq.gate", "live_of"),
    "conformal": ("vecuq.baselines", "conformal_of"),
    "cross": ("vecuq.ranker", "cross_of"),
}

_REMEDIES = {
    "model": "Fit it again.",
    "partial": "Gather the rows again.",
    "pipeline": "Fit it again.",
    "answer_pipeline": "Fit it again.",
    "estimator_pipeline": "Fit it again.",
    "monitor": "Start again with another state file.",
    "gate": "Fit it again.",
    "live": "Start again with another state file.",
    "conformal": "Fit it again.",
    "cross": "Fit it again.",
}

# What a pipeline of answers may compare texts with, and a file only names.
_SUPPLIED = ("embed", "nli", "judge", "similarity", "lexical")


# What may hold a pipeline whose classifier a file cannot hold.
_WITH_CLASSIFIER = ("estimator_pipeline", "gate", "live")


def load(source: Source, *, ranker: Any = None, estimator: Any = None, **supplied: Any) -> Any:
    """Read what was saved: a model, pipeline, gate, live gate, monitor, Conformal or partial fit.

    Anything else is refused. Nothing that a file names is run or called.

    Parameters
    ----------
    source
        A path, or the bytes that ``to_bytes`` gave.
    ranker
        For a monitor: the model that it must belong to. A state saved by vecuq 0.1.0, which kept no model, needs it.
    estimator
        For an :class:`vecuq.EstimatorPipeline`, or a gate of one: its classifier, which no file holds. Without it the
        pipeline describes itself, and cannot measure rows; another classifier is refused.
    supplied
        For a pipeline of answers that compares texts by a model: what it compares them with, ``embed=``, ``nli=`` or
        ``judge=``, or a function as ``similarity=`` or ``lexical=``, as
        :class:`vecuq.measures.text.TextSettings` takes it. A file only names these.

    Examples
    --------
    >>> import numpy as np
    >>> from vecuq import VecUQ
    >>> model = VecUQ().fit(np.random.default_rng(0).gamma(1.0, size=(400, 2)))
    >>> load(model.to_bytes()).predict([[0.5, 0.5], [30.0, 0.5]])
    array([ 1, -1])
    """
    header, arrays = read_tensors(source)
    place, kind = place_of(source), header["kind"]
    if kind in KINDS:
        raise ModelFileError(f"{place} is of the kind {kind!r}, which this version no longer reads: {KINDS[kind]}")
    if kind not in _READERS:
        shown = one_line(repr(kind), most=40)
        raise ModelFileError(f"{place} holds a {shown}, which vecuq cannot load. It loads {', '.join(_READERS)}.")
    _refuse_supplied(supplied, kind)
    if estimator is not None and kind not in _WITH_CLASSIFIER:
        raise SettingError(f"estimator= is for a pipeline around a classifier, or a gate of one; this is a {kind}.")
    room, name = _READERS[kind]
    put_together = getattr(import_module(room), name)
    try:
        with np.errstate(all="ignore"):  # numbers that make no sense overflow before they are refused
            # A gate holds its model as it would be saved, and a live gate its gate.
            holders = dict.fromkeys(("gate", "live"), (partial(load, estimator=estimator),))
            inside = {**holders, "answer_pipeline": (load, supplied), "estimator_pipeline": (estimator,)}
            more = {"monitor": (ranker,), **inside}.get(kind, ())
            return put_together(header, arrays, *more)
    except ModelFileError as error:
        raise ModelFileError(f"{place} cannot be loaded. {one_line(error, most=300)}") from None
    except KeyError as error:
        reason = f"{error} is absent"
    except (TypeError, IndexError, ValueError, OverflowError) as error:
        reason = one_line(error, most=300).rstrip(".")
    raise ModelFileError(f"{place} was altered or damaged: {reason}. {_REMEDIES[kind]}")


def _refuse_supplied(supplied: dict[str, Any], kind: str) -> None:
    """Raise for arguments that nothing saved takes, or not this kind."""
    unknown = [name for name in supplied if name not in _SUPPLIED]
    if unknown:
        raise TypeError(f"load() got an unexpected keyword argument {unknown[0]!r}")
    if supplied and kind != "answer_pipeline":
        raise SettingError(f"{next(iter(supplied))}= is for a pipeline of answers; this file holds a {kind}.")
