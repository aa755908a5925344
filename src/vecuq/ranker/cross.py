"""CrossRanker: a map of all rows for the order, and five maps that each leave out a fifth, for the p-values."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from typing import Any, Unpack

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from vecuq._check import Array
from vecuq._files import checked_header, tensor_bytes, under, write_tensors
from vecuq.conformal import cross_p_values, deliverable, flagged, group_codes, none_selected_of
from vecuq.errors import CalibrationError, SettingError
from vecuq.ranker.artefact import parts_of, ranker_of
from vecuq.ranker.ranker import Ranker
from vecuq.ranker.ranking import How, Ranking

N_FOLDS = 5
_BY_THRESHOLD = ("thresholds", "false-alarm rates")


@dataclass(frozen=True, eq=False, repr=False)
class CrossRanker(Ranker):
    """A ranker whose p-values come from all calibration rows, each by a map that has not seen it.

    Made by ``holdback="cross"``, for fewer than about 200 rows. The order is that of a map of all rows. Decisions are
    made by p-values: there is no one threshold on the uncertainty.

    *Promise*: P(p <= alpha) is at most about 2 alpha, and near alpha in simulations; see
    :func:`vecuq.conformal.cross_p_values`.

    Attributes
    ----------
    folds
        Rankers that each hold back another part of the rows.
    """

    folds: tuple[Ranker, ...] = ()

    @staticmethod
    def of(whole: Ranker, folds: tuple[Ranker, ...]) -> CrossRanker:
        """Put the map of all rows and the maps of the folds together."""
        settings = replace(whole.settings, holdback="cross")
        return CrossRanker(**{**_fields(whole), "settings": settings}, folds=folds)

    @property
    def n_units(self) -> int:
        """How many rows, or groups, the p-values count."""
        return sum(fold.held.count for fold in self.folds)

    def rank(self, data: Any, **how: Any) -> Ranking:
        """Return score and rank image by the map of all rows, and the p-value by those of the folds."""
        if how.get("ties", "conservative") != "conservative" or how.get("missing") == "marginal":
            raise SettingError(
                "holdback='cross' takes ties='conservative' and complete rows only. Fit with holdback=0.5 for others."
            )
        ranking = super().rank(data, **how)
        quietly = {**how, "warn": False}
        found = [np.asarray(fold.rank(data, **quietly).p_values) for fold in self.folds]
        return replace(ranking, p_values=cross_p_values(found, [fold.held.count for fold in self.folds]))

    @property
    def has_p_values(self) -> bool:
        """True: every row is held back once."""
        return True

    def rate_of(self, alpha: float | None = None, *, method: str = "none", n_rows: int = 1) -> float:
        """Return the rate that decisions are made at, by default that of the settings; refuse what cannot be had."""
        wanted = self.settings.alpha if alpha is None else alpha
        return deliverable(wanted, self.n_units, method=method, n_rows=n_rows, unit=self.folds[0].held.unit)

    def flag_rate(self, alpha: float | None = None, *, confidence: float | None = None, **how: Unpack[How]) -> float:
        """Return the p-value up to which :meth:`flag` flags."""
        if confidence is not None:
            raise SettingError("holdback='cross' promises no confidence. Fit with holdback=0.5 for it.")
        return self.rate_of(alpha)

    def threshold(self, alpha: float | None = None, *, confidence: float | None = None) -> float:
        """Refuse: five maps have five thresholds."""
        raise SettingError(
            "holdback='cross' has p-values from several maps, and no one threshold on the uncertainty. Use flag or "
            "p_values, or fit with holdback=0.5."
        )

    @property
    def offset(self) -> float:
        """NaN: there is no one threshold."""
        return float("nan")

    def decision_function(self, data: Any, **how: Unpack[How]) -> Array:
        """Refuse: there is no one threshold."""
        return np.full(0, self.threshold())

    def predict(self, data: Any, **how: Unpack[How]) -> NDArray[np.int_]:
        """Return +1 for inliers and -1 for outliers by p-values; a row without a score is an error."""
        return np.where(flagged(np.asarray(self.rank_scored(data, **how).p_values), self.settings.alpha), -1, 1)

    def why_none_selected(self, rate: float, *, method: str, n_rows: int) -> str:
        """Return why no row is selected if so few calibration rows are the reason."""
        return none_selected_of(self.n_units, self.folds[0].held.unit, rate, n_rows, method)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write all maps to one file, whole or not at all."""
        write_tensors(path, *cross_parts_of(self))

    def to_bytes(self) -> bytes:
        """Return what :meth:`save` would write."""
        return tensor_bytes(*cross_parts_of(self))

    def describe(self) -> dict[str, Any]:
        """Return what the map of all rows says of itself, and how many folds there are."""
        rows = {"map": self.diagnostics.n_map, "held back once": sum(len(fold.kept.held) for fold in self.folds)}
        said = {name: value for name, value in super().describe().items() if name not in _BY_THRESHOLD}
        return {**said, "rows": rows, "folds": len(self.folds)}

    def __repr__(self) -> str:
        return super().__repr__().replace("0 held back)", f"each held back once in {len(self.folds)} folds)")


