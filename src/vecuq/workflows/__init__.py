"""The whole jobs, paths in and paths out: from `measure` and `fit` to `monitor` and `reproduce`."""

from vecuq.workflows.evaluating import (
    Compared,
    Labels,
    compare,
    curves_ending,
    ending_of,
    evaluate,
    write_evaluation,
    write_sheets,
)
from vecuq.workflows.examining import Examined, doctor
from vecuq.workflows.fitting import Fitted, fit
from vecuq.workflows.measuring import DEFAULT_MEASURES, Measured, measure
from vecuq.workflows.measuring_answers import MeasuredAnswers, WantedOfAnswers, is_answers, measure_answers
from vecuq.workflows.monitoring import Monitored, monitor
from vecuq.workflows.ranking import Ranked, demo, evaluate_labels, rank, report
from vecuq.workflows.scoring import Scored, ranked_batch, score
from vecuq.workflows.studies import STUDY_NAMES, reproduce
from vecuq.workflows.watch import Watch

__all__ = [
    "DEFAULT_MEASURES",
    "STUDY_NAMES",
    "Compared",
    "Examined",
    "Fitted",
    "Labels",
    "Measured",
    "MeasuredAnswers",
    "Monitored",
    "Ranked",
    "Scored",
    "WantedOfAnswers",
    "Watch",
    "compare",
    "curves_ending",
    "demo",
    "doctor",
    "ending_of",
    "evaluate",
    "evaluate_labels",
    "fit",
    "is_answers",
    "measure",
    "measure_answers",
    "monitor",
    "rank",
    "ranked_batch",
    "report",
    "reproduce",
    "score",
    "write_evaluation",
    "write_sheets",
]
