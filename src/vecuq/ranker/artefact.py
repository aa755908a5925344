"""The saved model: what of a ranker goes into a file, and how it is put together again."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from msgspec import structs

from vecuq._check import Array
from vecuq._files import checked_header, under
from vecuq.errors import ModelFileError, VecuqError
from vecuq.ranker.column_groups import ColumnGroups
from vecuq.ranker.diagnostics import Diagnostics
from vecuq.ranker.model_sense import (
    KEPT,
    LABELLED_PRINTS,
    MAP_PRINTS,
    DiagnosticsHeader,
    ModelHeader,
    WeightsHeader,
    check_model,
    keeps_rows,
    map_name,
)
from vecuq.ranker.ranker import Ranker
from vecuq.ranker.rows import Kept
from vecuq.ranker.scored_again import refuse_other_scores, refuse_rows_elsewhere
from vecuq.ranker.settings import Settings
from vecuq.ranker.sketch_sense import saved_prints
from vecuq.ranker.weights import Weights, active_weights
from vecuq.table import Fingerprints
from vecuq.transport import CloudMap, FirstLevel, GridMap, GroupedMap, OneMap, RankMap, Scaler, maps_in


def parts_of(ranker: Ranker) -> tuple[str, dict[str, Any], dict[str, Array]]:
    """Return kind, header and arrays of a file that holds a ranker."""
    if ranker.settings.holdback == "cross":
        raise ModelFileError("A model with holdback='cross' is saved by itself, not inside of something else.")
    return "model", _header_of(ranker), _arrays_of(ranker)


def _header_of(ranker: Ranker) -> dict[str, Any]:
    """Return what goes into the header of a file that holds a ranker."""
    return {
        "columns": list(ranker.columns),
        "named": ranker.named,
        "flipped": sorted(ranker.flipped),
        "active": list(ranker.active),
        "scaler": {"kind": ranker.scaler.kind, "signed": ranker.scaler.signed},
        **_header_of_map(ranker.rank_map),
        "settings": {name: value for name, value in ranker.settings.to_dict().items() if name != "weights"},
        "diagnostics": ranker.diagnostics.to_dict(),
        **header_of_weights(Weights.of(ranker.settings.weights)),
        **({} if ranker.n_groups is None else {"groups": ranker.n_groups}),
    }


def _header_of_map(rank_map: RankMap) -> dict[str, Any]:
    """Return of which kind a map is; of two levels, also of which kind each of its maps is."""
    kinds = ["grid" if isinstance(one, GridMap) else "cloud" for one in maps_in(rank_map)]
    return {"map": "grouped", "maps": kinds} if isinstance(rank_map, GroupedMap) else {"map": kinds[0]}


def header_of_weights(weights: Weights | None) -> dict[str, Any]:
    """Return what the header states of weights; nothing without any, so that such files stay as they were."""
    if weights is None:
        return {}
    known = {"columns": list(weights.columns), "numbers": list(weights.numbers)}
    labels = {"flipped": sorted(weights.flipped or ()), "n_labels": weights.n_labels, "n_wrong": weights.n_wrong}
    return {"weights": known | (labels if weights.learned else {})}


def _arrays_of(ranker: Ranker) -> dict[str, Array]:
    """Return the arrays of a ranker by name."""
    return {
        "scaler.lower": ranker.scaler.lower,
        "scaler.span": ranker.scaler.span,
        "scaler.knots": ranker.scaler.knots,
        "low": ranker.low,
        "high": ranker.high,
        "calibration": ranker.calibration_scores,
        **_arrays_of_map(ranker.rank_map),
        **{name: getattr(ranker.kept, name.removeprefix("kept.")) for name in KEPT},
        **_prints_of(MAP_PRINTS, ranker.prints),
        **_prints_of(LABELLED_PRINTS, getattr(ranker.settings.weights, "prints", None)),
        **({} if ranker.n_groups is None else {"kept.groups": ranker.kept.groups}),
    }


def _arrays_of_map(rank_map: RankMap) -> dict[str, Array]:
    """Return the arrays of a map; of two levels, those of each of its maps under a name of its own."""
    if isinstance(rank_map, GroupedMap):
        parts = {map_name(number): _arrays_of_map(one) for number, one in enumerate(rank_map.maps)}
        arrays = {f"{name}{key}": array for name, kept in parts.items() for key, array in kept.items()}
        return arrays | {"levels.low": rank_map.low, "levels.high": rank_map.high}
    if isinstance(rank_map, GridMap):
        return {**{f"axis.{k}": axis for k, axis in enumerate(rank_map.axes)}, "log_v": rank_map.log_v}
    return {"points": rank_map.points, "log_v": rank_map.log_v}


def _prints_of(name: str, prints: Fingerprints | None) -> dict[str, Any]:
    return {} if prints is None else {name: prints.hashes}


def ranker_of(header: dict[str, Any], arrays: dict[str, Array]) -> Ranker:
    """Put a ranker together again; raise if a part of it makes no sense, by itself or beside the others."""
    known = checked_header(header, ModelHeader)
    weights = weights_of(known.weights, arrays)
    settings = settings_of(known.settings, weights)
    check_model(known, settings, arrays)
    scaler = _scaler_of(known, arrays, weights)
    ranker = Ranker(
        columns=known.columns,
        named=known.named,
        flipped=frozenset(known.flipped),
        active=known.active,
        scaler=scaler,
        rank_map=_map_of(known, arrays, settings.epsilon, scaler.weights),
        low=arrays["low"],
        high=arrays["high"],
        calibration_scores=arrays["calibration"],
        settings=settings,
        diagnostics=_diagnostics_of(known.diagnostics),
        kept=_kept_of(known, arrays) if keeps_rows(arrays) else Kept.nothing(len(known.columns)),
        prints=saved_prints(MAP_PRINTS, arrays),
    )
    if keeps_rows(arrays):
        refuse_rows_elsewhere(ranker)
        refuse_other_scores(ranker)
    return ranker


def _diagnostics_of(known: DiagnosticsHeader) -> Diagnostics:
    return Diagnostics(**structs.asdict(known) | {"column_groups": ColumnGroups.of(known.column_groups)})


def _scaler_of(known: ModelHeader, arrays: dict[str, Array], weights: Weights | None) -> Scaler:
    lower, span, knots = (arrays[f"scaler.{part}"] for part in ("lower", "span", "knots"))
    found = active_weights(weights, known.columns, known.active)
    return Scaler(known.scaler.kind, known.scaler.signed, lower, span, knots, found)


def _kept_of(known: ModelHeader, arrays: dict[str, Array]) -> Kept:
    kept = Kept(arrays["kept.centre"], arrays["kept.held"], arrays["kept.draws"])
    return kept if known.groups is None else replace(kept, groups=arrays["kept.groups"].astype(np.int64))


def _map_of(known: ModelHeader, arrays: dict[str, Array], epsilon: float, weights: Array | None) -> RankMap:
    low, high, groups = arrays["low"], arrays["high"], known.groups_of_columns
    if groups is None or known.maps is None:
        return _one_map(known.map, arrays, epsilon, (low, high))
    boxes = [
        *((low[list(group)], high[list(group)]) for group in groups),
        (arrays["levels.low"], arrays["levels.high"]),
    ]
    *maps, top = (
        _one_map(kind, under(map_name(number), arrays), epsilon, box)
        for number, (kind, box) in enumerate(zip(known.maps, boxes, strict=True))
    )
    return GroupedMap(FirstLevel(groups, tuple(maps), low, high, weights, known.scaler.signed), top, *boxes[-1])


def _one_map(kind: str, arrays: dict[str, Array], epsilon: float, box: tuple[Array, Array]) -> OneMap:
    if kind == "cloud":
        return CloudMap(arrays["points"], arrays["log_v"], epsilon)
    return GridMap(tuple(arrays[f"axis.{k}"] for k in range(len(box[0]))), arrays["log_v"], epsilon, box)


def weights_of(known: WeightsHeader | None, arrays: dict[str, Array]) -> Weights | None:
    """Put weights together again."""
    if known is None:
        return None
    if not known.n_labels:
        return Weights(known.columns, known.numbers)
    labels = frozenset(known.flipped), known.n_labels, known.n_wrong
    return Weights(known.columns, known.numbers, *labels, saved_prints(LABELLED_PRINTS, arrays))


def settings_of(saved: dict[str, Any], weights: Weights | None) -> Settings:
    """Return the settings; a reference object is known by its representation only, which scoring never needs."""
    if saved.get("tail", "overshoot") != "overshoot":
        raise ModelFileError(
            "It was fitted with tail='dominance', which vecuq 0.1.0 was the last to read. Fit it again."
        )
    known = {name: value for name, value in saved.items() if name != "tail"} | {"weights": weights}
    known["on_failure"] = "error" if known["on_failure"] == "raise" else known["on_failure"]  # its name in vecuq 0.1
    try:
        return Settings(**known)
    except VecuqError:
        return Settings(**{**known, "reference": _Described(str(saved["reference"]))})


class _Described:
    """A user-defined reference after loading: enough to show, not enough to fit again."""

    signed = False

    def __init__(self, text: str) -> None:
        self.text = text

    def __repr__(self) -> str:
        return self.text

    def targets(self, n_columns: int, n_targets: int) -> Any:
        """Refuse: only the points of the fitted map were saved."""
        raise ModelFileError(
            f"The reference {self.text} was defined outside vecuq; pass the object itself to fit again."
        )
