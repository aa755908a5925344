"""What the saved state of a monitor must be: every stream has taken its rows, and stands where its bets brought it."""

from __future__ import annotations

from typing import Annotated, Any

import numpy as np
from msgspec import Meta, Struct

from vecuq._check import Array, one_of
from vecuq._files import (
    NOT_NEGATIVE,
    SORTED,
    WHOLE,
    AtLeastOne,
    Count,
    NotNegative,
    Numbers,
    Positive,
    Rate,
    between,
    check_arrays,
    refuse,
    under,
)
from vecuq.conformal import DIRECTIONS, Fortune, bets_on
from vecuq.monitor.begin import bets_of, joint_scores, special_names
from vecuq.monitor.neighbours import LAG
from vecuq.monitor.stream import Stream
from vecuq.ranker import Ranker

CHANGES = tuple(bet.says for bet in bets_on("both"))


class StreamHeader(Struct):
    """Which stream it is, and how it stands."""

    name: str
    steps: Count
    log_evidence: float


class AlarmHeader(Struct):
    """An alarm that was raised; the fields of :class:`vecuq.monitor.Alarm`."""

    stream: str
    row: Count
    since: Count
    change: str
    evidence: Positive

    def __post_init__(self) -> None:
        one_of("the change", self.change, CHANGES)
        if self.since > self.row:
            raise ValueError("the drift began after it was noticed")


class NeighboursHeader(Struct, frozen=True):
    """How alike rows are that follow each other; the fields of :class:`vecuq.monitor.neighbours.Neighbours`."""

    pairs: Count = 0
    nearer: NotNegative = 0.0
    recent: Annotated[tuple[NotNegative, ...], Meta(max_length=LAG)] = ()

    def __post_init__(self) -> None:
        if self.nearer > self.pairs or 2 * self.nearer != int(2 * self.nearer):
            raise ValueError("more rows are near each other than there were, or parts of rows")
        if self.pairs and len(self.recent) < LAG:
            raise ValueError("rows were compared that never came")


