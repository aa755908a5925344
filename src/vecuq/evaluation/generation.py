"""Selective generation: how much better the answers are that remain when the most uncertain ones are rejected.

All functions take ``uncertainty``, one number per answer (higher = more uncertain, no NaN), and ``quality``, one finite
number per answer (higher = better, on any scale).
Answers of equal uncertainty come in random order, and the quality of those that remain is its expectation over that
order, in closed form.
"""

from __future__ import annotations

from functools import partial
from typing import Any, NamedTuple

import numpy as np

from vecuq._check import Array, in_range, one_of
from vecuq.evaluation.inputs import Kernel, defect, measured, numbers_of, of_length, qualities_of, scores_of
from vecuq.evaluation.selective import kept_sums
from vecuq.evaluation.tally import Tally, divided

CONVENTIONS = ("exact", "lm-polygraph")
SHUFFLES, SHUFFLE_SEED = 1_000, 42
# lm-polygraph's stand-ins for scores that are no numbers.
FAR = 1e7


class PredictionRejection(NamedTuple):
    """A prediction-rejection curve: the mean quality of the answers that remain, by the share that is rejected."""

    rejection: Array  # (points,), from 0 up
    quality: Array  # (points,), on the scale of the quality; higher is better


def prediction_rejection_curve(uncertainty: Any, quality: Any, max_rejection: float = 1.0) -> PredictionRejection:
    """Mean quality of the answers that remain, for every number rejected, most uncertain first.

    Malinin and Gales (2021), "Uncertainty estimation in autoregressive structured prediction".

    Parameters
    ----------
    max_rejection
        The largest share to reject, in (0, 1]: at most ``int(max_rejection n)`` points, one answer always remains.

    Returns
    -------
    PredictionRejection
        ``rejection`` 0, 1/n, ... and the mean ``quality`` of the rest, both of shape (points,). Inside a group of
        equal uncertainty the quality is its mean over all orders of the group.

    Examples
    --------
    >>> curve = prediction_rejection_curve([0.1, 0.2, 0.3, 0.4], [1, 1, 0, 0], max_rejection=0.5)
    >>> curve.rejection, curve.quality.round(3)
    (array([0.  , 0.25]), array([0.5  , 0.667]))
    """
    scores = scores_of(uncertainty)
    gained = qualities_of(quality, len(scores))
    points = rejected_rows(len(scores), _share(max_rejection))
    remaining = np.arange(1, len(scores) + 1)
    means = (kept_sums(scores, gained) / remaining)[::-1][:points]
    return PredictionRejection(np.arange(points) / max(len(scores), 1), means)


def prediction_rejection_area(uncertainty: Any, quality: Any, max_rejection: float = 0.5) -> float:
    """Mean of the prediction-rejection curve: the quality that remains, averaged over the shares rejected.

    Mean, over retained counts n - k + 1 ... n with ``k = int(max_rejection n)``, of the mean quality of the least
    uncertain answers.

    Parameters
    ----------
    max_rejection
        The largest share to reject, in (0, 1].

    Returns
    -------
    float
        On the scale of the quality, higher is better, the mean quality for chance. Ties are averaged: the mean over
        all orders of the answers of equal uncertainty. NaN if there is no point on the curve.

    Examples
    --------
    >>> round(prediction_rejection_area([0.1, 0.2, 0.3, 0.4, 0.5, 0.6], [1, 1, 0, 1, 0, 0]), 4)
    0.6167
    """
    means = prediction_rejection_curve(uncertainty, quality, max_rejection).quality
    return float(means.mean()) if len(means) else float("nan")


def prediction_rejection_ratio(
    uncertainty: Any, quality: Any, max_rejection: float = 0.5, *, convention: str = "exact"
) -> float:
    """PRR: how far rejecting by uncertainty comes from rejecting at random (0) to rejecting the worst first (1).

    ``PRR = (A - A_random) / (A_best - A_random)``, with the areas of :func:`prediction_rejection_area`; A_random is
    the mean quality, A_best rejects the answers of lowest quality first. Malinin and Gales (2021); Vashurin et al.
    (2025), "Benchmarking uncertainty quantification methods for large language models with LM-Polygraph".

    Parameters
    ----------
    max_rejection
        The largest share to reject, in (0, 1]; 0.5 is what papers report.
    convention
        ``"exact"``: ties are averaged over all orders, and A_random is exact. ``"lm-polygraph"`` gives the digits
        that program prints: A_random from 1,000 shuffles with its seed, ties in the order of an unstable sort, a NaN
        uncertainty as the most confident, answers without quality left out, and 0.5 or the bare area where A_best
        equals A_random.

    Returns
    -------
    float
        At most 1, higher is better, 0 for chance, negative if worse than chance. NaN where there is nothing to judge:
        fewer than two points on the curve, the same quality or the same uncertainty on all answers.

    Examples
    --------
    >>> uncertainty, quality = [0.1, 0.2, 0.3, 0.4, 0.5, 0.6], [1, 1, 0, 1, 0, 0]
    >>> prediction_rejection_ratio(uncertainty, quality)
    1.0
    >>> round(prediction_rejection_ratio(uncertainty, quality, max_rejection=1.0), 4)
    0.8198
    """
    share = _share(max_rejection)
    if one_of("convention", convention, CONVENTIONS) == "lm-polygraph":
        return _polygraph_ratio(uncertainty, quality, share)
    scores = scores_of(uncertainty)
    gained = qualities_of(quality, len(scores))
    if prr_defect(scores, gained, share) is not None:
        return float("nan")
    return measured(prr_at(share), scores, unit_scaled(gained))


