"""How many rows are flagged, how many would be by chance, and how rare that many are."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from vecuq.doctor import chance_of_as_many
from vecuq.report.subject import Subject

# More flagged rows than this probability explains deserve a look; below the second nobody should wait.
UNUSUAL, ALARMING = 0.05, 0.001


@dataclass(frozen=True, eq=False)
class Counts:
    """The numbers of the first screen."""

    subject: Subject

    @cached_property
    def n_flagged(self) -> int:
        """How many rows are flagged; a row without a score is not counted."""
        return int(self.subject.flagged.sum())

    @cached_property
    def expected(self) -> float:
        """How many rows would be flagged on average if all were in-distribution."""
        held = self.subject.ranker.held
        return (1 + held.above(self.subject.threshold)) / (1 + held.count) * self.subject.n_scored

    @cached_property
    def chance(self) -> float | None:
        """The probability of as many flagged rows, or more, if all are in-distribution; None where no law says so.

        Rows that come in groups are flagged together, and rows of the map say nothing about new ones.
        """
        subject, held = self.subject, self.subject.ranker.held
        if not subject.has_held or subject.ranker.n_groups is not None or subject.beside.group is not None:
            return None
        return chance_of_as_many(self.n_flagged, subject.n_scored, int(held.above(subject.threshold)), held.count)

    @property
    def rates(self) -> tuple[float, float] | None:
        """Between which false-alarm rates nine of ten such calibration sets lie; None without held-back rows."""
        return self.subject.ranker.held.interval(self.subject.rate) if self.subject.has_held else None

    @property
    def tone(self) -> str:
        """``"calm"`` where chance explains how many rows are flagged, otherwise ``"notice"`` or ``"alarm"``."""
        if not self.subject.n_scored or self.rates is None:
            return "notice"
        if self.chance is None:
            return "calm" if self.n_flagged <= self.rates[1] * self.subject.n_scored else "notice"
        return "calm" if self.chance >= UNUSUAL else "notice" if self.chance >= ALARMING else "alarm"
