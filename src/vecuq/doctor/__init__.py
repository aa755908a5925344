"""Is the calibration set any good? One check per question, one finding per answer."""

from vecuq.doctor.case import Case
from vecuq.doctor.examine import CHECKS, examine, examine_case
from vecuq.doctor.finding import SEVERITIES, Finding

__all__ = ["CHECKS", "SEVERITIES", "Case", "Finding", "examine", "examine_case"]