def prr_at(max_rejection: float) -> Kernel:
    """Return the kernel of :func:`prediction_rejection_ratio` at one share; its tally needs quality in [0, 1]."""
    return partial(_prr, max_rejection=_share(max_rejection))


def prr_defect(uncertainty: Array, quality: Array, max_rejection: float) -> str | None:
    """Return why there is no PRR on these answers, in one line; None if there is."""
    points = rejected_rows(len(quality), max_rejection)
    if len(quality) > 1 and points < 2:
        return f"max_rejection={max_rejection:g} of {len(quality):,} rows leaves {points} points on the curve; 2 needed"
    return defect(uncertainty, quality, ("all answers have the same quality",) * 2)


def unit_scaled(quality: Array) -> Array:
    """Move a quality to [0, 1]; one that is the same on all rows becomes 0."""
    half = 0.5 * quality  # the whole spread of large numbers may overflow
    spread = half.max() - half.min() if len(half) else 0.0
    return np.asarray((half - half.min()) / spread) if spread > 0 else np.zeros(len(half))


def rejected_rows(n: int, max_rejection: float) -> int:
    """Return how many points the curve has: ``int(max_rejection n)``, safe from rounding (0.29 of 100 is 29)."""
    return int(max_rejection * n + 1e-9)


def _share(max_rejection: float) -> float:
    return in_range("max_rejection", max_rejection, 0.0, 1.0, ends="(]")


def _prr(tally: Tally, max_rejection: float) -> Array:
    """Return PRR of each resample; NaN where the best order is no better than chance."""
    points = np.floor(max_rejection * tally.n + 1e-9)  # as rejected_rows
    best = tally.ideal or tally
    chance = points * tally.target_sum / tally.n
    gain, most = (one.mean_sum_beyond(tally.n - points) - chance for one in (tally, best))
    # The quality lies in [0, 1]: less than this is rounding.
    return np.minimum(divided(gain, np.where(most > 1e-12 * tally.n, most, 0.0)), 1.0)


def _polygraph_ratio(uncertainty: Any, quality: Any, share: float) -> float:
    """PRR as lm-polygraph 0.7.0 computes it."""
    scores = numbers_of(uncertainty, "uncertainty")
    gained = of_length(numbers_of(quality, "quality"), len(scores), "quality")
    known = ~np.isnan(gained)
    scores, gained = np.nan_to_num(scores[known], nan=-FAR, posinf=FAR, neginf=-FAR), gained[known]
    points = int(share * len(gained))
    if not points:
        return float("nan")
    target = unit_scaled(gained) if gained.max() > gained.min() else np.full(len(gained), 0.5)
    area, best = _polygraph_area(scores, target, points), _polygraph_area(-target, target, points)
    chance = _polygraph_chance(target, points)
    return area if best == chance else (area - chance) / (best - chance)


def _polygraph_area(scores: Array, target: Array, points: int) -> float:
    """Return the mean quality that remains, averaged over the curve; ties as the sort leaves them."""
    remaining = np.arange(1, len(target) + 1)
    means = np.cumsum(target[np.argsort(scores)]) / remaining  # the unstable sort is part of the convention
    return float(means[-points:].mean())


def _polygraph_chance(target: Array, points: int) -> float:
    """Return the mean area over shuffles, each of which goes on from the one before."""
    generator = np.random.RandomState(SHUFFLE_SEED)  # the old generator, as the convention has it
    places = np.arange(len(target), dtype=float)
    areas = []
    for _ in range(SHUFFLES):
        generator.shuffle(places)
        areas.append(_polygraph_area(places, target, points))
    return float(np.mean(areas))
