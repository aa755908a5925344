"""DriftCounts: new rows counted beyond held-back scores, part by part; one test of drift from the counts."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vecuq._check import Array, whole_number
from vecuq._files import tensor_bytes, write_tensors
from vecuq.conformal import around, last_equal, rows_beyond_p_value
from vecuq.errors import CalibrationError, SettingError
from vecuq.monitor.begin import scores_of, special_names
from vecuq.ranker import Ranker, as_ranker

# Beyond the held-back score of so small a rank, chance alone moves the share of rows by a third.
_SMALLEST_RANK = 8
_CHANGES = ("higher", "lower")


@dataclass(frozen=True)
class Moved:
    """What the test says of one stream: the joint score, or a column.

    Parameters
    ----------
    stream
        Its name.
    change
        ``"higher"`` or ``"lower"``: the direction in which most speaks for a change.
    p_value
        The probability without drift, corrected for every rank, direction, stream and look.
    share, expected
        The share of new rows beyond the held-back score that says most, and of held-back rows.
    n_rows
        New rows that have this score.
    """

    stream: str
    change: str
    p_value: float
    share: float
    expected: float
    n_rows: int


class DriftCounts:
    """How many new rows lie beyond some held-back scores, for the joint score and every column.

    A monitor takes rows one after the other. Where they are spread over many machines, parts are counted instead and
    added in any order, and all rows so far are tested at once.

    **Assumption.** New and held-back rows are exchangeable if nothing drifts; rows that come in sessions are not.

    **Promise.** Without drift, a p-value is at most alpha with probability at most alpha, for any number of rows. Who
    looks again as rows come in counts the looks, ``test(look=1)``, ``test(look=2)`` ..., and all together keep alpha.

    **Theorem.** :func:`vecuq.conformal.rows_beyond_p_value` at each of a few ranks, from both ends, with Bonferroni's
    correction. Look number b has the share 1 / (b (b + 1)) of alpha, and these shares add up to 1.

    Parameters
    ----------
    model
        A fitted :class:`vecuq.VecUQ` or a ranker that has held rows back, not in groups.

    Examples
    --------
    >>> import numpy as np
    >>> from vecuq import fit_ranker
    >>> rng = np.random.default_rng(0)
    >>> ranker = fit_ranker(rng.gamma(2.0, size=(2000, 2)))
    >>> parts = [DriftCounts(ranker).update(rng.gamma(2.0, size=(500, 2)) + [0.0, 0.6]) for _ in range(4)]
    >>> [(one.stream, one.change) for one in sum(parts).test() if one.p_value < 0.01]
    [('x1', 'higher'), ('uncertainty', 'higher')]
    """

    def __init__(self, model: Any) -> None:
        self.ranker = as_ranker(model)
        self.ranker.require_held_back()
        if self.ranker.n_groups:
            raise CalibrationError("These held-back rows come in groups, and drift is counted in independent rows.")
        self.held = _held_scores(self.ranker)
        self.ranks = {name: _ranks(len(scores)) for name, scores in self.held.items()}
        levels = max(map(len, self.ranks.values()))
        self.beyond = np.zeros((len(self.held), 2, levels), dtype=np.int64)  # by stream, direction and rank
        self.n_scored = np.zeros(len(self.held), dtype=np.int64)
        self.n_rows = 0

    @property
    def streams(self) -> tuple[str, ...]:
        """The joint score, then the columns."""
        return tuple(self.held)

    def update(self, data: Any) -> DriftCounts:
        """Count rows of scores, and return these counts; a row without a number is left out of that stream."""
        scores = scores_of(self.ranker, data, with_columns=len(self.held) > 1)
        for k, (name, held) in enumerate(self.held.items()):
            known = scores[~np.isnan(scores[:, k]), k]
            self.n_scored[k] += len(known)
            self.beyond[k, :, : len(self.ranks[name])] += _beyond(known, held, self.ranks[name])
        self.n_rows += len(scores)
        return self

    def __add__(self, other: object) -> DriftCounts:
        if not isinstance(other, DriftCounts):
            return NotImplemented
        same = self.streams == other.streams and all(
            np.array_equal(self.held[name], other.held[name]) for name in self.streams
        )
        if not same:
            raise SettingError("Only counts of one model add up, and these have other held-back rows.")
        made = self._copy()
        made.beyond, made.n_scored = self.beyond + other.beyond, self.n_scored + other.n_scored
        made.n_rows += other.n_rows
        return made

    def __radd__(self, other: object) -> DriftCounts:
        """Let ``sum(parts)`` begin with 0."""
        return self._copy() if isinstance(other, int) and other == 0 else NotImplemented

    def _copy(self) -> DriftCounts:
        made = DriftCounts(self.ranker)
        made.beyond, made.n_scored, made.n_rows = self.beyond.copy(), self.n_scored.copy(), self.n_rows
        return made

    def test(self, *, look: int | None = None) -> tuple[Moved, ...]:
        """Return what the counts say of every stream, the smallest p-value first.

        ``look`` numbers the looks, from 1 on, where rows are tested again as more come in; None where it is done once.
        """
        times = 1 if look is None else whole_number("look", look, 1) * (look + 1)
        found = [self._moved(k, times) for k in range(len(self.held))]
        return tuple(sorted(found, key=lambda one: one.p_value))

    def _moved(self, k: int, times: int) -> Moved:
        name = self.streams[k]
        ranks, n, n_held = self.ranks[name], int(self.n_scored[k]), len(self.held[name])
        chances = np.array(
            [
                [rows_beyond_p_value(int(x), n, int(rank), n_held) for x, rank in zip(side, ranks, strict=True)]
                for side in self.beyond[k, :, : len(ranks)]
            ]
        )
        side, level = np.unravel_index(int(np.argmin(chances)), chances.shape)
        p_value = min(1.0, float(chances[side, level]) * chances.size * len(self.held) * times)
        share = int(self.beyond[k, side, level]) / max(n, 1)
        change = _CHANGES[1 - int(side)] if name in self.ranker.flipped else _CHANGES[int(side)]
        return Moved(name, change, p_value, share, int(ranks[level]) / (n_held + 1), n)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write counts and model to one file, whole or not at all; :func:`vecuq.load` reads it."""
        from vecuq.monitor.drift_file import parts_of_drift

        write_tensors(path, *parts_of_drift(self))

    def to_bytes(self) -> bytes:
        """Return what :meth:`save` would write; :func:`vecuq.load` reads it too."""
        from vecuq.monitor.drift_file import parts_of_drift

        return tensor_bytes(*parts_of_drift(self))

    def describe(self) -> dict[str, Any]:
        """Return rows and the result of the test as plain values."""
        return {"rows counted": self.n_rows, "p-values, one look": {one.stream: one.p_value for one in self.test()}}

    def __repr__(self) -> str:
        return f"DriftCounts({self.n_rows:,} rows, {len(self.held)} streams)"


def _held_scores(ranker: Ranker) -> dict[str, Array]:
    """Return the held-back scores of every stream, increasing; those of the columns where the model keeps rows."""
    held = {special_names(ranker)[0]: np.sort(ranker.calibration_scores)}
    rows = ranker.kept.held
    return held | {name: np.sort(rows[:, k]) for k, name in enumerate(ranker.columns) if len(rows)}


def _ranks(n_held: int) -> NDArray[np.int64]:
    """Return at which ranks rows are counted: half of the held-back rows, a quarter, and so on."""
    halves = [n_held >> k for k in range(1, n_held.bit_length()) if n_held >> k >= _SMALLEST_RANK]
    return np.array(halves or [max(1, (n_held + 1) // 2)], dtype=np.int64)


def _beyond(scores: Array, held: Array, ranks: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return how many scores lie above the largest held-back ones of these ranks, and below the smallest, (2, ranks).

    What counts as equal to a held-back score is neither.
    """
    ordered = np.sort(scores)
    above = len(ordered) - np.searchsorted(ordered, last_equal(held[len(held) - ranks]), side="right")
    below = np.searchsorted(ordered, around(held[ranks - 1])[0], side="left")
    return np.stack([above, below]).astype(np.int64)
