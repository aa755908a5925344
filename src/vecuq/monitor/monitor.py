"""Monitor: whether a stream has drifted from the calibration rows, at a false-alarm rate that holds over all time."""

from __future__ import annotations

import os
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vecuq._check import Array, in_range, one_line, one_of, whole_number
from vecuq._draw import html_card
from vecuq._files import tensor_bytes, write_state
from vecuq.conformal import DIRECTIONS, Bins
from vecuq.errors import SettingError, TableError
from vecuq.monitor.begin import DRAWS, ROW_BREAKERS, lacking, new_streams, scores_of
from vecuq.monitor.counted import CountedFiles
from vecuq.monitor.first_rows import FirstRows
from vecuq.monitor.neighbours import Neighbours
from vecuq.monitor.stream import Alarm, Stream
from vecuq.ranker import as_ranker


class Monitor:
    """Watch a stream of rows for drift, over all columns together, in each of them, and in the share of missing values.

    Without drift, that is if calibration rows and stream are exchangeable, the probability that the monitor *ever*
    raises an alarm, in any stream, is at most ``alpha``. Rows that depend on each other in time, or come in sessions,
    are not exchangeable and raise false alarms: ``thin`` takes rows that are far apart, and ``groups`` of
    :meth:`observe` one row per session.

    Each row is ranked among the calibration rows *and* the rows before it, which makes the p-values of a stream
    independent; a betting martingale then gathers evidence against them (``docs/adr/0030-drift-monitor.md``). An alarm
    is raised when the evidence of a stream reaches ``n_streams / alpha``.

    Parameters
    ----------
    ranker
        The model whose rows are watched, a ranker or a fitted :class:`vecuq.VecUQ`; it must have held rows back.
    calibration
        In-distribution rows with which each column is compared; by default the held-back rows that the ranker keeps,
        which are complete. Rows with missing values say how many are usual. (A model file of format 1 keeps no rows:
        without this table its columns are not watched.)
    alpha
        The probability of ever raising a false alarm, for exchangeable rows.
    direction
        ``"both"``: any change. ``"up"``: only towards more uncertain, which also holds for p-values that count ties
        against the row. Of missing values only more than usual are noticed.
    random_state
        Seed of the draws that break ties; None is a fixed seed too.
    thin
        Take every so many-th row of the stream only, and of the calibration rows alike, for rows that depend on those
        shortly before them; far enough apart that they no longer do.

    Examples
    --------
    >>> import numpy as np
    >>> from vecuq import fit_ranker
    >>> rng = np.random.default_rng(0)
    >>> rows = rng.gamma(2.0, size=(600, 2))
    >>> monitor = Monitor(fit_ranker(rows))
    >>> monitor.observe(rng.gamma(2.0, size=(500, 2)))
    ()
    >>> drifted = rng.gamma(2.0, size=(200, 2)) + [0.0, 1.4]
    >>> [(alarm.stream, alarm.change) for alarm in monitor.observe(drifted)]
    [('x1', 'higher'), ('uncertainty', 'higher')]
    """

    def __init__(
        self,
        ranker: Any,
        calibration: Any = None,
        *,
        alpha: float = 0.01,
        direction: str = "both",
        random_state: int | None = None,
        thin: int = 1,
    ) -> None:
        self.ranker = ranker = as_ranker(ranker)
        ranker.require_held_back()
        self.alpha = in_range("alpha", alpha, 0.0, 1.0, ends="()")
        self.direction = one_of("direction", direction, DIRECTIONS)
        self.seed = 0 if random_state is None else whole_number("random_state", random_state, 0)
        self.thin = whole_number("thin", thin, 1)
        self.rows = 0
        self.n_skipped = 0  # rows that were left out, because they depend on others
        self.n_missing = 0  # rows that lack a value, without those left out
        self.n_watched = 0  # rows that some stream of scores could take
        self.alarms: tuple[Alarm, ...] = ()
        self.counted = CountedFiles()
        self.groups = FirstRows()
        self.neighbours = Neighbours()
        self.saved_as: frozenset[str] = frozenset()  # checksums of the files that it was loaded from or saved to
        self.streams = new_streams(ranker, calibration, direction=self.direction, seed=self.seed, thin=self.thin)

    @property
    def watches_columns(self) -> bool:
        """Whether each column has a stream of its own, beside the joint score and missing values."""
        return len(self.streams) > 2

    @property
    def drifted(self) -> bool:
        """Whether any stream has raised its alarm."""
        return bool(self.alarms)

    @property
    def recalibrate(self) -> bool:
        """Whether the joint score has drifted: its p-values and thresholds then hold no longer.

        False where rows depend on each other: then an alarm may be that, and no drift.
        """
        return not self.dependent and any(alarm.stream == self.streams[0].name for alarm in self.alarms)

    @property
    def dependent(self) -> bool:
        """Whether rows that follow each other are alike, so that the promise does not hold for them."""
        return self.neighbours.alike

    @property
    def evidence(self) -> dict[str, float]:
        """The evidence of each stream now: 1 in expectation under no drift; an alarm at ``n_streams / alpha``."""
        return {stream.name: float(np.exp(min(stream.log_evidence, 700.0))) for stream in self.streams}

    def observe(self, data: Any, *, groups: Any = None) -> tuple[Alarm, ...]:
        """Take rows of scores, in the order in which they came, and return the alarms that they raise.

        A row with a missing value (NaN) is left out of that column's stream and of the joint one, and taken by the
        stream of missing values. An infinite value is the largest or smallest of its column, and its row the most
        extreme of all.

        Parameters
        ----------
        data
            Rows of scores.
        groups
            For rows that come together, such as those of a session: the name of each row's group. The first row of
            every group counts, and no other, also in later calls. Fit the model with groups, too.
        """
        scores = scores_of(self.ranker, data, with_columns=self.watches_columns)
        breakers = self._draws(len(scores), ROW_BREAKERS)
        taken = self._taken(len(scores), groups)
        above = np.full(scores.shape, -1, dtype=np.int64)
        for k, stream in enumerate(self.streams):
            present = ~np.isnan(scores[:, k]) & taken
            above[present, k] = stream.calibration.bins_above(scores[present, k], breakers[present, k])
        return self._advance(above, scores[:, -1] > 0)

    def _taken(self, n_rows: int, groups: Any) -> NDArray[np.bool_]:
        """Return which rows count: every ``thin``-th, or the first of every group."""
        if groups is None and self.groups.seen:
            raise SettingError("This monitor takes one row per group; give the group of every row as groups=...")
        if groups is None:
            return np.asarray((self.rows + np.arange(n_rows)) % self.thin == 0)
        if self.thin > 1 or (self.rows and not self.groups.seen):
            raise SettingError(
                "Groups are for a monitor that began with them and does not thin out its rows. Begin a new one."
            )
        return self.groups.of(groups, n_rows)

    def update(self, p: Any) -> tuple[Alarm, ...]:
        """Take conformal p-values against the calibration rows, and return the alarms that they raise.

        Parameters
        ----------
        p
            One p-value or one per row, for the joint score, as :meth:`vecuq.Ranker.p_values` gives them; or one per row
            for the joint score and each column, shape (rows, 1 + columns). A row with NaN is one that lacks a value.
            These p-values count ties against the row, which bets on other changes than growth would take for a change:
            where calibration scores tie, ``direction="up"`` is needed, or :meth:`observe`, which breaks ties at random.
        """
        if self.thin > 1 or len(self.streams[0].calibration.scores) < len(self.ranker.calibration_scores):
            raise SettingError(
                "update takes p-values of all held-back rows; a monitor with thin= or groups needs rows."
            )
        values = self._as_matrix(p)
        self._taken(len(values), None)
        incomplete = lacking(values)
        above = np.full((len(values), len(self.streams)), -1, dtype=np.int64)
        for k in range(values.shape[1]):
            self._refuse_ties(self.streams[k])
            above[:, k] = _bins_of(values[:, k], self.streams[k])
        breakers = self._draws(len(values), ROW_BREAKERS)[:, -1]
        above[:, -1] = self.streams[-1].calibration.bins_above(incomplete.astype(float), breakers)
        return self._advance(above, incomplete)

    def save(self, path: str | os.PathLike[str], *, force: bool = False) -> None:
        """Write model and state to one file, whole or not at all; :func:`vecuq.load` goes on from there.

        A file that is there is replaced if this monitor was loaded from it or saved to it and nobody wrote it since;
        otherwise what it has counted would be lost, which is an error without ``force``.
        """
        from vecuq.monitor.state import parts_of_monitor

        self.saved_as |= {write_state(path, *parts_of_monitor(self), known=self.saved_as, force=force)}

    def to_bytes(self) -> bytes:
        """Return what :meth:`save` would write; :func:`vecuq.load` reads it too."""
        from vecuq.monitor.state import parts_of_monitor

        return tensor_bytes(*parts_of_monitor(self))

    def describe(self) -> dict[str, Any]:
        """Return rows seen, alpha, the evidence of every stream and the alarms, and the model, as plain values."""
        return {
            "alpha": self.alpha,
            "direction": self.direction,
            "rows seen": self.rows,
            "rows left out": self.n_skipped,
            "rows with missing values": self.n_missing,
            "neighbours are alike": self.dependent,
            "files remembered": len(self.counted),
            "alarm at evidence": len(self.streams) / self.alpha,
            "evidence": self.evidence,
            "alarms": [vars(alarm) for alarm in self.alarms],
            "model": self.ranker.describe(),
        }

    def __repr__(self) -> str:
        state = f"{len(self.alarms)} alarms" if self.alarms else "no alarm"
        return f"Monitor({self.rows:,} rows seen, {state}; {len(self.streams)} streams, alpha={self.alpha:g})"

    def _repr_html_(self) -> str:
        alarms = "; ".join(f"{one.stream} {one.change} since row {one.since:,}" for one in self.alarms)
        facts = {"rows seen": f"{self.rows:,}", "alarms": alarms or "none", "alpha": f"{self.alpha:g}"}
        return html_card(repr(self), facts, folded={"Evidence (1 without drift)": self.evidence})

    def _advance(self, above: Bins, incomplete: NDArray[np.bool_]) -> tuple[Alarm, ...]:
        """Let every stream take its rows; a bin of -1 leaves the row out."""
        draws = self._draws(len(above), DRAWS)
        rows = self.rows + np.arange(len(above), dtype=np.int64)
        log_bar = float(np.log(len(self.streams) / self.alpha))
        silent = {stream.name for stream in self.streams} - {alarm.stream for alarm in self.alarms}
        raised = []
        for k, stream in enumerate(self.streams):
            taken = above[:, k] >= 0
            # Complete rows differ by random draws alone: only a row that lacks a value may raise this alarm.
            may_alarm = incomplete[taken] if stream is self.streams[-1] else np.ones(int(taken.sum()), dtype=bool)
            played = stream.advance(above[taken, k], rows[taken], draws[taken, k])
            alarm = stream.first_alarm(played, rows[taken], log_bar, may_alarm) if played else None
            if alarm and stream.name in silent:
                raised.append(self._as_given(alarm))
        watched = above[:, -1] >= 0
        self.neighbours = self.neighbours.after(above[above[:, 0] >= 0, 0])
        self.rows += len(above)
        self.n_skipped += int((~watched).sum())
        self.n_missing += int((incomplete & watched).sum())
        self.n_watched += int((above[:, :-1] >= 0).any(axis=1).sum())
        found = tuple(sorted(raised, key=lambda alarm: alarm.row))
        self.alarms += found
        return found

    def _as_given(self, alarm: Alarm) -> Alarm:
        """Return an alarm in the direction in which its column came: a flipped one falls where its score rises."""
        if alarm.stream not in self.ranker.flipped:
            return alarm
        return replace(alarm, change={"higher": "lower", "lower": "higher"}.get(alarm.change, alarm.change))

    def _draws(self, n_rows: int, purpose: int) -> Array:
        """Return the uniform numbers of the next rows: the same however the stream is cut into pieces."""
        bits = np.random.PCG64([self.seed, purpose])
        bits.advance(self.rows * len(self.streams))
        return np.random.Generator(bits).random((n_rows, len(self.streams)))

    def _as_matrix(self, p: Any) -> Array:
        """Return p-values as (rows, 1) or (rows, 1 + columns)."""
        try:
            values = np.atleast_1d(np.asarray(p, dtype=float))
        except (TypeError, ValueError):
            raise TableError(f"p-values must be numbers; got {one_line(repr(p), most=60)}.") from None
        values = values[:, None] if values.ndim == 1 else values
        names = [stream.name for stream in self.streams[:-1]]
        if values.ndim != 2 or values.shape[1] not in (1, len(names)):
            raise TableError(
                f"p must be one p-value per row, or one per row and stream ({len(names)}: {', '.join(names)}); "
                f"got shape {values.shape}."
            )
        return values

    def _refuse_ties(self, stream: Stream) -> None:
        if self.direction == "both" and stream.calibration.has_ties:
            raise SettingError(
                f"update needs p-values without ties to watch for any change, and calibration scores of "
                f"{stream.name!r} tie. Give the rows to observe instead, or make the monitor with direction='up'."
            )


def _bins_of(p: Array, stream: Stream) -> NDArray[np.int64]:
    """Return the bin of each p-value: it is one of n + 1 levels."""
    levels = len(stream.counts)
    present = ~np.isnan(p)
    place = np.where(present, p, 1.0) * levels
    whole = np.rint(np.clip(place, 0, levels + 1))
    if (np.abs(place - whole) > 0.01).any() or (whole < 1).any() or (whole > levels).any():
        raise SettingError(
            f"p-values of {stream.name!r} must be multiples of 1 / {levels:,}, from {levels - 1:,} calibration rows; "
            f"got {p[present].min():g} to {p[present].max():g}. Take them from the ranker that the monitor was made of."
        )
    return np.where(present, whole - 1, -1).astype(np.int64)
