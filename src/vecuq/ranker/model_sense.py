"""What a saved model must be: the fields of its header, its arrays, and what they say of each other."""

from __future__ import annotations

from typing import Any

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from vecuq._check import Array, one_of, unique_names
from vecuq._files import (
    POSITIVE,
    RISING,
    SORTED,
    AtLeastOne,
    Count,
    Names,
    NotNegative,
    Numbers,
    Rule,
    Share,
    check_arrays,
    refuse,
)
from vecuq.ranker.column_groups import ColumnGroups
from vecuq.ranker.rows import N_DRAWS
from vecuq.ranker.settings import Settings
from vecuq.ranker.sketch_sense import check_prints
from vecuq.ranker.weights import Weights, active_weights
from vecuq.transport import MAX_COLUMNS, MAX_GROUPED, SCALINGS, named_reference

ONE_MAP = ("grid", "cloud")
MAPS = (*ONE_MAP, "grouped")
HELD_BY = ("draw", "place", "id")


class ScalerHeader(Struct):
    """How columns are brought to one scale."""

    kind: str
    signed: bool

    def __post_init__(self) -> None:
        one_of("the scaling", self.kind, SCALINGS)


class DiagnosticsHeader(Struct):
    """How the fit went; the fields of :class:`vecuq.Diagnostics`."""

    solver: str
    converged: bool
    marginal_error: NotNegative
    sweeps: Count
    n_map: AtLeastOne
    n_held: Count
    n_targets: AtLeastOne
    n_anchors: Count
    anchor_mass: Share
    constant_columns: tuple[str, ...]
    monotone_violations: Share | None
    held_by: str = "draw"
    n_sampled: AtLeastOne | None = None
    column_groups: dict[str, Names] | None = None

    def __post_init__(self) -> None:
        one_of("held_by", self.held_by, HELD_BY)
        if self.n_sampled is not None and self.n_sampled >= self.n_map:
            raise ValueError(f"a sample of {self.n_sampled:,} rows cannot stand for {self.n_map:,}")


class WeightsHeader(Struct):
    """How much each column counts, and the labels that decided on it, if any did; see :class:`vecuq.Weights`."""

    columns: Names
    numbers: tuple[Share, ...]
    flipped: tuple[str, ...] = ()
    n_labels: Count = 0
    n_wrong: Count = 0

    def __post_init__(self) -> None:
        unique_names(self.columns)
        if len(self.numbers) != len(self.columns) or max(self.numbers) != 1:
            raise ValueError("the weights must be one number for each of their columns, the largest 1")
        if self.n_labels and not 0 < self.n_wrong < self.n_labels:
            raise ValueError(
                f"of {self.n_labels:,} labels that the weights were learned from, {self.n_wrong:,} are wrong"
            )


