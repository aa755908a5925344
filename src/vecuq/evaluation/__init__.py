"""How good an uncertainty is: metrics with intervals, and the curves behind them; never drawings."""

from typing import TYPE_CHECKING

from vecuq.evaluation.auc_interval import roc_auc_interval
from vecuq.evaluation.bands import Band, kept_band
from vecuq.evaluation.bootstrap import Bootstrap, Estimate
from vecuq.evaluation.calibration import (
    Calibration,
    Reliability,
    brier_score,
    calibration,
    expected_calibration_error,
    reliability_curve,
)
from vecuq.evaluation.comparison import MethodComparison, compare, estimate
from vecuq.evaluation.curves import BEST, CHANCE, SelectiveCurves, curve_bands, selective_curves
from vecuq.evaluation.detection import average_precision, fpr_at_tpr, roc_auc
from vecuq.evaluation.displays import evaluation_section
from vecuq.evaluation.generation import (
    PredictionRejection,
    prediction_rejection_area,
    prediction_rejection_curve,
    prediction_rejection_ratio,
)
from vecuq.evaluation.pareto import Record, average_rank, pareto_share, ranks, regret, wins_and_losses
from vecuq.evaluation.registry import METRICS, TASKS, Metric, find_metrics, rejection_ratio
from vecuq.evaluation.results import Evaluation, evaluate
from vecuq.evaluation.selective import (
    RiskCoverage,
    accuracy_coverage_area,
    aurc,
    coverage_at_error,
    excess_aurc,
    risk_coverage_curve,
)
from vecuq.evaluation.shares import share_interval
from vecuq.evaluation.sheets import comparison_sheet, task_sheets
from vecuq.evaluation.upside_down import below_chance, best_upside_down, inverted_labels
from vecuq.evaluation.verdicts import Verdict, verdicts

__all__ = [
    "BEST",
    "CHANCE",
    "METRICS",
    "TASKS",
    "Band",
    "Bootstrap",
    "Calibration",
    "Estimate",
    "Evaluation",
    "MethodComparison",
    "Metric",
    "PredictionRejection",
    "Record",
    "Reliability",
    "RiskCoverage",
    "SelectiveCurves",
    "Verdict",
    "accuracy_coverage_area",
    "aurc",
    "average_precision",
    "average_rank",
    "below_chance",
    "best_upside_down",
    "brier_score",
    "calibration",
    "compare",
    "comparison_sheet",
    "coverage_at_error",
    "curve_bands",
    "estimate",
    "evaluate",
    "evaluation_section",
    "excess_aurc",
    "expected_calibration_error",
    "find_metrics",
    "fpr_at_tpr",
    "inverted_labels",
    "kept_band",
    "pareto_share",
    "prediction_rejection_area",
    "prediction_rejection_curve",
    "prediction_rejection_ratio",
    "ranks",
    "regret",
    "rejection_ratio",
    "reliability_curve",
    "risk_coverage_curve",
    "roc_auc",
    "roc_auc_interval",
    "selective_curves",
    "share_interval",
    "task_sheets",
    "verdicts",
    "wins_and_losses",
]

if not TYPE_CHECKING:

    def __getattr__(name: str) -> object:
        from vecuq._removed import absent

        raise absent(__name__, name)
