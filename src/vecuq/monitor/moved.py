"""One test of drift: how many new rows lie beyond some held-back scores, for the joint score and every column."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vecuq._check import Array, whole_number
from vecuq.conformal import around, last_equal, rows_beyond_p_value
from vecuq.errors import CalibrationError
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


def drift_test(model: Any, rows: Any, *, look: int | None = None) -> tuple[Moved, ...]:
    """Test whether rows have drifted from those that a model holds back: every column and the joint score at once.

    A monitor takes rows one after the other and raises an alarm as soon as it can; this takes them in any order.

    **Assumption.** New and held-back rows are exchangeable if nothing drifts; rows that come in sessions are not.

    **Promise.** Without drift, a p-value is at most alpha with probability at most alpha, for any number of rows. Who
    tests all rows so far again as more come in counts the looks, ``look=1``, ``look=2`` ..., and all together keep
    alpha.

    **Theorem.** :func:`vecuq.conformal.rows_beyond_p_value` at each of a few ranks, from both ends, with Bonferroni's
    correction. Look number b has the share 1 / (b (b + 1)) of alpha, and these shares add up to 1.

    Parameters
    ----------
    model
        A fitted :class:`vecuq.VecUQ` or a ranker that has held rows back, not in groups.
    rows
        New rows of scores; a row without a number is left out of that stream.
    look
        The number of the look, from 1 on; None where rows are tested once.

    Returns
    -------
    tuple of Moved
        One for each stream, the smallest p-value first.

    Examples
    --------
    >>> import numpy as np
    >>> from vecuq import fit_ranker
    >>> rng = np.random.default_rng(0)
    >>> ranker = fit_ranker(rng.gamma(2.0, size=(2000, 2)))
    >>> found = drift_test(ranker, rng.gamma(2.0, size=(2000, 2)) + [0.0, 0.6])
    >>> [(one.stream, one.change) for one in found if one.p_value < 0.01]
    [('x1', 'higher'), ('uncertainty', 'higher')]
    """
    times = 1 if look is None else whole_number("look", look, 1) * (look + 1)
    ranker = as_ranker(model)
    ranker.require_held_back()
    if ranker.n_groups:
        raise CalibrationError("These held-back rows come in groups, and drift is tested by independent rows.")
    held = _held_scores(ranker)
    scores = scores_of(ranker, rows, with_columns=len(held) > 1)
    found = []
    for k, (name, known) in enumerate(held.items()):
        moved = _moved(name, scores[~np.isnan(scores[:, k]), k], known, len(held) * times)
        found.append(_as_it_came(moved) if name in ranker.flipped else moved)
    return tuple(sorted(found, key=lambda one: one.p_value))


def _moved(name: str, scores: Array, held: Array, n_tests: int) -> Moved:
    """Return what one stream says; ``n_tests`` streams and looks share alpha."""
    ranks, n, n_held = _ranks(len(held)), len(scores), len(held)
    beyond = _beyond(scores, held, ranks)
    chances = np.array(
        [
            [rows_beyond_p_value(int(x), n, int(rank), n_held) for x, rank in zip(side, ranks, strict=True)]
            for side in beyond
        ]
    )
    side, level = np.unravel_index(int(np.argmin(chances)), chances.shape)
    p_value = min(1.0, float(chances[side, level]) * chances.size * n_tests)
    share = int(beyond[side, level]) / max(n, 1)
    return Moved(name, _CHANGES[int(side)], p_value, share, int(ranks[level]) / (n_held + 1), n)


def _as_it_came(moved: Moved) -> Moved:
    """Return the change of a flipped column as the user sees it."""
    return Moved(**{**vars(moved), "change": _CHANGES[1 - _CHANGES.index(moved.change)]})


def _held_scores(ranker: Ranker) -> dict[str, Array]:
    """Return the held-back scores of every stream, increasing; those of the columns where the model keeps rows."""
    held = {special_names(ranker)[0]: np.sort(ranker.calibration_scores)}
    rows = ranker.kept.held
    return held | {name: np.sort(rows[:, k]) for k, name in enumerate(ranker.columns) if len(rows)}


def _ranks(n_held: int) -> NDArray[np.int64]:
    """Return at which ranks rows are compared: half of the held-back rows, a quarter, and so on."""
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
