"""Which rankers can be exported, and a clear word about the others."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from vecuq.conformal import around
from vecuq.errors import SettingError
from vecuq.transport import CloudMap, GridMap, GridParts, grid_parts

if TYPE_CHECKING:
    from vecuq.ranker.ranker import Ranker


def exportable(ranker: Ranker) -> GridParts:
    """Return what the map of a ranker is made of; raise for one that only vecuq itself can score with."""
    if ranker.settings.holdback == "cross":
        raise SettingError(
            "A model with holdback='cross' has five maps, and cannot be exported. Fit a share, such as holdback=0.5."
        )
    if isinstance(ranker.rank_map, CloudMap):
        raise SettingError(
            "The reference points of this model are not a full grid (the ball, or grid='authors'), and only a full "
            "grid can be exported. Fit with reference='beta' and grid='midpoint'."
        )
    if type(ranker.rank_map) is not GridMap:
        raise SettingError(
            "A model that ranks its columns in groups has several maps, and cannot be exported. Fit at most ten "
            "columns, without column_groups."
        )
    return grid_parts(ranker.rank_map)


def tie_factor() -> float:
    """Return by what a score is multiplied before the held-back scores from there on are counted; no score is below 0.

    Examples
    --------
    >>> tie_factor()
    0.999999999
    """
    return float(around(np.ones(1))[0][0])
