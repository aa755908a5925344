"""Can the calibration rows be trusted? One check per question, one finding per answer."""

from vecuq.doctor.case import Case
from vecuq.doctor.examine import CHECKS, examine, examine_case
from vecuq.doctor.finding import SEVERITIES, Finding
from vecuq.doctor.rates import Dependence, Expected
from vecuq.doctor.statistics import chance_of_as_many, plain_sum, rank_correlation, rank_correlations

__all__ = [
    "CHECKS",
    "SEVERITIES",
    "Case",
    "Dependence",
    "Expected",
    "Finding",
    "chance_of_as_many",
    "examine",
    "examine_case",
    "plain_sum",
    "rank_correlation",
    "rank_correlations",
]
