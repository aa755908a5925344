"""A loaded model scores the rows that it keeps: what was changed alone no longer fits the rest."""

from __future__ import annotations

import numpy as np

from vecuq._check import Array
from vecuq._files import refuse
from vecuq.ranker.ranker import Ranker

# Rows that are scored again, and rows times reference points: a few milliseconds.
_MOST_ROWS, _MOST_WORK = 1_024, 2_000_000
# Another processor, or a later vecuq, may differ by rounding, and by no more than this.
_TOLERANCE = 1e-6


def refuse_other_scores(ranker: Ranker) -> None:
    """Raise ValueError if a model does not give the rows that it keeps the calibration scores that it keeps.

    Scaler, map, settings, held-back rows and calibration scores are saved side by side, and each follows from the
    others: one that was changed alone no longer fits.
    """
    rows = ranker.kept.held if ranker.diagnostics.n_held else ranker.kept.draws
    n_rows = min(_MOST_ROWS, max(16, _MOST_WORK // ranker.diagnostics.n_targets))
    rows = rows[:: max(1, -(-len(rows) // n_rows))]
    # A model fitted to a sketch keeps no row: its one calibration score is that of the far corner of the box.
    corner = ranker.high[None]
    scores = ranker.rank_complete(rows)[1] if len(rows) else ranker.score_scaled(corner, ranker.rank_map(corner))
    wrong = ~(_distance_to(ranker.calibration_scores, scores) <= _TOLERANCE * (1.0 + np.abs(scores)))
    refuse("calibration", "the score of a row that the model keeps", wrong, len(scores))
    if ranker.n_groups is not None:  # then the rows are in the order of their scores
        fallen = ~(scores[1:] >= scores[:-1] - _TOLERANCE * (1.0 + np.abs(scores[:-1])))
        refuse("kept.held", "in the order of its score", fallen, len(scores))


def refuse_rows_elsewhere(ranker: Ranker) -> None:
    """Raise ValueError if what a model keeps of the rows of its map lies outside the box of these rows."""
    kept, n_held = ranker.kept, ranker.diagnostics.n_held
    rows = {} if len(kept.held) < n_held else {"kept.draws": kept.draws}
    if not n_held:
        rows["kept.centre"] = kept.centre[None]
    for name, values in rows.items():
        scaled = ranker.scaler.transform(values[:, ranker.active])
        outside = np.maximum(ranker.low - scaled, scaled - ranker.high) > 1e-9 * (1.0 + np.abs(scaled))
        refuse(name, "inside the calibration box", outside, outside.size)


def _distance_to(known: Array, scores: Array) -> Array:
    """Return how far each score is from the nearest known one, which are sorted."""
    place = np.searchsorted(known, scores)
    below, above = known[np.maximum(place - 1, 0)], known[np.minimum(place, len(known) - 1)]
    return np.minimum(np.abs(scores - below), np.abs(above - scores))
