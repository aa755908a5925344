"""vecuq: many uncertainty scores, one order you can trust."""

from typing import TYPE_CHECKING, Any

from vecuq._version import __version__
from vecuq.errors import VecuqError, VecuqWarning
from vecuq.outputs import ClassifierOutputs, read_outputs
from vecuq.ranker import (
    Diagnostics,
    Ranker,
    Ranking,
    Settings,
    Sketch,
    fit_ranker,
    fit_stream,
    load,
    load_sketch,
    sketch,
)
from vecuq.reference import Ball, Beta, Exponential
from vecuq.table import ScoreTable, read_table

if TYPE_CHECKING:
    from vecuq.cascade import Cascade
    from vecuq.monitor import Monitor, load_monitor
    from vecuq.pipeline import VecUQPipeline, load_pipeline
    from vecuq.ranker.estimator import VecUQ

__all__ = [
    "Ball",
    "Beta",
    "Cascade",
    "ClassifierOutputs",
    "Diagnostics",
    "Exponential",
    "Monitor",
    "Ranker",
    "Ranking",
    "ScoreTable",
    "Settings",
    "Sketch",
    "VecUQ",
    "VecUQPipeline",
    "VecuqError",
    "VecuqWarning",
    "__version__",
    "fit_ranker",
    "fit_stream",
    "load",
    "load_monitor",
    "load_pipeline",
    "load_sketch",
    "read_outputs",
    "read_table",
    "sketch",
]


def __getattr__(name: str) -> Any:
    """Import the estimator, and scikit-learn with it, and the pipeline on first use."""
    if name == "VecUQ":
        from vecuq.ranker.estimator import VecUQ

        return VecUQ
    if name in ("VecUQPipeline", "load_pipeline"):
        from vecuq import pipeline

        return getattr(pipeline, name)
    if name in ("Monitor", "load_monitor"):
        from vecuq import monitor

        return getattr(monitor, name)
    if name == "Cascade":
        from vecuq.cascade import Cascade

        return Cascade
    raise AttributeError(f"module 'vecuq' has no attribute {name!r}")
