"""The saved state of a monitor: one safetensors file, from which it goes on as if it had never stopped."""

from __future__ import annotations

import hashlib
from dataclasses import asdict
from typing import Any

import numpy as np

from vecuq._check import Array
from vecuq._files import checksum_of, under
from vecuq.conformal import Bet, Fortune, SortedScores
from vecuq.errors import ModelFileError
from vecuq.monitor.begin import bets_of, special_names
from vecuq.monitor.counted import CountedFiles
from vecuq.monitor.monitor import Monitor
from vecuq.monitor.stream import Alarm, Stream
from vecuq.ranker import Ranker, parts_of, ranker_of

# 2: a stream for missing values, and no random number used twice. 3: the model in the same file. 4: which files were
# counted.
VERSION = 4


def parts_of_monitor(monitor: Monitor) -> tuple[str, dict[str, Any], dict[str, Array]]:
    """Return kind, header and arrays of a file that holds a monitor: its model, and how every stream stands."""
    _, model, kept = parts_of(monitor.ranker)
    header = {
        "version": VERSION,
        "ranker": fingerprint(monitor.ranker),
        "model": model,
        "alpha": monitor.alpha,
        "direction": monitor.direction,
        "seed": monitor.seed,
        "rows": monitor.rows,
        "n_missing": monitor.n_missing,
        "n_watched": monitor.n_watched,
        "alarms": [asdict(alarm) for alarm in monitor.alarms],
        "streams": [
            {
                "name": stream.name,
                "steps": stream.fortune.steps,
                "log_evidence": stream.log_evidence,
            }
            for stream in monitor.streams
        ],
    }
    arrays = {
        f"{k}.{name}": np.asarray(part, dtype=float)
        for k, stream in enumerate(monitor.streams)
        for name, part in _parts(stream).items()
    }
    arrays |= {f"model/{name}": array for name, array in kept.items()}
    return "monitor", header, arrays | {f"counted/{name}": array for name, array in monitor.counted.arrays().items()}


def _parts(stream: Stream) -> dict[str, Any]:
    fortune = stream.fortune
    return {
        "scores": stream.calibration.scores,
        "breakers": stream.calibration.breakers,
        "counts": stream.counts,
        "run": fortune.run,
        "staked": fortune.staked,
        "lowest": fortune.lowest,
        "started": fortune.started,
    }


def monitor_of(header: dict[str, Any], arrays: dict[str, Array], ranker: Ranker | None = None) -> Monitor:
    """Put a saved monitor together again, for the ranker that it was made of; raise if the parts do not fit."""
    _refuse_version(header.get("version", 1))
    model = ranker or _model_of(header, arrays)
    if header.get("ranker") != fingerprint(model):
        raise ModelFileError(
            "It is the state of a monitor of another model. Give the model that it was made with, or another file to "
            "start again."
        )
    monitor = Monitor(model, alpha=header["alpha"], direction=header["direction"], random_state=int(header["seed"]))
    monitor.rows, monitor.n_missing = int(header["rows"]), int(header["n_missing"])
    monitor.n_watched = int(header["n_watched"])
    monitor.alarms = tuple(Alarm(**alarm) for alarm in header["alarms"])
    bets = bets_of(monitor.direction, len(header["streams"]))
    monitor.streams = tuple(_stream(k, stands, arrays, bets[k]) for k, stands in enumerate(header["streams"]))
    _check_streams(monitor)
    monitor.counted = CountedFiles.of(under("counted/", arrays))
    monitor.saved_as = frozenset({checksum_of(header, arrays)})
    return monitor


def _model_of(header: dict[str, Any], arrays: dict[str, Array]) -> Ranker:
    if "model" not in header:
        raise ModelFileError("vecuq 0.1.0 saved this state without its model. Load it with ranker=load('model.vecuq').")
    return ranker_of(header["model"], under("model/", arrays))


def _refuse_version(version: object) -> None:
    if version in (2, 3, VERSION):
        return
    older = isinstance(version, int) and version < VERSION
    age, remedy = ("an older", "Start again with another state file.") if older else ("a newer", "Upgrade vecuq.")
    raise ModelFileError(f"It is the state of a monitor of {age} vecuq, from which this one cannot go on. {remedy}")


def _stream(k: int, stands: dict[str, Any], arrays: dict[str, Array], bets: tuple[Bet, ...]) -> Stream:
    part = {name: arrays[f"{k}.{name}"] for name in ("scores", "breakers", "counts", "run", "staked", "lowest")}
    fortune = Fortune(
        int(stands["steps"]), part["run"], part["staked"], part["lowest"], arrays[f"{k}.started"].astype(np.int64)
    )
    stream = Stream(
        str(stands["name"]),
        SortedScores(part["scores"], part["breakers"]),
        bets,
        part["counts"].astype(np.int64),
        fortune,
        float(stands["log_evidence"]),
    )
    _check_lengths(stream)
    return stream


def _check_lengths(stream: Stream) -> None:
    """Raise if the parts of a stream are not of one size, or its counts are not those of its steps."""
    n, bets = len(stream.calibration.scores), len(stream.bets)
    shapes = {"scores": n, "breakers": n, "counts": n + 1, "run": bets, "staked": bets, "lowest": bets, "started": bets}
    wrong = [name for name, part in _parts(stream).items() if part.shape != (shapes[name],)]
    if wrong:
        raise ValueError(f"{', '.join(wrong)} of {stream.name!r} have the wrong length")
    if (stream.counts < 0).any() or int(stream.counts.sum()) != stream.fortune.steps:
        raise ValueError(f"the counts of {stream.name!r} do not add up to its steps")
    if (np.diff(stream.calibration.scores) < 0).any():
        raise ValueError(f"the scores of {stream.name!r} are not in order")


def _check_streams(monitor: Monitor) -> None:
    """Raise if the streams are not those of the ranker, or have seen more rows than the monitor."""
    names = [stream.name for stream in monitor.streams]
    joint, missing = special_names(monitor.ranker)
    if names not in ([joint, missing], [joint, *monitor.ranker.columns, missing]):
        raise ValueError(f"the streams {names} are not those of the model")
    if any(stream.fortune.steps > monitor.rows for stream in monitor.streams):
        raise ValueError("a stream has taken more rows than there were")


def fingerprint(ranker: Ranker) -> str:
    """Return what distinguishes one fitted ranker from another: its columns, and the scores of its held-back rows."""
    digest = hashlib.sha256("\0".join(ranker.columns).encode())
    digest.update(np.ascontiguousarray(ranker.calibration_scores).tobytes())
    return digest.hexdigest()
