"""Ranker: all it takes to rank new rows. Frozen, always fitted, row-wise and pure."""

from __future__ import annotations

import os
import warnings
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from vecuq._check import Array, finite_rows, in_range, whole_number
from vecuq.errors import CalibrationError, ColumnError, MissingValueWarning, SettingError, TableError
from vecuq.ranker.settings import Settings
from vecuq.scaling import Scaler
from vecuq.table import ScoreTable
from vecuq.transport import RankMap

__all__ = ["Diagnostics", "Ranker", "Ranking"]


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


@dataclass(frozen=True)
class Ranking:
    """What a ranker says of a table: one number per row, its place in the reference, and its p-value."""

    uncertainty: Array  # (rows,), higher = more uncertain
    images: Array  # (rows, columns)
    p_values: Array | None  # (rows,), None when no rows were held back


@dataclass(frozen=True, eq=False)
class Ranker:
    """All it takes to rank new rows, and nothing more.

    Made by :func:`vecuq.fit_ranker` or :class:`vecuq.VecUQ`, kept by :meth:`save`, found again by
    :func:`vecuq.load`. A row's numbers depend on that row alone, to the last bit.
    """

    columns: tuple[str, ...]
    named: bool
    flipped: frozenset[str]
    active: tuple[int, ...]
    scaler: Scaler
    rank_map: RankMap
    low: Array
    high: Array
    calibration: Array
    settings: Settings
    diagnostics: Diagnostics

    def uncertainty(self, data: Any) -> Array:
        """Return one number per row; higher is more uncertain, NaN where a value is missing."""
        return self.rank(data).uncertainty

    def transform(self, data: Any) -> Array:
        """Return the rank images, shape (rows, columns); 0 in columns that were constant in calibration."""
        return self.rank(data).images

    def p_values(self, data: Any) -> Array:
        """Return conformal p-values: for in-distribution rows, P(p <= alpha) <= alpha for every alpha.

        ``p = (1 + #{held-back scores >= score}) / (n + 1)``; ties count against the row, which keeps the bound.
        """
        self.need_held_back()
        return self._p_values(self.uncertainty(data))

    def threshold(self, alpha: float | None = None) -> float:
        """Return the score above which a row is flagged at false-alarm rate ``alpha``.

        An ``alpha`` that the held-back rows cannot deliver is refused. Without one, the rate of the settings is
        taken, or the smallest that can be delivered; with nothing held back the rows of the map stand in, and no
        rate is guaranteed.
        """
        n = len(self.calibration)
        if alpha is not None:
            self.need_held_back()
            in_range("alpha", alpha, 0.0, 1.0, ends="()")
            if alpha * (n + 1) < 1 - 1e-9:
                raise SettingError(
                    f"alpha={alpha:g} needs at least {int(np.ceil(1 / alpha - 1 - 1e-9)):,} held-back rows; "
                    f"this ranker has {n:,}, which allow alpha={1 / (n + 1):.4g} or more."
                )
        rate = self.settings.alpha if alpha is None else alpha
        above = int(np.floor(rate * (n + 1) + 1e-9)) - 1
        return float(self.calibration[n - 1 - min(max(above, 0), n - 1)])

    def rank(self, data: Any, *, n_jobs: int | None = None, warn: bool = True) -> Ranking:
        """Return score, rank image and p-value of every row.

        Many rows are shared among ``n_jobs`` threads, by default one per core. Rows with missing values are told in one
        warning, unless ``warn`` is False.
        """
        if n_jobs is not None:
            whole_number("n_jobs", n_jobs, 1)
        values = self.values_of(data)
        present = finite_rows(values)
        if present.all():
            images, score = self.rank_finite(values, n_jobs)
        else:
            if warn:
                self._warn_missing(values, present)
            images, score = np.full(values.shape, np.nan), np.full(len(values), np.nan)
            images[present], score[present] = self.rank_finite(values[present], n_jobs)
        return Ranking(score, images, self._p_values(score) if self.diagnostics.n_held else None)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the ranker to one file, whole or not at all."""
        from vecuq.ranker.artefact import save_ranker

        save_ranker(self, path)

    def values_of(self, data: Any) -> Array:
        """Return the score columns of ``data``, (rows, columns), in this ranker's order and direction."""
        if isinstance(data, ScoreTable):
            return self._values_of_table(data)
        if self.named and (hasattr(data, "columns") or hasattr(data, "column_names") or type(data) is dict):
            return ScoreTable.of(data, columns=self.columns, flip=self.flipped).values
        values = self._by_position(ScoreTable.of(data))
        return ScoreTable(self.columns, values).flip(self.flipped).values

    def _by_position(self, table: ScoreTable) -> Array:
        if len(table.columns) != len(self.columns):
            raise TableError(
                f"This ranker was fitted on {len(self.columns)} columns, {list(self.columns)}; "
                f"got {len(table.columns)}."
            )
        return table.values

    def _values_of_table(self, table: ScoreTable) -> Array:
        chosen = table.select(self.columns) if self.named else self._renamed(table)
        if chosen.flipped != self.flipped:
            wrong = sorted(chosen.flipped ^ self.flipped)
            raise ColumnError(
                f"The direction of {wrong} differs between calibration (flipped: {sorted(self.flipped)}) and these "
                f"rows (flipped: {sorted(chosen.flipped)}). Flip the same columns in both."
            )
        return chosen.values

    def _renamed(self, table: ScoreTable) -> ScoreTable:
        values, ours = self._by_position(table), dict(zip(table.columns, self.columns, strict=True))
        return ScoreTable(self.columns, values, flipped=frozenset(ours[name] for name in table.flipped))

    def rank_finite(self, values: Array, n_jobs: int | None = None) -> tuple[Array, Array]:
        """Return rank images and scores of rows that are known to be complete."""
        chosen = values if len(self.active) == len(self.columns) else values[:, self.active]
        scaled = self.scaler.transform(chosen)
        found = self.rank_map(scaled, n_jobs)
        if chosen is values:
            return found, self.score_scaled(scaled, found)
        images = np.zeros(values.shape)
        images[:, self.active] = found
        return images, self.score_scaled(scaled, images)

    def score_scaled(self, scaled: Array, images: Array) -> Array:
        """Return |R(z)| + overshoot * |distance beyond the calibration box|."""
        length = np.sqrt(_sum_of_squares(images))
        if self.settings.overshoot == 0:
            return np.asarray(length)
        beyond = np.maximum(scaled - self.high, 0.0)
        if self.scaler.signed:
            beyond = np.maximum(beyond, self.low - scaled)
        return np.asarray(length + self.settings.overshoot * _norm(beyond))

    def _p_values(self, score: Array) -> Array:
        n = len(self.calibration)
        at_least = n - np.searchsorted(self.calibration, score, side="left")
        return np.where(np.isnan(score), np.nan, (1.0 + at_least) / (n + 1.0))

    def need_held_back(self) -> None:
        """Raise if no rows were held back, for then there are no p-values."""
        if not self.diagnostics.n_held:
            raise CalibrationError(
                "p-values need calibration rows that the map has not seen, and this ranker was fitted with holdback=0, "
                "with too few rows, or from a sketch. Fit rows with holdback=0.5, say."
            )

    def _warn_missing(self, values: Array, present: Any) -> None:
        counts = (~np.isfinite(values)).sum(axis=0)
        told = ", ".join(f"{name!r}: {count:,}" for name, count in zip(self.columns, counts, strict=True) if count)
        warnings.warn(
            f"{int((~present).sum()):,} of {len(values):,} rows have missing or infinite scores ({told}); "
            f"their uncertainty is NaN.",
            MissingValueWarning,
            stacklevel=4,
        )


def _sum_of_squares(rows: Array) -> Array:
    """Add column by column: NumPy's own row sums round differently for one row than for many."""
    total = np.zeros(len(rows))
    for k in range(rows.shape[1]):
        total += rows[:, k] ** 2
    return total


def _norm(rows: Array) -> Array:
    """Euclidean length of each row, without overflow; the scale is a power of two, so that no digit is lost."""
    exponent = np.frexp(rows.max(axis=1, keepdims=True))[1]
    return np.asarray(np.ldexp(np.sqrt(_sum_of_squares(np.ldexp(rows, -exponent))), exponent[:, 0]))