class ModelHeader(Struct):
    """What the header of a model states, and what its fields say of each other."""

    columns: Names
    named: bool
    flipped: tuple[str, ...]
    active: tuple[Count, ...]
    scaler: ScalerHeader
    map: str
    settings: dict[str, Any]
    diagnostics: DiagnosticsHeader
    weights: WeightsHeader | None = None
    groups: AtLeastOne | None = None  # held-back groups, where rows come in groups
    maps: tuple[str, ...] | None = None  # of two levels: the kind of each group's map, and of the last one

    def __post_init__(self) -> None:
        one_of("the map", self.map, MAPS)
        unique_names(self.columns)
        if not set(self.flipped) <= set(self.columns):
            raise ValueError("the flipped columns are not among the columns")
        varying = sorted({k for k in self.active if k < len(self.columns)})
        most = MAX_COLUMNS if self.map != "grouped" else MAX_GROUPED
        if list(self.active) != varying or not 1 <= len(varying) <= most:
            raise ValueError(f"the active columns must be 1 to {most} different places of columns, increasing")
        self._check_maps()
        unweighted = self._unweighted()
        constant = tuple(name for k, name in enumerate(self.columns) if k not in varying and name not in unweighted)
        if self.diagnostics.constant_columns != constant:
            raise ValueError("the constant columns are not those that are not active")
        if any(self.columns[k] in unweighted for k in varying):
            raise ValueError("a column of weight 0 is active")

    def _check_maps(self) -> None:
        """Raise unless two levels, and only these, have groups of exactly the active columns, and a map for each."""
        groups = ColumnGroups.of(self.diagnostics.column_groups)
        if self.map != "grouped" and (groups is not None or self.maps is not None):
            raise ValueError("groups of columns are for maps of two levels")
        if self.map != "grouped":
            return
        active = sorted(self.columns[k] for k in self.active)
        if groups is None or sorted(groups.columns) != active:
            raise ValueError("the groups of columns must hold every active column once")
        for kind in self.maps or ():
            one_of("the map of a group", kind, ONE_MAP)
        if len(self.maps or ()) != len(groups) + 1:
            raise ValueError("there must be one map for each group of columns and one for the groups")

    @property
    def groups_of_columns(self) -> tuple[tuple[int, ...], ...] | None:
        """Where among the active columns those of each group are; None where one map holds all."""
        groups = ColumnGroups.of(self.diagnostics.column_groups)
        return None if groups is None else groups.places(self.columns, self.active)

    def _unweighted(self) -> set[str]:
        """Return the columns of weight 0; raise if the weights are of other columns than the model."""
        if self.weights is None:
            return set()
        if sorted(self.weights.columns) != sorted(self.columns):
            raise ValueError("the weights are not those of the columns")
        if self.weights.n_labels and sorted(self.weights.flipped) != sorted(self.flipped):
            raise ValueError("the weights were learned with other columns flipped")
        return {name for name, number in zip(self.weights.columns, self.weights.numbers, strict=True) if not number}


# The potentials are kept with their largest at 0.
_LOGARITHMS = Rule("at most 0", lambda x: ~(x <= 1e-9))
_SCALER = {
    "scaler.lower": Numbers("active"),
    "scaler.span": Numbers("active", POSITIVE),
    "scaler.knots": Numbers("levels active", SORTED),
    "low": Numbers("active"),
    "high": Numbers("active"),
}
KEPT = {
    "kept.centre": Numbers("columns"),
    "kept.held": Numbers("kept columns"),
    "kept.draws": Numbers("draws columns"),
}

# Fingerprints of the map's rows, and of those that the weights were learned from; files of vecuq 0.1 have none.
MAP_PRINTS, LABELLED_PRINTS = "prints.map", "prints.labelled"


def check_model(known: ModelHeader, settings: Settings, arrays: dict[str, Array]) -> None:
    """Raise ValueError if a part of a model is not what it must be, by itself or beside the others."""
    _check_settings(known.scaler, settings)
    _check_column_groups(known, settings)
    n_columns, n_active, went = len(known.columns), len(known.active), known.diagnostics
    held = {"rows": went.n_held} if went.n_held else {}
    sizes = check_arrays(
        arrays,
        {**_SCALER, **_tables(known), "calibration": Numbers("rows", SORTED)},
        columns=n_columns,
        active=n_active,
        **held,
    )
    _check_scaler(known.scaler, arrays, sizes["levels"])
    weights = active_weights(Weights.of(settings.weights), known.columns, known.active)
    _check_box(known.scaler, *(arrays[end] / (1.0 if weights is None else weights) for end in ("low", "high")))
    check_prints(MAP_PRINTS, arrays, went.n_map)
    n_labels = 0 if known.weights is None else known.weights.n_labels
    if (LABELLED_PRINTS in arrays) != bool(n_labels):
        raise ValueError(f"{LABELLED_PRINTS!r} must be there if the weights were learned from labels, and only then")
    check_prints(LABELLED_PRINTS, arrays, n_labels)
    _check_maps(known, arrays)
    if not sizes["rows"]:
        raise ValueError("'calibration' holds no score")
    if keeps_rows(arrays):
        sizes = check_arrays(arrays, KEPT, **sizes)
        _check_kept(went, arrays, sizes)
    _check_groups(known, arrays, sizes)


