"""One map, or two levels of maps: from scaled calibration rows to a rank map and how its fit went."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from vecuq._check import Array
from vecuq._run import one_blas_thread
from vecuq.conformal import draw_rows
from vecuq.errors import CalibrationError, SettingError
from vecuq.ranker.column_groups import ColumnGroups
from vecuq.ranker.forecast import Progress
from vecuq.ranker.judge import judge_plan
from vecuq.ranker.rows import MapRows
from vecuq.ranker.settings import MOST_TARGETS, Settings
from vecuq.ranker.solve import Problem, solve_transport
from vecuq.transport import (
    MAX_COLUMNS,
    Beta,
    Cloud,
    Corners,
    FirstLevel,
    Grid,
    GroupedMap,
    Nodes,
    OneMap,
    Potentials,
    Reference,
    alike_groups,
    authors_targets,
    auto_targets,
    check_targets,
    most_in_group,
    outer_anchors,
    rank_map,
    shared_mass,
)

# Correlations of more rows say nothing new about which columns are alike.
_MOST_ROWS = 5_000


@dataclass(frozen=True)
class Plan:
    """One solved transport problem, and the map that follows from it."""

    solver: str
    solved: Potentials
    targets: Grid | Cloud
    corners: Corners | None
    rank_map: OneMap

    @property
    def n_anchors(self) -> int:
        """How many outer anchors share the mass with the rows."""
        return _count(self.corners)

    @property
    def anchor_mass(self) -> float:
        """The share of the mass that they carry."""
        return 0.0 if self.corners is None else self.corners.mass


@dataclass(frozen=True)
class ScaledRows:
    """Calibration rows of some columns in scaled scores, or a sketch of them, and the box that holds them all."""

    count: int  # of all rows; those at hand may be a sample of them
    low: Array
    high: Array
    rows: Array | None

    def select(self, columns: tuple[int, ...]) -> ScaledRows:
        """Return the same rows with some columns only."""
        rows = None if self.rows is None else np.ascontiguousarray(self.rows[:, columns])
        return ScaledRows(self.count, self.low[list(columns)], self.high[list(columns)], rows)


def fit_one(
    known: ScaledRows, reference: Reference, settings: Settings, progress: Progress | None, nodes: Nodes | None = None
) -> Plan:
    """Fit one map to all columns at once; without rows, to the nodes of a sketch, whose rows have mass 1 in total."""
    corners = outer_anchors(known.low, known.high, float(settings.anchors), signed=reference.signed)
    row_weight, corners = shared_mass(known.count, corners, settings.anchor_mass)
    n_rows = known.count if known.rows is None else len(known.rows)
    targets = reference_targets(reference, settings, n_rows, corners, len(known.low))
    if nodes is not None:
        nodes = replace(nodes, weights=nodes.weights * row_weight)
    row_weight *= known.count / n_rows  # a row of a sample stands for several
    problem = Problem(known.rows, nodes, known.count, known.low, known.high, row_weight, corners, targets)
    with one_blas_thread():
        solver, solved = solve_transport(problem, settings, progress)
    box = (known.low, known.high)
    return Plan(solver, solved, targets, corners, rank_map(targets, solved.log_v, settings.epsilon, box=box))


def fit_grouped(
    known: ScaledRows,
    groups: tuple[tuple[int, ...], ...],
    reference: Reference,
    settings: Settings,
    progress: Progress | None,
    weights: Array | None,
) -> tuple[GroupedMap, list[Plan]]:
    """Fit a map to each group of columns, and one more to the levels of the groups."""
    if known.rows is None:
        raise SettingError("Groups of columns are ranked from rows, and a sketch keeps none. Fit the rows themselves.")
    plans = [fit_one(known.select(group), reference, settings, progress) for group in groups]
    maps = tuple(plan.rank_map for plan in plans)
    first = FirstLevel(groups, maps, known.low, known.high, weights, reference.signed)
    with one_blas_thread():
        levels = first(known.rows)[1]
    if not np.isfinite(levels).all():
        raise CalibrationError(
            "The reference gives both ends of a group of columns the same rank. Use reference='beta'."
        )
    # A length is never negative, so that the law of the second level must not be signed.
    law = Beta() if reference.signed else reference
    box = np.minimum(levels.min(axis=0), 0.0), np.maximum(levels.max(axis=0), first.high_levels)
    plans.append(fit_one(ScaledRows(known.count, *box, levels), law, settings, progress))
    return GroupedMap(first, plans[-1].rank_map, *box), plans


def groups_of(known: MapRows, active: list[int], settings: Settings) -> ColumnGroups | None:
    """Return the groups in which the active columns are ranked: as given, or as correlations suggest if many."""
    most_in_group(len(active))  # refuses too many
    names = [known.columns[k] for k in active]
    given = ColumnGroups.of(settings.column_groups)
    if given is not None:
        given.check_columns(known.columns)
        return given.only(names)
    if len(active) <= MAX_COLUMNS:
        return None
    if known.rows is None:
        raise SettingError(f"{len(active)} columns are ranked in groups, which needs rows. Fit the rows themselves.")
    drawn = draw_rows(len(known.rows), min(_MOST_ROWS, len(known.rows)), settings.random_state or 0)
    found = alike_groups(known.rows[drawn][:, active])
    return ColumnGroups.of([[names[k] for k in group] for group in found])


def judge_plans(plans: list[Plan], settings: Settings, n_rows: int) -> None:
    """Refuse or doubt the worst of the plans; warn of the heaviest anchors."""
    worst = max(plans, key=lambda plan: plan.solved.marginal_error)
    judge_plan(worst.solved, settings, n_rows, max(plans, key=lambda plan: plan.anchor_mass).corners)


def reference_targets(
    reference: Reference, settings: Settings, n_rows: int, corners: Corners | None, n_columns: int
) -> Grid | Cloud:
    """Return the reference's points, as many as the settings ask for."""
    if settings.n_targets == "auto" and settings.grid == "midpoint":
        wanted = auto_targets(n_columns, settings.epsilon)
    elif isinstance(settings.n_targets, str):
        wanted = n_rows + _count(corners)
        if wanted > MOST_TARGETS:
            raise SettingError(
                f"n_targets='rows' means {wanted:,} reference points here, and {MOST_TARGETS:,} is the most. "
                f"Give their number."
            )
    else:
        wanted = settings.n_targets
    if settings.grid == "authors":
        return authors_targets(reference, n_columns, wanted)
    return check_targets(reference.targets(n_columns, wanted), n_columns)


def _count(corners: Corners | None) -> int:
    return 0 if corners is None else int(np.count_nonzero(corners.weights))
