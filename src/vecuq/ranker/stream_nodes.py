"""Whether a sketch serves for some settings, and how many nodes it needs."""

from __future__ import annotations

import numpy as np

from vecuq.ranker.settings import Settings
from vecuq.ranker.solve import MOST_NODES
from vecuq.transport import MAX_COLUMNS, Grid, auto_targets, named_reference, nodes_needed


def stream_nodes(settings: Settings, n_columns: int) -> int | None:
    """Return how many nodes per column a sketch for these settings needs; None if no sketch will do."""
    if settings.scaling not in ("featurewise", "global") or settings.grid == "authors" or n_columns > MAX_COLUMNS:
        return None
    if settings.solver not in ("auto", "sketch") or settings.column_groups is not None:
        return None
    reference = named_reference(settings.reference)
    targets = reference.targets(n_columns, auto_targets(n_columns, settings.epsilon))
    if not isinstance(targets, Grid) or not targets.is_full:
        return None
    width = max(float(axis[-1] - axis[0]) for axis in targets.axes)
    evenly = all(np.ptp(np.diff(axis)) < 1e-9 for axis in targets.axes)
    q = nodes_needed(width / settings.epsilon) + (0 if evenly else 3)  # other laws have steeper maps
    return q if q**n_columns <= MOST_NODES else None
