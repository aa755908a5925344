"""How a fit went, in plain values."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True)
class Diagnostics:
    """How the fit went."""

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
    # Share of sampled bumps of one column that lowered the score; None where order is centre-outward.
    monotone_violations: float | None

    def to_dict(self) -> dict[str, Any]:
        """Return plain values."""
        return {**asdict(self), "constant_columns": list(self.constant_columns)}