class CrossHeader(Struct):
    """What the header of a saved CrossRanker states: the headers of its models."""

    whole: dict[str, Any]
    folds: tuple[dict[str, Any], ...]


def fold_codes(n_rows: int, groups: Any, seed: int) -> NDArray[np.int64]:
    """Return the fold of each row: a seeded draw of rows, or of whole groups, in parts of equal size."""
    codes = np.arange(n_rows) if groups is None else group_codes(groups, n_rows)
    n_units = int(codes.max()) + 1 if n_rows else 0
    if n_units < 2 * N_FOLDS:
        what = "rows" if groups is None else "groups"
        raise CalibrationError(f"holdback='cross' needs at least {2 * N_FOLDS} calibration {what}; got {n_units}.")
    shuffled = np.random.default_rng(seed).permutation(n_units)
    return np.asarray((np.argsort(shuffled) % N_FOLDS)[codes], dtype=np.int64)


def cross_parts_of(ranker: CrossRanker) -> tuple[str, dict[str, Any], dict[str, Array]]:
    """Return kind, header and arrays of a file that holds a CrossRanker."""
    whole = Ranker(**{**_fields(ranker), "settings": replace(ranker.settings, holdback=0.0)})
    saved = {"whole": parts_of(whole), **{f"fold.{k}": parts_of(fold) for k, fold in enumerate(ranker.folds)}}
    arrays = {f"{name}/{key}": array for name, (_, _, kept) in saved.items() for key, array in kept.items()}
    headers = {name: header for name, (_, header, _) in saved.items()}
    folds = [headers[f"fold.{k}"] for k in range(len(ranker.folds))]
    return "cross", {"whole": headers["whole"], "folds": folds}, arrays


def cross_of(header: dict[str, Any], arrays: dict[str, Array]) -> CrossRanker:
    """Put a CrossRanker together again; raise if its parts make no sense, by themselves or beside each other."""
    known = checked_header(header, CrossHeader)
    whole = ranker_of(known.whole, under("whole/", arrays))
    folds = tuple(ranker_of(one, under(f"fold.{k}/", arrays)) for k, one in enumerate(known.folds))
    if len(folds) != N_FOLDS or whole.diagnostics.n_held or not all(fold.diagnostics.n_held for fold in folds):
        raise ValueError(f"a map of all rows and {N_FOLDS} that hold rows back were expected")
    n_rows = whole.diagnostics.n_map
    for fold in folds:
        went = fold.diagnostics
        alike = (fold.columns, fold.named, fold.flipped) == (whole.columns, whole.named, whole.flipped)
        if not alike or went.n_map + went.n_held != n_rows or (fold.n_groups is None) != (folds[0].n_groups is None):
            raise ValueError("the maps are of different rows or columns")
    if sum(fold.diagnostics.n_held for fold in folds) != n_rows:
        raise ValueError("the folds do not make up all rows")
    return CrossRanker.of(whole, folds)


def _fields(ranker: Ranker) -> dict[str, Any]:
    return {name: getattr(ranker, name) for name in Ranker.__dataclass_fields__}
