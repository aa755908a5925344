"""How a fit went, in plain values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from vecuq.ranker.column_groups import ColumnGroups


@dataclass(frozen=True)
class Diagnostics:
    """How the fit went.

    Attributes
    ----------
    solver
        The solver that was used.
    converged
        Whether the transport plan reached its tolerance.
    marginal_error
        How far the plan's margins are from what they should be.
    sweeps
        How many sweeps the solver took.
    n_map
        Calibration rows that the map was fitted on.
    n_held
        Calibration rows held back for p-values and the threshold.
    n_targets
        Reference points in use.
    n_anchors
        Outer anchors added beyond the calibration rows.
    anchor_mass
        Share of the mass that the anchors carry.
    constant_columns
        Columns left out because they did not vary in calibration.
    monotone_violations
        Share of trial steps at which raising a column lowered the score; None where that does not apply.
    held_by
        How the held-back rows were chosen: ``"draw"``, at random from all rows; ``"place"`` or ``"id"``, by a seeded
        hash of each row's number or id.
    n_sampled
        How many rows, drawn at random, stood for those of the map; None if all of them did.
    column_groups
        In which groups the columns are ranked before the groups are; None where one map holds all columns.
    """

    solver: str
    converged: bool
    marginal_error: float
    sweeps: int
    n_map: int
    n_held: int
    n_targets: int
    n_anchors: int
    anchor_mass: float
    constant_columns: tuple[str, ...]
    monotone_violations: float | None
    held_by: str = "draw"
    n_sampled: int | None = None
    column_groups: ColumnGroups | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return plain values; samples, groups of columns and how rows were held back only where it is not as usual."""
        values = {name: getattr(self, name) for name in self.__dataclass_fields__}
        values["constant_columns"] = list(self.constant_columns)
        if self.column_groups is not None:
            values["column_groups"] = self.column_groups.to_dict()
        usual = {"held_by": "draw", "n_sampled": None, "column_groups": None}
        return {name: value for name, value in values.items() if name not in usual or value != usual[name]}
