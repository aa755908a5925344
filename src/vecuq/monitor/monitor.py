"""Monitor: whether a stream has drifted from the calibration rows, at a false-alarm rate that holds over all time."""

from __future__ import annotations

import os
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vecuq._check import Array, in_range, one_of, refuse_missing, whole_number
from vecuq.errors import SettingError, TableError
from vecuq.monitor.bets import DIRECTIONS, bets_on
from vecuq.monitor.ranks import Bins
from vecuq.monitor.stream import Alarm, Stream
from vecuq.ranker import Ranker
from vecuq.ranker.rows import MOST_HELD, draw_rows

__all__ = ["JOINT", "Monitor"]

# The name of the stream of scores that the ranker makes of all columns.
JOINT = "uncertainty"


class Monitor:
    """Watch a stream of rows for drift, over all columns together and in each of them.

    Under no drift (calibration rows and stream are exchangeable) the chance that the monitor *ever* raises an alarm,
    in any stream, is at most ``alpha``. Each row is ranked among the calibration rows *and* the rows before it, which
    makes the p-values of a stream independent; a betting martingale then gathers evidence against them
    (``docs/adr/0030-drift-monitor.md``). An alarm is raised when the evidence of a stream reaches
    ``n_streams / alpha``.

    Parameters
    ----------
    ranker
        The model whose rows are watched; it must hold rows back (``holdback > 0``).
    calibration
        In-distribution rows with which each column is compared; by default the held-back rows that the ranker keeps. (A
        model file of format 1 keeps none: without this table the joint score alone is then watched.)
    alpha
        The chance of ever raising a false alarm.
    direction
        ``"both"``: any change. ``"up"``: only towards more uncertain, which also holds for p-values that count ties
        against the row.
    random_state
        Seed of the draws that break ties; None is a fixed seed too.

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
        ranker: Ranker,
        calibration: Any = None,
        *,
        alpha: float = 0.01,
        direction: str = "both",
        random_state: int | None = None,
    ) -> None:
        ranker.need_held_back()
        self.ranker = ranker
        self.alpha = in_range("alpha", alpha, 0.0, 1.0, ends="()")
        self.direction = one_of("direction", direction, DIRECTIONS)
        self.seed = 0 if random_state is None else whole_number("random_state", random_state, 0)
        self.bets = bets_on(self.direction)
        self.rows = 0
        self.alarms: tuple[Alarm, ...] = ()
        scores = {JOINT: ranker.calibration, **_columns_of(ranker, calibration, self.seed)}
        self.streams = tuple(
            Stream.new(name, kept, (self.seed, k), len(self.bets)) for k, (name, kept) in enumerate(scores.items())
        )

    @property
    def drifted(self) -> bool:
        """Whether any stream has raised its alarm."""
        return bool(self.alarms)

    @property
    def recalibrate(self) -> bool:
        """Whether the joint score has drifted: its p-values and thresholds then hold no longer."""
        return any(alarm.stream == JOINT for alarm in self.alarms)

    @property
    def evidence(self) -> dict[str, float]:
        """The evidence of each stream now: 1 in expectation under no drift; an alarm at ``n_streams / alpha``."""
        return {stream.name: float(np.exp(min(stream.log_evidence, 700.0))) for stream in self.streams}

    def observe(self, data: Any) -> tuple[Alarm, ...]:
        """Take rows of scores, in the order in which they came, and return the alarms that they raise.

        A row with a missing value is left out of that column's stream and of the joint one.
        """
        scores = self._scores_of(data)
        breakers = self._draws(len(scores), purpose=2)
        above = np.full(scores.shape, -1, dtype=np.int64)
        for k, stream in enumerate(self.streams):
            present = np.isfinite(scores[:, k])
            above[present, k] = stream.reference.bins_above(scores[present, k], breakers[present, k])
        return self._advance(above)

    def update(self, p: Any) -> tuple[Alarm, ...]:
        """Take conformal p-values against the calibration rows, and return the alarms that they raise.

        Parameters
        ----------
        p
            One p-value or one per row, for the joint score, as :meth:`vecuq.Ranker.p_values` gives them; or one per row
            and stream, shape (rows, streams). NaN leaves a row out. These p-values count ties against the row; where
            scores often tie, use :meth:`observe`, which breaks ties at random, or ``direction="up"``.
        """
        values = np.atleast_1d(np.asarray(p, dtype=float))
        values = values[:, None] if values.ndim == 1 else values
        if values.ndim != 2 or values.shape[1] not in (1, len(self.streams)):
            raise TableError(
                f"p must be one p-value per row, or one per row and stream ({len(self.streams)}: "
                f"{', '.join(stream.name for stream in self.streams)}); got shape {values.shape}."
            )
        above = np.full((len(values), len(self.streams)), -1, dtype=np.int64)
        for k in range(values.shape[1]):
            above[:, k] = _bins_of(values[:, k], self.streams[k])
        return self._advance(above)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the state to one file, whole or not at all; :func:`vecuq.monitor.load_monitor` goes on from there."""
        from vecuq.monitor.state import save_monitor

        save_monitor(self, path)

    def _advance(self, above: Bins) -> tuple[Alarm, ...]:
        """Let every stream take its rows; a bin of -1 leaves the row out."""
        draws = self._draws(len(above), purpose=1)
        rows = self.rows + np.arange(len(above), dtype=np.int64)
        log_bar = float(np.log(len(self.streams) / self.alpha))
        silent = {stream.name for stream in self.streams} - {alarm.stream for alarm in self.alarms}
        raised = []
        for k, stream in enumerate(self.streams):
            taken = above[:, k] >= 0
            played = stream.advance(above[taken, k], rows[taken], draws[taken, k], self.bets)
            alarm = stream.first_alarm(played, rows[taken], self.bets, log_bar) if played else None
            if alarm and stream.name in silent:
                raised.append(alarm)
        self.rows += len(above)
        found = tuple(sorted(raised, key=lambda alarm: alarm.row))
        self.alarms += found
        return found

    def _scores_of(self, data: Any) -> Array:
        """Return the scores of all streams, shape (rows, streams)."""
        values = self.ranker.values_of(data)
        joint = self.ranker.rank(self.ranker.as_table(values), warn=False).uncertainty
        return np.column_stack([joint, values]) if len(self.streams) > 1 else joint[:, None]

    def _draws(self, n_rows: int, *, purpose: int) -> Array:
        """Return the uniform numbers of the next rows: the same however the stream is cut into pieces."""
        bits = np.random.PCG64([self.seed, purpose])
        bits.advance(self.rows * len(self.streams))
        return np.random.Generator(bits).random((n_rows, len(self.streams)))


def _columns_of(ranker: Ranker, calibration: Any, seed: int) -> dict[str, Array]:
    """Return the calibration scores of each column: enough of them, drawn by seed."""
    values = ranker.kept.held if calibration is None else np.asarray(ranker.values_of(calibration), dtype=float)
    if not len(values):
        return {}
    refuse_missing(values, ranker.columns)
    kept = values if len(values) <= MOST_HELD else values[draw_rows(len(values), MOST_HELD, seed)]
    return dict(zip(ranker.columns, kept.T, strict=True))


def _bins_of(p: Array, stream: Stream) -> NDArray[np.int64]:
    """Return the bin of each p-value: it is one of n + 1 levels."""
    levels = len(stream.counts)
    present = np.isfinite(p)
    place = np.where(present, p, 1.0) * levels
    whole = np.rint(place)
    if (np.abs(place - whole) > 0.01).any() or (whole < 1).any() or (whole > levels).any():
        raise SettingError(
            f"p-values of {stream.name!r} must be multiples of 1 / {levels:,}, from {levels - 1:,} calibration rows; "
            f"got {p[present].min():g} to {p[present].max():g}. Take them from the ranker that the monitor was made of."
        )
    return np.where(present, whole - 1, -1).astype(np.int64)
