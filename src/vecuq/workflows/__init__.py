"""The whole jobs, paths in and paths out: fit, score, rank, report, demo, reproduce."""

from vecuq.workflows.fitting import Fitted, fit
from vecuq.workflows.ranking import Labels, Ranked, demo, evaluate_labels, rank, report
from vecuq.workflows.scoring import Scored, ranked_batch, score
from vecuq.workflows.studies import reproduce
from vecuq.workflows.watch import Watch

__all__ = [
    "Fitted",
    "Labels",
    "Ranked",
    "Scored",
    "Watch",
    "demo",
    "evaluate_labels",
    "fit",
    "rank",
    "ranked_batch",
    "report",
    "reproduce",
    "score",
]
