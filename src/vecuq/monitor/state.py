"""The saved state of a monitor: one safetensors file, from which it goes on as if it had never stopped."""

from __future__ import annotations

import hashlib
import os
from dataclasses import asdict
from typing import Any

import numpy as np

from vecuq._check import Array
from vecuq.errors import ModelFileError
from vecuq.monitor.bets import Fortune
from vecuq.monitor.monitor import Monitor
from vecuq.monitor.ranks import Reference
from vecuq.monitor.stream import Alarm, Stream
from vecuq.ranker import Ranker
from vecuq.ranker.tensors import read_tensors, write_tensors

__all__ = ["load_monitor", "save_monitor"]


def save_monitor(monitor: Monitor, path: str | os.PathLike[str]) -> None:
    """Write a monitor to ``path``, whole or not at all."""
    header = {
        "ranker": _fingerprint(monitor.ranker),
        "alpha": monitor.alpha,
        "direction": monitor.direction,
        "seed": monitor.seed,
        "rows": monitor.rows,
        "alarms": [asdict(alarm) for alarm in monitor.alarms],
        "streams": [
            {
                "name": stream.name,
                "steps": stream.fortune.steps,
                "log_evidence": stream.log_evidence,
                "log_peak": stream.log_peak,
            }
            for stream in monitor.streams
        ],
    }
    arrays = {
        f"{k}.{name}": np.asarray(part, dtype=float)
        for k, stream in enumerate(monitor.streams)
        for name, part in _parts(stream).items()
    }
    write_tensors(path, "monitor", header, arrays)


def _parts(stream: Stream) -> dict[str, Any]:
    fortune = stream.fortune
    return {
        "scores": stream.reference.scores,
        "breakers": stream.reference.breakers,
        "counts": stream.counts,
        "run": fortune.run,
        "staked": fortune.staked,
        "lowest": fortune.lowest,
        "started": fortune.started,
    }


def load_monitor(path: str | os.PathLike[str], ranker: Ranker) -> Monitor:
    """Read a monitor that :meth:`Monitor.save` wrote, for the ranker that it was made of.

    Examples
    --------
    >>> import tempfile, numpy as np
    >>> from vecuq import Monitor, fit_ranker
    >>> ranker = fit_ranker(np.random.default_rng(0).gamma(2.0, size=(100, 2)))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     Monitor(ranker, alpha=0.05).save(f"{folder}/state.vecuq")
    ...     load_monitor(f"{folder}/state.vecuq", ranker).alpha
    0.05
    """
    header, arrays = read_tensors(path, "monitor")
    if header.get("ranker") != _fingerprint(ranker):
        raise ModelFileError(
            f"{path} is the state of a monitor of another model. Give the model that it was made with, or another file "
            f"to begin anew."
        )
    try:
        monitor = Monitor(
            ranker, alpha=header["alpha"], direction=header["direction"], random_state=int(header["seed"])
        )
        monitor.rows = int(header["rows"])
        monitor.alarms = tuple(Alarm(**alarm) for alarm in header["alarms"])
        monitor.streams = tuple(_stream(k, told, arrays) for k, told in enumerate(header["streams"]))
    except (KeyError, TypeError, ValueError) as error:
        raise ModelFileError(f"{path} is damaged: its parts do not fit together ({error}).") from None
    return monitor


def _stream(k: int, told: dict[str, Any], arrays: dict[str, Array]) -> Stream:
    part = {name: arrays[f"{k}.{name}"] for name in ("scores", "breakers", "counts", "run", "staked", "lowest")}
    fortune = Fortune(
        int(told["steps"]), part["run"], part["staked"], part["lowest"], arrays[f"{k}.started"].astype(np.int64)
    )
    return Stream(
        str(told["name"]),
        Reference(part["scores"], part["breakers"]),
        part["counts"].astype(np.int64),
        fortune,
        float(told["log_evidence"]),
        float(told["log_peak"]),
    )


def _fingerprint(ranker: Ranker) -> str:
    """Return what tells one fitted ranker from another: its columns, and the scores of its held-back rows."""
    digest = hashlib.sha256("\0".join(ranker.columns).encode())
    digest.update(np.ascontiguousarray(ranker.calibration).tobytes())
    return digest.hexdigest()
