"""What a ranker returns for a table, and the choices that every scoring takes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypedDict

from vecuq._check import Array
from vecuq.conformal import Seed


@dataclass(frozen=True)
class Ranking:
    """What a ranker returns for a table: one number per row, its place in the reference, and its p-value."""

    uncertainty: Array  # (rows,), higher = more uncertain
    images: Array  # (rows, columns)
    p_values: Array | None  # (rows,), None when no rows were held back

    def _repr_html_(self) -> str:
        from vecuq._draw import fragment
        from vecuq.ranker.displays import ranking_section

        return fragment("", [ranking_section(self)])


class How(TypedDict, total=False):
    """The choices of :meth:`Ranker.rank`, which every method that scores rows takes as well."""

    missing: str
    ties: str
    random_state: Seed
    n_jobs: int | None
    warn: bool
