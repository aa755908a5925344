"""The saved model: what of a ranker goes into a file, and how it is put together again."""

from __future__ import annotations

from typing import Any

import numpy as np

from vecuq._check import Array
from vecuq.errors import ModelFileError, VecuqError
from vecuq.ranker.diagnostics import Diagnostics
from vecuq.ranker.ranker import Ranker
from vecuq.ranker.rows import Kept
from vecuq.ranker.settings import Settings
from vecuq.transport import CloudMap, GridMap, RankMap, Scaler


def parts_of(ranker: Ranker) -> tuple[str, dict[str, Any], dict[str, Array]]:
    """Return kind, header and arrays of a file that holds a ranker."""
    return "model", _header_of(ranker), _arrays_of(ranker)


def _header_of(ranker: Ranker) -> dict[str, Any]:
    """Return what goes into the header of a file that holds a ranker."""
    return {
        "columns": list(ranker.columns),
        "named": ranker.named,
        "flipped": sorted(ranker.flipped),
        "active": list(ranker.active),
        "scaler": {"kind": ranker.scaler.kind, "signed": ranker.scaler.signed},
        "map": "grid" if isinstance(ranker.rank_map, GridMap) else "cloud",
        "settings": ranker.settings.to_dict(),
        "diagnostics": ranker.diagnostics.to_dict(),
    }


def _arrays_of(ranker: Ranker) -> dict[str, Array]:
    """Return the arrays of a ranker by name."""
    rank_map = ranker.rank_map
    places = (
        {f"axis.{k}": axis for k, axis in enumerate(rank_map.axes)}
        if isinstance(rank_map, GridMap)
        else {"points": rank_map.points}
    )
    return {
        "scaler.lower": ranker.scaler.lower,
        "scaler.span": ranker.scaler.span,
        "scaler.knots": ranker.scaler.knots,
        "low": ranker.low,
        "high": ranker.high,
        "calibration": ranker.calibration_scores,
        "log_v": rank_map.log_v,
        **places,
        **{f"kept.{part}": getattr(ranker.kept, part) for part in _KEPT},
    }


_KEPT = ("centre", "held", "draws")


def ranker_of(header: dict[str, Any], arrays: dict[str, Array]) -> Ranker:
    """Put a ranker together again; raise if its parts do not fit."""
    columns, active = tuple(map(str, header["columns"])), tuple(map(int, header["active"]))
    settings = _settings_of(header["settings"])
    diagnostics = {**header["diagnostics"], "constant_columns": tuple(header["diagnostics"]["constant_columns"])}
    scaler = Scaler(
        str(header["scaler"]["kind"]),
        bool(header["scaler"]["signed"]),
        *(arrays[f"scaler.{part}"] for part in ("lower", "span", "knots")),
    )
    rank_map = _map_of(header["map"], arrays, settings.epsilon, len(active))
    shapes = {arrays[name].shape for name in ("scaler.lower", "scaler.span", "low", "high")}
    if shapes != {(len(active),)} or not set(active) <= set(range(len(columns))):
        raise ValueError("columns and arrays differ in number")
    return Ranker(
        columns=columns,
        named=bool(header["named"]),
        flipped=frozenset(header["flipped"]),
        active=active,
        scaler=scaler,
        rank_map=rank_map,
        low=arrays["low"],
        high=arrays["high"],
        calibration_scores=arrays["calibration"],
        settings=settings,
        diagnostics=Diagnostics(**diagnostics),
        kept=_kept_of(arrays, len(columns)),
    )


def _kept_of(arrays: dict[str, Array], n_columns: int) -> Kept:
    if "kept.centre" not in arrays:
        return Kept.nothing(n_columns)
    kept = Kept(*(arrays[f"kept.{part}"] for part in _KEPT))
    if (kept.centre.shape, kept.held.shape[1:], kept.draws.shape[1:]) != ((n_columns,),) * 3:
        raise ValueError("the kept rows do not fit the columns")
    return kept


def _map_of(kind: str, arrays: dict[str, Array], epsilon: float, n_columns: int) -> RankMap:
    log_v = arrays["log_v"]
    if kind == "cloud":
        points = arrays["points"]
        if points.shape != (log_v.size, n_columns):
            raise ValueError("the reference points do not fit the potentials")
        return CloudMap(points, log_v, epsilon)
    axes = tuple(arrays[f"axis.{k}"] for k in range(n_columns))
    if log_v.shape != tuple(len(axis) for axis in axes) or not all((np.diff(axis) > 0).all() for axis in axes):
        raise ValueError("the reference grid does not fit the potentials")
    return GridMap(axes, log_v, epsilon, (arrays["low"], arrays["high"]))


def _settings_of(saved: dict[str, Any]) -> Settings:
    """Return the settings; a reference object is known by its representation only, which scoring never needs."""
    if saved.get("tail", "overshoot") != "overshoot":
        raise ModelFileError(
            "It was fitted with tail='dominance', which vecuq 0.1.0 was the last to read. Fit it again."
        )
    known = {name: value for name, value in saved.items() if name != "tail"}
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