class MonitorHeader(Struct):
    """What the header of a monitor states, and what its fields say of each other."""

    version: AtLeastOne
    ranker: str
    alpha: Rate
    direction: str
    seed: Annotated[int, Meta(ge=0)]
    rows: Count
    n_missing: Count
    n_watched: Count
    alarms: tuple[AlarmHeader, ...]
    streams: Annotated[tuple[StreamHeader, ...], Meta(min_length=2)]
    model: dict[str, Any] | None = None  # vecuq 0.1.0 kept none
    thin: AtLeastOne = 1
    n_skipped: Count = 0
    neighbours: NeighboursHeader = NeighboursHeader()

    def __post_init__(self) -> None:
        one_of("the direction", self.direction, DIRECTIONS)
        self._check_rows()
        self._check_alarms()

    def _check_rows(self) -> None:
        """Every row was looked at for missing values, and taken by some other stream or not watched."""
        joint, *columns, missing = (stream.steps for stream in self.streams)
        taken = self.rows - self.n_skipped
        if max(joint, *columns, 0) > self.n_watched or missing != taken:
            raise ValueError("a stream has taken more rows than there were, or the last one fewer")
        if not self.n_watched <= min(taken, joint + sum(columns)) or not self.n_missing <= taken:
            raise ValueError("more rows were watched, or had missing values, than there were")
        if joint < taken - self.n_missing:
            raise ValueError("a complete row was not taken by the joint stream")
        if self.thin > 1 and taken != -(-self.rows // self.thin):
            raise ValueError(f"not every {self.thin}-th row was taken")
        if self.neighbours.pairs > max(0, joint - LAG):
            raise ValueError("more rows were compared with the one before than came")

    def _check_alarms(self) -> None:
        names, raised = {stream.name for stream in self.streams}, [alarm.stream for alarm in self.alarms]
        if not set(raised) <= names or len(set(raised)) < len(raised):
            raise ValueError("an alarm is not of one of the streams, or comes twice")
        bar = len(self.streams) / self.alpha
        if any(alarm.evidence < bar * (1 - 1e-9) or alarm.row >= self.rows for alarm in self.alarms):
            raise ValueError(f"an alarm has less evidence than the {bar:g} that raises it, or a row that never came")


STREAM = {
    "scores": Numbers("scores", SORTED, finite=False),
    "breakers": Numbers("scores", between(0, 1)),
    "counts": Numbers("bins", NOT_NEGATIVE, WHOLE),
    "run": Numbers("bets"),
    "staked": Numbers("bets", finite=False),
    "lowest": Numbers("bets", finite=False),
    "started": Numbers("bets", NOT_NEGATIVE, WHOLE),
}


def check_streams(known: MonitorHeader, ranker: Ranker, arrays: dict[str, Array]) -> None:
    """Raise ValueError if the streams are not those of the model, or an array of one is not what it must be."""
    names = [stream.name for stream in known.streams]
    joint, missing = special_names(ranker)
    if names not in ([joint, missing], [joint, *ranker.columns, missing]):
        raise ValueError(f"the streams {names} are not those of the model")
    for k, (stream, bets) in enumerate(zip(known.streams, bets_of(known.direction, len(names)), strict=True)):
        parts = under(f"{k}.", arrays)
        try:
            _check_parts(stream, parts, len(bets))
        except ValueError as error:
            raise ValueError(f"the stream {stream.name!r}: {error}") from None
    scores, expected = arrays["0.scores"], joint_scores(ranker, seed=known.seed, thin=known.thin)
    # Scores of some rows are computed again, perhaps on another machine, and may differ in the last digits.
    again = len(scores) < len(ranker.calibration_scores)
    if scores.shape != expected.shape or not np.allclose(scores, expected, rtol=1e-9 if again else 0.0, atol=0.0):
        raise ValueError(f"the scores of {joint!r} are not the calibration scores of the model")
    last = arrays[f"{len(names) - 1}.scores"]
    refuse(f"{len(names) - 1}.scores", "0 or 1", (last != 0) & (last != 1), last.size)


def _check_parts(stream: StreamHeader, parts: dict[str, Array], n_bets: int) -> None:
    n_scores = parts["scores"].size
    check_arrays(parts, STREAM, scores=n_scores, bins=n_scores + 1, bets=n_bets)
    if not n_scores:
        raise ValueError("'scores' holds no score")
    if float(parts["counts"].sum()) != stream.steps:
        raise ValueError(f"the counts do not add up to its {stream.steps:,} steps")


# Logarithms of evidence are summed in another order here than there.
_TOLERANCE = 1e-6


def check_standing(stream: Stream, rows: int) -> None:
    """Raise ValueError if a stream does not stand where its bets brought it."""
    fortune = stream.fortune
    if not stream.calibration.in_order:
        raise ValueError(f"equal scores of {stream.name!r} are not ordered by what breaks their ties")
    if not fortune.steps:
        return _check_beginning(stream)
    # All that was staked before the best moment to start came to no more than from there.
    most = np.log(1.0 - 1.0 / np.sqrt(fortune.steps + 1.0)) - fortune.lowest
    impossible = ~(fortune.lowest <= 0.0) | ~(fortune.staked <= most + _TOLERANCE * (1.0 + np.abs(most)))
    refuse(f"staked of {stream.name}", "what can have been staked", impossible, impossible.size)
    refuse(f"started of {stream.name}", "a row that came", fortune.started >= rows, impossible.size)
    evidence = log_evidence_of(fortune)
    if not abs(stream.log_evidence - evidence) <= _TOLERANCE * (1.0 + abs(evidence)):
        raise ValueError(
            f"the evidence of {stream.name!r} is not what its bets came to: its logarithm is {stream.log_evidence:g}, "
            f"and must be {evidence:g}"
        )
    return None


def _check_beginning(stream: Stream) -> None:
    new = Fortune.new(len(stream.bets))
    same = (np.array_equal(getattr(stream.fortune, part), getattr(new, part)) for part in ("run", "staked", "lowest"))
    if not all(same) or stream.fortune.started.any() or stream.log_evidence:
        raise ValueError(f"the stream {stream.name!r} has taken no row, and stands elsewhere than at the beginning")


def log_evidence_of(fortune: Fortune) -> float:
    """Return the logarithm of the fortune: what every bet came to, and what is still in reserve."""
    by_bet = fortune.run + fortune.staked - np.log(len(fortune.run))
    return float(np.logaddexp.reduce(np.append(by_bet, -0.5 * np.log(fortune.steps + 1.0))))