def _check_settings(scaler: ScalerHeader, settings: Settings) -> None:
    if isinstance(settings.holdback, str):
        raise ValueError("holdback must be a share in the settings of a single map")
    if settings.scaling != scaler.kind:
        raise ValueError(f"the scaler is of the kind {scaler.kind!r}, and the settings have {settings.scaling!r}")
    if isinstance(settings.reference, str) and named_reference(settings.reference).signed != scaler.signed:
        raise ValueError(f"the scaler does not belong to the reference {settings.reference!r}")


def _check_column_groups(known: ModelHeader, settings: Settings) -> None:
    """Raise unless the columns are in the groups that the settings ask for."""
    given, found = (ColumnGroups.of(one) for one in (settings.column_groups, known.diagnostics.column_groups))
    if given is not None:
        given.check_columns(known.columns)
        given = given.only([known.columns[k] for k in known.active])
    if given != found and not (given is None and len(known.active) > MAX_COLUMNS):
        raise ValueError("the columns are in other groups than those of the settings")


def keeps_rows(arrays: dict[str, Array]) -> bool:
    """Whether a model keeps rows and medians: format 1 kept none, and such a model saved again has empty places."""
    if not any(name in arrays for name in KEPT):
        return False
    empty = not any(arrays[name].size for name in ("kept.held", "kept.draws"))
    return not (empty and bool(np.isnan(arrays["kept.centre"]).all()))


def map_name(number: int) -> str:
    """Return under which name the arrays of one of several maps are kept."""
    return f"map.{number}/"


def _shapes(known: ModelHeader) -> list[tuple[str, str, int]]:
    """Return name, kind and number of columns of each map."""
    groups = known.groups_of_columns
    if groups is None or known.maps is None:
        return [("", known.map, len(known.active))]
    widths = [*map(len, groups), len(groups)]
    return [(map_name(k), kind, width) for k, (kind, width) in enumerate(zip(known.maps, widths, strict=True))]


def _tables(known: ModelHeader) -> dict[str, Numbers]:
    """Return what the arrays of all maps must be."""
    tables = [_map_table(name, kind, width) for name, kind, width in _shapes(known)]
    levels = {f"levels.{end}": Numbers(f"{len(tables) - 1}") for end in ("low", "high") if known.maps is not None}
    return {name: numbers for table in tables for name, numbers in table.items()} | levels


def _map_table(name: str, kind: str, n_columns: int) -> dict[str, Numbers]:
    if kind == "cloud":
        targets = f"targets_of_{name}"
        return {
            f"{name}points": Numbers(f"{targets} {n_columns}"),
            f"{name}log_v": Numbers(targets, _LOGARITHMS),
        }
    sizes = [f"{name}points_{k}" for k in range(n_columns)]
    axes = {f"{name}axis.{k}": Numbers(size, RISING) for k, size in enumerate(sizes)}
    return {**axes, f"{name}log_v": Numbers(" ".join(sizes), _LOGARITHMS)}


def _check_scaler(scaler: ScalerHeader, arrays: dict[str, Array], n_levels: int) -> None:
    lower, span, knots = (arrays[f"scaler.{part}"] for part in ("lower", "span", "knots"))
    if (n_levels > 1) != (scaler.kind == "quantile") or n_levels == 1:
        raise ValueError(f"'scaler.knots' has {n_levels} levels, which scaling {scaler.kind!r} does not have")
    if scaler.kind == "quantile" and not (knots[0] < knots[-1]).all():
        raise ValueError("'scaler.knots' must rise in every column")
    if scaler.kind == "identity" and (lower.any() or (span != 1).any()):
        raise ValueError("scaling 'identity' has a lower end of 0 and a span of 1")
    if scaler.kind == "global" and (np.ptp(lower) or np.ptp(span)):
        raise ValueError("scaling 'global' has one lower end and one span for all columns")


def _check_box(scaler: ScalerHeader, low: Array, high: Array) -> None:
    """Raise if the calibration box is not the one to which the scaling brings the rows."""
    refuse("high", "at least that of 'low'", high < low, len(high))
    if scaler.kind in ("featurewise", "quantile"):
        refuse("low", "the lower end of the scale", np.abs(low - (-1.0 if scaler.signed else 0.0)) > 1e-9, len(low))
        refuse("high", "the upper end of the scale", np.abs(high - 1.0) > 1e-9, len(high))
    if scaler.kind == "global" and abs(high.max() - 1.0) > 1e-9:
        raise ValueError(f"the largest number of 'high' must be 1 under scaling 'global', and is {high.max():g}")


