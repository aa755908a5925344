"""The saved state of a monitor: one safetensors file, from which it goes on as if it had never stopped."""

from __future__ import annotations

import hashlib
from dataclasses import asdict
from typing import Any

import numpy as np
from msgspec import structs

from vecuq._check import Array
from vecuq._files import checked_header, checksum_of, under
from vecuq.conformal import Bet, Fortune, SortedScores
from vecuq.errors import ModelFileError
from vecuq.monitor.begin import bets_of
from vecuq.monitor.counted import CountedFiles
from vecuq.monitor.first_rows import FirstRows
from vecuq.monitor.monitor import Monitor
from vecuq.monitor.neighbours import Neighbours
from vecuq.monitor.sense import MonitorHeader, StreamHeader, check_standing, check_streams
from vecuq.monitor.stream import Alarm, Stream
from vecuq.ranker import Ranker, parts_of, ranker_of

# 2: a stream for missing values, and no random number used twice. 3: the model in the same file. 4: which files were
# counted. 5: rows left out, groups that were seen, and whether neighbours are alike.
VERSION = 5


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
        "thin": monitor.thin,
        "rows": monitor.rows,
        "n_skipped": monitor.n_skipped,
        "neighbours": asdict(monitor.neighbours),
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
    if monitor.groups.seen:
        arrays["groups"] = monitor.groups.array()
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
    """Put a saved monitor together again, for the ranker that it was made of; raise if a part makes no sense."""
    _refuse_version(header.get("version", 1))
    known = checked_header(header, MonitorHeader)
    model = ranker or _model_of(known, arrays)
    if known.ranker != fingerprint(model):
        raise ModelFileError(
            "It is the state of a monitor of another model. Give the model that it was made with, or another file to "
            "start again."
        )
    check_streams(known, model, arrays)
    monitor = Monitor(model, alpha=known.alpha, direction=known.direction, random_state=known.seed, thin=known.thin)
    monitor.rows, monitor.n_skipped = known.rows, known.n_skipped
    monitor.n_missing, monitor.n_watched = known.n_missing, known.n_watched
    monitor.alarms = tuple(Alarm(**structs.asdict(alarm)) for alarm in known.alarms)
    bets = bets_of(monitor.direction, len(known.streams))
    monitor.streams = tuple(_stream(stands, under(f"{k}.", arrays), bets[k]) for k, stands in enumerate(known.streams))
    for stream in monitor.streams:
        check_standing(stream, monitor.rows)
    monitor.neighbours = Neighbours(**structs.asdict(known.neighbours))
    monitor.groups = FirstRows.from_array(arrays.get("groups"))
    monitor.counted = CountedFiles.of(under("counted/", arrays))
    monitor.saved_as = frozenset({checksum_of(header, arrays)})
    return monitor


def _model_of(known: MonitorHeader, arrays: dict[str, Array]) -> Ranker:
    if known.model is None:
        raise ModelFileError("vecuq 0.1.0 saved this state without its model. Load it with ranker=load('model.vecuq').")
    return ranker_of(known.model, under("model/", arrays))


def _refuse_version(version: object) -> None:
    if version in (2, 3, 4, VERSION):
        return
    older = isinstance(version, int) and version < VERSION
    age, remedy = ("an older", "Start again with another state file.") if older else ("a newer", "Upgrade vecuq.")
    raise ModelFileError(f"It is the state of a monitor of {age} vecuq, from which this one cannot go on. {remedy}")


def _stream(stands: StreamHeader, part: dict[str, Array], bets: tuple[Bet, ...]) -> Stream:
    fortune = Fortune(stands.steps, part["run"], part["staked"], part["lowest"], part["started"].astype(np.int64))
    return Stream(
        stands.name,
        SortedScores(part["scores"], part["breakers"]),
        bets,
        part["counts"].astype(np.int64),
        fortune,
        stands.log_evidence,
    )


def fingerprint(ranker: Ranker) -> str:
    """Return what distinguishes one fitted ranker from another: its columns, and the scores of its held-back rows."""
    digest = hashlib.sha256("\0".join(ranker.columns).encode())
    digest.update(np.ascontiguousarray(ranker.calibration_scores).tobytes())
    return digest.hexdigest()
