"""The saved model: one safetensors file with a JSON header. No pickle, written whole, checked when read."""

from __future__ import annotations

import hashlib
import json
import os
from typing import Any

import numpy as np

from vecuq._check import Array, existing_file
from vecuq._version import __version__
from vecuq.errors import ModelFileError, VecuqError
from vecuq.ranker.ranker import Diagnostics, Ranker
from vecuq.ranker.settings import Settings
from vecuq.scaling import Scaler
from vecuq.table import write_atomic
from vecuq.transport import CloudMap, GridMap, RankMap

__all__ = ["FORMAT", "load", "save_ranker"]

FORMAT = 1
_KEY = "vecuq"


def save_ranker(ranker: Ranker, path: str | os.PathLike[str]) -> None:
    """Write a ranker to ``path``, whole or not at all."""
    from safetensors.numpy import save

    arrays = {name: np.ascontiguousarray(array) for name, array in _arrays_of(ranker).items()}
    header = _header_of(ranker)
    header["checksum"] = _checksum(header, arrays)
    write_atomic(path, save(arrays, metadata={_KEY: json.dumps(header, sort_keys=True)}))


def load(path: str | os.PathLike[str]) -> Ranker:
    """Read a ranker that :meth:`Ranker.save` wrote; refuse anything else with one clear line."""
    from safetensors import SafetensorError, safe_open

    file = existing_file(path)
    try:
        with safe_open(file, framework="numpy") as opened:
            text = (opened.metadata() or {}).get(_KEY)
            arrays = {name: opened.get_tensor(name) for name in opened.keys()}  # noqa: SIM118 - not a mapping
    except (SafetensorError, OSError, ValueError) as error:
        raise ModelFileError(f"{file} is not a vecuq model, or is cut or damaged: {error}") from None
    header = _read_header(file, text, arrays)
    try:
        return _ranker_of(header, arrays)
    except (KeyError, TypeError, IndexError, VecuqError, ValueError) as error:
        raise ModelFileError(f"{file} is damaged: its parts do not fit together ({error}).") from None


def _read_header(file: Any, text: str | None, arrays: dict[str, Array]) -> dict[str, Any]:
    if text is None:
        raise ModelFileError(f"{file} is a safetensors file, but not a vecuq model.")
    try:
        header: dict[str, Any] = json.loads(text)
        version = int(header["format"])
        stated = header.pop("checksum")
    except (ValueError, KeyError, TypeError, RecursionError):
        raise ModelFileError(f"{file} is damaged: its header cannot be read.") from None
    if version > FORMAT:
        raise ModelFileError(
            f"{file} has format {version}, written by vecuq {header.get('library')}; this is vecuq {__version__}, "
            f"which reads up to format {FORMAT}. Upgrade vecuq."
        )
    if stated != _checksum(header, arrays):
        raise ModelFileError(f"{file} was altered or damaged: its checksum does not match. Save the model again.")
    return header


def _checksum(header: dict[str, Any], arrays: dict[str, Array]) -> str:
    digest = hashlib.sha256(json.dumps(header, sort_keys=True).encode())
    for name in sorted(arrays):
        array = arrays[name]
        digest.update(f"{name}{array.dtype.str}{array.shape}".encode())
        digest.update(np.ascontiguousarray(array).tobytes())
    return digest.hexdigest()


def _header_of(ranker: Ranker) -> dict[str, Any]:
    return {
        "format": FORMAT,
        "library": __version__,
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
        "calibration": ranker.calibration,
        "log_v": rank_map.log_v,
        **places,
    }


def _ranker_of(header: dict[str, Any], arrays: dict[str, Array]) -> Ranker:
    columns, active = tuple(map(str, header["columns"])), tuple(map(int, header["active"]))
    settings = _settings_of(header["settings"])
    told = {**header["diagnostics"], "constant_columns": tuple(header["diagnostics"]["constant_columns"])}
    scaler = Scaler(
        str(header["scaler"]["kind"]),
        bool(header["scaler"]["signed"]),
        *(arrays[f"scaler.{part}"] for part in ("lower", "span", "knots")),
    )
    rank_map = _map_of(header["map"], arrays, settings.epsilon, len(active))
    shapes = {arrays[name].shape for name in ("scaler.lower", "scaler.span", "low", "high")}
    if shapes != {(len(active),)} or not set(active) <= set(range(len(columns))):
        raise ModelFileError("columns and arrays differ in number")
    return Ranker(
        columns=columns,
        named=bool(header["named"]),
        flipped=frozenset(header["flipped"]),
        active=active,
        scaler=scaler,
        rank_map=rank_map,
        low=arrays["low"],
        high=arrays["high"],
        calibration=arrays["calibration"],
        settings=settings,
        diagnostics=Diagnostics(**told),
    )


def _map_of(kind: str, arrays: dict[str, Array], epsilon: float, n_columns: int) -> RankMap:
    log_v = arrays["log_v"]
    if kind == "cloud":
        points = arrays["points"]
        if points.shape != (log_v.size, n_columns):
            raise ModelFileError("the reference points do not fit the potentials")
        return CloudMap(points, log_v, epsilon)
    axes = tuple(arrays[f"axis.{k}"] for k in range(n_columns))
    if log_v.shape != tuple(len(axis) for axis in axes) or not all((np.diff(axis) > 0).all() for axis in axes):
        raise ModelFileError("the reference grid does not fit the potentials")
    return GridMap(axes, log_v, epsilon)


def _settings_of(saved: dict[str, Any]) -> Settings:
    """Return the settings; a reference object is known by its representation only, which scoring never needs."""
    try:
        return Settings(**saved)
    except VecuqError:
        return Settings(**{**saved, "reference": _Described(str(saved["reference"]))})


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