def _check_maps(known: ModelHeader, arrays: dict[str, Array]) -> None:
    n_targets, shapes = known.diagnostics.n_targets, _shapes(known)
    size = sum(arrays[f"{name}log_v"].size for name, _, _ in shapes)
    # Of a cloud, points without weight are left out.
    if not (size == n_targets if all(kind == "grid" for _, kind, _ in shapes) else size <= n_targets):
        raise ValueError(f"'log_v' has {size:,} numbers, for {n_targets:,} reference points")
    for name, kind, _ in shapes:
        log_v = arrays[f"{name}log_v"]
        if min(log_v.shape) < (2 if kind == "grid" else 1):
            raise ValueError(f"'{name}log_v' has the shape {log_v.shape}")
        if log_v.max() < -1e-9:
            raise ValueError(f"the largest number of '{name}log_v' must be 0, and is {log_v.max():g}")
    if known.maps is not None:
        refuse("levels.low", "at most 0", ~(arrays["levels.low"] <= 0), len(shapes) - 1)
        refuse("levels.high", "above 0", ~(arrays["levels.high"] > 0), len(shapes) - 1)


def _check_kept(went: DiagnosticsHeader, arrays: dict[str, Array], sizes: dict[str, int]) -> None:
    n_held, n_kept, n_draws = went.n_held, sizes["kept"], sizes["draws"]
    if n_kept < n_held:  # where the map knew a sketch only, some of the held-back rows became draws
        fits = n_draws == min(N_DRAWS, n_held // 2) and n_kept + n_draws == n_held
    else:
        fits = n_kept == n_held and (
            n_draws == min(N_DRAWS, went.n_sampled or went.n_map) or (not n_draws and n_held < 2)
        )
    if not fits:
        raise ValueError(
            f"'kept.held' holds {n_kept:,} rows and 'kept.draws' {n_draws:,}, of {n_held:,} that were held back and "
            f"{went.n_map:,} of the map"
        )
    if n_held:
        held = [arrays["kept.held"], *([arrays["kept.draws"]] if n_kept < n_held else [])]
        medians = _are_medians(arrays["kept.centre"], held)
        refuse("kept.centre", "a median of the held-back rows", ~medians, len(medians))
    elif sizes["rows"] != ((went.n_sampled or went.n_map) if n_draws else 1):
        raise ValueError(f"'calibration' holds {sizes['rows']:,} scores, of {went.n_map:,} rows of the map")


def _check_groups(known: ModelHeader, arrays: dict[str, Array], sizes: dict[str, int]) -> None:
    """Raise unless every held-back row has a group, numbered from 0 in the order in which they come."""
    if known.groups is None and "kept.groups" not in arrays:
        return
    if known.groups is None or not known.diagnostics.n_held or not keeps_rows(arrays):
        raise ValueError("groups are for models with held-back rows, and the header states how many there are")
    check_arrays(arrays, {"kept.groups": Numbers("kept", dtype="int64")}, kept=sizes["kept"], rows=sizes["rows"])
    if sizes["kept"] != sizes["rows"]:
        raise ValueError(f"{sizes['rows']:,} scores are in groups, and {sizes['kept']:,} rows are kept")
    first = np.unique(arrays["kept.groups"], return_index=True)
    if not np.array_equal(first[0], np.arange(known.groups)) or (np.diff(first[1]) < 0).any():
        raise ValueError(f"'kept.groups' must number {known.groups:,} groups in the order in which they come")


def _are_medians(centre: Array, parts: list[Array]) -> NDArray[np.bool_]:
    """Return which numbers have no more than half of the rows on either side: faster than to find the medians."""
    n_rows, slack = sum(map(len, parts)), 1e-9 * np.abs(centre)
    below = sum((rows < centre - slack).sum(axis=0) for rows in parts)
    above = sum((rows > centre + slack).sum(axis=0) for rows in parts)
    return np.asarray((2 * below <= n_rows) & (2 * above <= n_rows))
