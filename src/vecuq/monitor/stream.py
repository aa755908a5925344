"""One stream of scores: its calibration scores, the rows that joined them, and how the bets on it stand."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from vecuq._check import Array
from vecuq.conformal import Bet, Bins, Fortune, Played, SortedScores, play, uniform_ranks


@dataclass(frozen=True)
class Alarm:
    """Drift of one stream: where it was noticed, about where it began, and how."""

    stream: str
    row: int  # counting from 0, over all rows that the monitor has seen
    since: int  # the row at which the winning bet would best have started
    change: str  # "higher", "lower", "more spread out", "less spread out"; of missing values always "higher"
    evidence: float  # the fortune at that row: at least n_streams / alpha


@dataclass(eq=False)
class Stream:
    """The state of one stream of scores."""

    name: str
    calibration: SortedScores
    bets: tuple[Bet, ...]
    counts: Bins  # rows taken by each of the n + 1 bins
    fortune: Fortune
    log_evidence: float = 0.0

    @staticmethod
    def new(name: str, scores: Array, seed: tuple[int, ...], bets: tuple[Bet, ...]) -> Stream:
        """Return a stream that has seen its calibration scores and nothing else."""
        counts = np.zeros(len(scores) + 1, dtype=np.int64)
        return Stream(name, SortedScores.of(scores, seed), bets, counts, Fortune.new(len(bets)))

    def advance(self, above: Bins, rows: NDArray[np.int64], draws: Array) -> Played | None:
        """Take rows, each by the number of calibration scores above it; None if there are none."""
        if not len(rows):
            return None
        played = play(self.fortune, uniform_ranks(above, self.counts, draws), rows, self.bets)
        self.fortune, self.log_evidence = played.after, float(played.log_total[-1])
        return played

    def first_alarm(
        self, played: Played, rows: NDArray[np.int64], log_bar: float, may_alarm: NDArray[np.bool_]
    ) -> Alarm | None:
        """Return the first row at which the evidence reaches the bar, among those that may raise an alarm."""
        over = (played.log_total >= log_bar) & may_alarm
        if not over.any():
            return None
        at = int(over.argmax())
        best = int(played.log_by_bet[at].argmax())
        evidence = float(np.exp(min(played.log_total[at], 700.0)))
        return Alarm(self.name, int(rows[at]), int(played.started[at, best]), self.bets[best].says, evidence)
