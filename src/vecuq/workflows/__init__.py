"""The whole jobs, paths in and paths out: measure, fit, score, rank, report, demo, reproduce."""

from vecuq.workflows.fitting import Fitted, fit
from vecuq.workflows.measuring import DEFAULT_MEASURES, Measured, measure
from vecuq.workflows.ranking import Labels, Ranked, demo, evaluate_labels, rank, report
from vecuq.workflows.scoring import Scored, ranked_batch, score
from vecuq.workflows.studies import reproduce
from vecuq.workflows.watch import Watch

__all__ = [
    "DEFAULT_MEASURES",
    "Fitted",
    "Labels",
    "Measured",
    "Ranked",
    "Scored",
    "Watch",
    "demo",
    "evaluate_labels",
    "fit",
    "measure",
    "rank",
    "ranked_batch",
    "report",
    "reproduce",
    "score",
]
