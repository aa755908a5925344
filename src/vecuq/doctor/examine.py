"""All checks, in the order in which they are made."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from vecuq.doctor.case import Case
from vecuq.doctor.columns import check_constant, check_direction, check_kind, check_noise, check_overlap
from vecuq.doctor.contamination import check_contamination
from vecuq.doctor.drift import check_drift, check_flagged, check_new_missing
from vecuq.doctor.files import check_files
from vecuq.doctor.finding import SEVERITIES, Finding
from vecuq.doctor.fitted import check_anchors, check_epsilon, check_fit, check_grid, check_monotone, check_resemblance
from vecuq.doctor.independence import check_clusters, check_copies, check_order, check_time
from vecuq.doctor.size import check_missing, check_size
from vecuq.doctor.spread import check_scale
from vecuq.ranker import Settings

Check = Callable[[Case], list[Finding]]

CHECKS: tuple[Check, ...] = (
    check_size,
    check_copies,
    check_clusters,
    check_order,
    check_time,
    check_missing,
    check_constant,
    check_overlap,
    check_noise,
    check_kind,
    check_direction,
    check_scale,
    check_contamination,
    check_fit,
    check_anchors,
    check_resemblance,
    check_epsilon,
    check_grid,
    check_monotone,
    check_files,
    check_new_missing,
    check_drift,
    check_flagged,
)


# They take every row for evidence of its own: where rows come in groups, they look at one row of each.
_OF_INDEPENDENT_ROWS: tuple[Check, ...] = (
    check_copies,
    check_clusters,
    check_order,
    check_time,
    check_contamination,
    check_drift,
    check_flagged,
)


def examine(
    calibration: Any, new: Any = None, *, settings: Settings | None = None, groups: Any = None
) -> tuple[Finding, ...]:
    """Check calibration rows before you trust them, and new rows for drift; the worst findings come first.

    Parameters
    ----------
    calibration
        In-distribution rows: a :class:`~vecuq.ScoreTable`, or anything that it can be made of.
    new
        New rows in the same columns, to be compared with calibration.
    settings
        The settings that the rows would be fitted with.
    groups
        The group of each calibration row, where rows come together; see :func:`vecuq.fit_ranker`.

    Examples
    --------
    >>> import numpy as np
    >>> rows = np.random.default_rng(0).gamma(2.0, size=(300, 3))
    >>> rows[:, 2] = -rows[:, 0]
    >>> examine(rows)[0].what
    "'x0' and 'x2' are mirror images (rank correlation -1.000): they cancel each other."
    """
    return examine_case(Case.of(calibration, new, settings, groups))


def examine_case(case: Case) -> tuple[Finding, ...]:
    """Make every check on a case."""
    checks = CHECKS if len(case.values) > 1 else (check_size, check_missing)
    found = [
        finding for check in checks for finding in check(case.independent if check in _OF_INDEPENDENT_ROWS else case)
    ]
    return tuple(sorted(found, key=lambda finding: -SEVERITIES.index(finding.severity)))
